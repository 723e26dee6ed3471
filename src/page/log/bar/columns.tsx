import { Check } from '../../ui/controls.tsx'
import { Drop } from '../../ui/drop.tsx'
import { toggled } from '../../url.ts'
import type { Log } from '../use-log.ts'

/** The columns by their class, in the order of the rows. */
const COLUMNS: [name: string, label: string][] = [
  ['t', 'Time'],
  ['d', 'Time since the record above'],
  ['nn', 'Node'],
  ['ln', 'Log'],
  ['l', 'Level'],
  ['s', 'Source'],
  ['g', 'Tags'],
  ['c', 'Context'],
]

/** What the API calls the columns. */
const MEMBERS: Record<string, string> = {
  t: 'time',
  nn: 'node',
  ln: 'file',
  l: 'level',
  s: 'source',
  g: 'tag',
}

/** The columns of the list as those of CSV. */
export function csvColumns({ look, columns, made, sources }: Log): { columns: string[] } {
  const origin = { nn: sources?.nodes, ln: sources?.files }
  const isShown = (name: string) =>
    made?.columns.filled.has(name) &&
    !columns.hidden.includes(name) &&
    (!(name in origin) || (origin[name as 'nn' | 'ln']?.length ?? 0) > 1)
  const own = Object.keys(MEMBERS).filter(isShown)
  const message = look.message || look.columns.length === 0 ? ['message'] : []
  // A name with a comma would be two.
  const fields = look.columns.filter((name) => !name.includes(','))
  return { columns: [...new Set([...own.map((name) => MEMBERS[name]!), ...fields, ...message])] }
}

export function ColumnsMenu({ log }: { log: Log }) {
  const { look, columns, acts } = log
  const filled = log.made?.columns.filled
  const { nodes = [], files = [] } = log.sources ?? {}
  const one = (name: string) => (name === 'nn' && nodes.length < 2) || (name === 'ln' && files.length < 2)
  const shown = COLUMNS.filter(
    ([name]) => name === 'c' || (filled?.has(name === 'd' ? 't' : name) && !one(name)),
  )
  return (
    <Drop icon="columns" label="Columns" title="Choose the columns">
      {shown.map(([name, label]) => (
        <Check key={name} on={!columns.hidden.includes(name)} toggle={() => columns.toggle(name)}>
          {label}
        </Check>
      ))}
      {look.columns.map((name) => (
        <Check key={`field ${name}`} on toggle={() => acts.showColumns(toggled(look.columns, name))}>
          {name}
        </Check>
      ))}
      {look.columns.length > 0 && (
        <Check on={look.message} toggle={() => log.go({ ...look, message: !look.message })}>
          Message
        </Check>
      )}
    </Drop>
  )
}
