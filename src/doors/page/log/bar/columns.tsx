import { Check } from '../../ui/controls.tsx'
import { toggled } from '../../url.ts'
import { columnsOf } from '../record/rows.ts'
import type { Log } from '../use-log.ts'

/** The columns of the list as those of CSV. */
export function csvColumns({ columns, fields, message, made, sources }: Log): { columns: string[] } {
  const own = columnsOf(sources).flatMap(({ name, member }) =>
    made?.columns.filled.has(name) && !columns.hidden.includes(name) ? [member] : [],
  )
  // A name with a comma would be two.
  const named = fields.filter((name) => !name.includes(','))
  return { columns: [...new Set([...own, ...named, ...(message ? ['message'] : [])])] }
}

/** The columns to choose from: the list's own, and the fields of the records. */
export function ColumnChoice({ log: { columns, fields, acts, made, sources } }: { log: Log }) {
  const own = columnsOf(sources).filter(({ name }) => made?.columns.filled.has(name))
  return (
    <>
      {[...own, { name: 'c', title: 'Context' }].map(({ name, title }) => (
        <Check key={name} on={!columns.hidden.includes(name)} toggle={() => columns.toggle(name)}>
          {title}
        </Check>
      ))}
      {[...new Set([...fields, ...(made?.columns.offered ?? [])])].map((name) => (
        <Check
          key={`field ${name}`}
          on={fields.includes(name)}
          toggle={() => acts.showColumns(toggled(fields, name))}
        >
          <code>{name}</code>
        </Check>
      ))}
    </>
  )
}
