import { Drop } from '../../ui/drop.tsx'
import { toggled } from '../../url.ts'
import type { Log } from '../use-log.ts'

/** The columns by their class, in the order of the rows. */
const COLUMNS: [name: string, label: string][] = [
  ['t', 'Time'],
  ['d', 'Time since the record above'],
  ['l', 'Level'],
  ['s', 'Source'],
  ['g', 'Tags'],
  ['c', 'Context'],
]

/** The menu of columns. */
export function ColumnsMenu({ log }: { log: Log }) {
  const { look, columns, acts } = log
  const filled = log.made?.display.columns.filled
  const shown = COLUMNS.filter(([name]) => name === 'c' || filled?.has(name === 'd' ? 't' : name))
  return (
    <Drop icon="columns" label="Columns" title="Choose the columns">
      {shown.map(([name, label]) => (
        <label class="check" key={name}>
          <input
            type="checkbox"
            checked={!columns.hidden.includes(name)}
            onChange={() => columns.toggle(name)}
          />
          {label}
        </label>
      ))}
      {look.columns.map((name) => (
        <label class="check" key={`field ${name}`}>
          <input type="checkbox" checked onChange={() => acts.showColumns(toggled(look.columns, name))} />
          {name}
        </label>
      ))}
      {look.columns.length > 0 && (
        <label class="check">
          <input
            type="checkbox"
            checked={look.message}
            onChange={() => log.go({ ...look, message: !look.message })}
          />
          Message
        </label>
      )}
    </Drop>
  )
}
