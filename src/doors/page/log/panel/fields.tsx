import { useState } from 'preact/hooks'
import type { LogFields, NumberSummary } from '../../../client.ts'
import { Button } from '../../ui/controls.tsx'
import { count, quantity } from '../../ui/format.ts'
import { termOf, type Value, withValue } from '../find/terms.ts'
import type { Log } from '../use-log.ts'

export interface ListProps {
  log: Log
  data: LogFields
  /** What to narrow the list to, in lower case. */
  needle: string
  /** Shows the records by the values of a field. */
  groupBy: (field: string) => void
}

/** The fields of the records with their most frequent values: a click shows only records with that value. */
export function FieldList({ log, data, needle, groupBy }: ListProps) {
  const fits = (text: string) => text.toLowerCase().includes(needle)
  const fields = data.fields.flatMap((field) => {
    const values = fits(field.name) ? field.values : field.values.filter(({ value }) => fits(String(value)))
    return values.length === 0 && !fits(field.name) ? [] : [{ ...field, values }]
  })
  if (fields.length === 0)
    return (
      <p class="hint">{needle === '' ? 'These records have no fields.' : 'No field or value matches.'}</p>
    )
  return (
    <ul class="field-list">
      {fields.map((field) => (
        <Field key={field.name} log={log} field={field} records={data.records} groupBy={groupBy} />
      ))}
    </ul>
  )
}

type FieldSummary = LogFields['fields'][number]

interface FieldProps extends Pick<ListProps, 'log' | 'groupBy'> {
  field: FieldSummary
  records: number
}

function Field({ log, field, records, groupBy }: FieldProps) {
  const [all, setAll] = useState(false)
  // Of numbers with many values, the most frequent ones say little.
  const spread = field.numbers !== undefined && field.values.length >= MANY
  const shown = all ? field.values : field.values.slice(0, FEW)
  const share = records === 0 ? 0 : Math.round((field.count / records) * 100)
  return (
    <li>
      <h3>
        <Button
          class="name"
          aria-haspopup="menu"
          onClick={(event) => log.acts.openField(field.name, event.currentTarget)}
        >
          {field.name}
        </Button>
        <Button
          class="quiet small"
          aria-label={`Group by ${field.name}`}
          title="Records by the values of this field"
          onClick={() => groupBy(field.name)}
        >
          Group by
        </Button>
        <span class="dim" title={`${count(field.count)} of ${count(records)} records have it`}>
          {share === 0 ? '< 1' : share} %
        </span>
      </h3>
      {field.numbers !== undefined && <Spread numbers={field.numbers} />}
      <ul hidden={spread}>
        {shown.map((each) => (
          <ValueRow key={String(each.value)} log={log} field={field} counted={each} />
        ))}
      </ul>
      {field.values.length > FEW && !spread && (
        <Button class="quiet small" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Fewer' : `${field.values.length - FEW} more`}
        </Button>
      )}
    </li>
  )
}

/** How numbers are distributed: half of them are in the dark part, and one in twenty is beyond the light one. */
function Spread({ numbers: { min, median, p95, max, unit } }: { numbers: NumberSummary }) {
  const at = (value: number) => (max === min ? 100 : ((value - min) / (max - min)) * 100)
  return (
    <div class="spread">
      <p class="track" aria-hidden="true">
        <span style={{ width: `${at(p95)}%` }} />
        <span style={{ width: `${at(median)}%` }} />
      </p>
      <p>
        {quantity(min, unit)} to {quantity(max, unit)}, median {quantity(median, unit)}, p95{' '}
        {quantity(p95, unit)}
      </p>
    </div>
  )
}

type Counted = FieldSummary['values'][number]

function ValueRow({ log, field, counted }: { log: Log; field: FieldSummary; counted: Counted }) {
  const value: Value = { field: field.name, value: String(counted.value) }
  const share = field.count === 0 ? 0 : counted.count / field.count
  const { look } = log
  const choose = (not: boolean) => log.acts.apply(withValue(look, value, not))
  const wanted = termOf(value, false).value
  const active =
    look.terms.some((term) => term.kind === 'where' && term.value === wanted) ||
    (value.field === 'level' && look.level === `=${value.value}`)
  const name = value.value === '' ? '(empty)' : value.value
  return (
    <li class="value">
      <span class="share" style={{ width: `${Math.max(1, share * 100)}%` }} />
      <Button class="pick" aria-pressed={active} onClick={() => choose(false)}>
        <span class="hidden">Only records with {value.field}: </span>
        <span class="text">{name}</span> <span class="count">{count(counted.count)}</span>
      </Button>
      <Button
        class="hide"
        aria-label={`Hide records with ${value.field}: ${name}`}
        onClick={() => choose(true)}
      >
        −
      </Button>
    </li>
  )
}

const FEW = 5
/** As many values as a field has in an answer at most. */
const MANY = 10
