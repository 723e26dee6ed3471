import { Check } from '../../ui/controls.tsx'
import { Drop } from '../../ui/drop.tsx'
import { toggled } from '../../url.ts'
import { columnsOf } from '../record/rows.ts'
import type { Log } from '../use-log.ts'

/** The columns of the list as those of CSV. */
export function csvColumns({ look, columns, made, sources }: Log): { columns: string[] } {
  const own = columnsOf({ sources, gaps: columns.gaps }).flatMap(({ name, member }) =>
    member && made?.columns.filled.has(name) && !columns.hidden.includes(name) ? [member] : [],
  )
  const message = look.message || look.columns.length === 0 ? ['message'] : []
  // A name with a comma would be two.
  const fields = look.columns.filter((name) => !name.includes(','))
  return { columns: [...new Set([...own, ...fields, ...message])] }
}

export function ColumnsMenu({ log }: { log: Log }) {
  const { look, columns, acts } = log
  // The time since the record above is offered even if it is not shown.
  const offered = columnsOf({ sources: log.sources, gaps: true })
  const check = (name: string, label: string) => (
    <Check key={name} on={!columns.hidden.includes(name)} toggle={() => columns.toggle(name)}>
      {label}
    </Check>
  )
  return (
    <Drop icon="columns" label="Columns" title="Choose the columns">
      {offered
        .filter(({ name }) => log.made?.columns.filled.has(name))
        .map(({ name, title, label = title }) => check(name, label))}
      {check('c', 'Context')}
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
