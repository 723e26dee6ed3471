import { Check } from '../../ui/controls.tsx'
import { toggled } from '../../url.ts'
import { columnsOf } from '../record/rows.ts'
import type { Log } from '../use-log.ts'

/** The columns of the list as those of CSV. */
export function csvColumns({ columns, fields, message, made, sources }: Log): { columns: string[] } {
  const own = columnsOf({ sources, gaps: columns.gaps }).flatMap(({ name, member }) =>
    member && made?.columns.filled.has(name) && !columns.hidden.includes(name) ? [member] : [],
  )
  // A name with a comma would be two.
  const named = fields.filter((name) => !name.includes(','))
  return { columns: [...new Set([...own, ...named, ...(message ? ['message'] : [])])] }
}

/** The columns to choose from: the list's own, and the fields of the records. */
export function ColumnChoice({ log }: { log: Log }) {
  const { columns, fields, message, acts, made } = log
  // The time since the record above is offered even if it is not shown.
  const own = columnsOf({ sources: log.sources, gaps: true })
    .filter(({ name }) => made?.columns.filled.has(name))
    .map(({ name, title, label = title }) => [name, label] as const)
  return (
    <>
      {[...own, ['c', 'Context'] as const].map(([name, label]) => (
        <Check key={name} on={!columns.hidden.includes(name)} toggle={() => columns.toggle(name)}>
          {label}
        </Check>
      ))}
      {fields.length > 0 && (
        <Check on={message} toggle={() => acts.showColumns(fields, !message)}>
          Message
        </Check>
      )}
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
