import { useState } from 'preact/hooks'
import type { LogFields, NumberSummary } from '../../../client.ts'
import { Button } from '../../ui/controls.tsx'
import { count, quantity } from '../../ui/format.ts'
import { termOf, withValue } from '../find/terms.ts'
import type { Log } from '../use-log.ts'
import { Entries } from './entries.tsx'

export interface ListProps {
  log: Log
  data: LogFields
  /** What to narrow the list to, in lower case. */
  needle: string
  /** Shows the records by the values of a field. */
  groupBy: (field: string) => void
}

/** The fields of the records with their most frequent values. */
export function FieldList({ log, data, needle, groupBy }: ListProps) {
  const fits = (text: string) => text.toLowerCase().includes(needle)
  const fields = data.fields.flatMap((field) => {
    const values = fits(field.name) ? field.values : field.values.filter(({ value }) => fits(value))
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

interface FieldProps extends Pick<ListProps, 'log' | 'groupBy'> {
  field: LogFields['fields'][number]
  records: number
}

function Field({ log, field: { name, count: found, values, numbers }, records, groupBy }: FieldProps) {
  const [all, setAll] = useState(false)
  const { look, acts } = log
  // Of numbers with many values, the most frequent ones say little.
  const isSpread = numbers !== undefined && values.length >= MANY
  const shown = isSpread ? [] : all ? values : values.slice(0, FEW)
  const share = records === 0 ? 0 : Math.round((found / records) * 100)
  const isChosen = (value: string) =>
    look.terms.some(
      (term) => term.kind === 'where' && term.value === termOf({ field: name, value }, false).value,
    ) ||
    (name === 'level' && look.level === `=${value}`)
  return (
    <li>
      <h3>
        <Button
          class="name"
          aria-haspopup="menu"
          onClick={(event) => acts.openField(name, event.currentTarget)}
        >
          {name}
        </Button>
        <Button
          class="quiet small"
          aria-label={`Group by ${name}`}
          title="Count the records by the values of this field"
          onClick={() => groupBy(name)}
        >
          Group by
        </Button>
        <span class="dim" title={`${count(found)} of ${count(records)} records have it`}>
          {share === 0 ? '< 1' : share} %
        </span>
      </h3>
      {numbers !== undefined && <Spread numbers={numbers} />}
      {shown.length > 0 && (
        <Entries
          class="values"
          isPlain
          headings={['Value', 'Records', 'Hide'].map((each) => (
            <th key={each} scope="col">
              {each}
            </th>
          ))}
          spoken={(text) => `with ${name}: ${text}`}
          entries={shown.map(({ value, count: own }) => ({
            key: value,
            text: value === '' ? '(empty)' : value,
            share: found === 0 ? 0 : own / found,
            figures: [count(own)],
            isChosen: isChosen(value),
            choose: () => acts.apply(withValue(look, { field: name, value }, false)),
            hide: () => acts.apply(withValue(look, { field: name, value }, true)),
          }))}
        />
      )}
      {values.length > FEW && !isSpread && (
        <Button class="quiet small" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Fewer' : `${values.length - FEW} more`}
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

const FEW = 5
/** As many values as a field has in an answer at most. */
const MANY = 10
