import { useState } from 'preact/hooks'
import type { LogFields } from '../../../client.ts'
import { Button } from '../../ui/controls.tsx'
import { count } from '../../ui/format.ts'
import type { Term } from '../../url.ts'
import { inverted, withTerm } from '../find/terms.ts'
import { levelOf } from '../record/record.ts'
import type { Log } from '../use-log.ts'
import type { ListProps } from './fields.tsx'
import { orderPatterns, type PatternOrder, patternSpan, patternTerm } from './pattern.ts'

/** The kinds of messages, with how often and when each occurs: what is new, and what makes the noise. */
export function PatternList({ log, data, needle }: ListProps) {
  const [order, setOrder] = useState<PatternOrder>('latest')
  const shown = orderPatterns(data.patterns, order).filter(({ pattern }) =>
    pattern.toLowerCase().includes(needle),
  )
  return (
    <>
      <fieldset class="mode order">
        <legend class="hidden">Order</legend>
        {ORDERS.map(([name, label, title]) => (
          <Button
            key={name}
            class="small"
            aria-pressed={order === name}
            title={title}
            onClick={() => setOrder(name)}
          >
            {label}
          </Button>
        ))}
      </fieldset>
      {shown.length === 0 ? (
        <p class="hint">{needle === '' ? 'There are no messages to group.' : 'No pattern matches.'}</p>
      ) : (
        <table class="patterns">
          <thead class="hidden">
            <tr>
              <th scope="col">Message</th>
              <th scope="col">Records</th>
              <th scope="col">Hide</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((pattern) => (
              <PatternRow
                key={`${pattern.level}:${pattern.pattern}`}
                log={log}
                pattern={pattern}
                all={data.patterns}
              />
            ))}
          </tbody>
        </table>
      )}
    </>
  )
}

type Pattern = LogFields['patterns'][number]

const ORDERS: [PatternOrder, label: string, title?: string][] = [
  ['latest', 'Began last', 'What began last among these records comes first'],
  ['frequent', 'Most frequent'],
]

function PatternRow({ log, pattern, all }: { log: Log; pattern: Pattern; all: Pattern[] }) {
  const { clock } = log
  const filter = (term: Term) => log.acts.apply(withTerm(log.look, term))
  const text = patternTerm(pattern.pattern)
  const only: Term = pattern.pattern.length > LONGEST ? text : { kind: 'pattern', value: pattern.pattern }
  const level = levelOf(pattern.level ?? '')
  const span = patternSpan(pattern, all)
  return (
    <tr class={level === null ? '' : `lv-${level}`}>
      <td>
        <Button class="pick" title="Only records like this" onClick={() => filter(only)}>
          {pattern.pattern}
        </Button>
        {span !== null && (
          <span class="when" title={`${clock.text(pattern.first!)} to ${clock.text(pattern.last!)}`}>
            <span style={{ left: `${span.left * 100}%`, width: `${span.width * 100}%` }} />
          </span>
        )}
      </td>
      <td class="count">{count(pattern.count)}</td>
      <td>
        <Button
          class="hide"
          aria-label={`Hide records like ${pattern.pattern}`}
          onClick={() => filter(inverted(text))}
        >
          −
        </Button>
      </td>
    </tr>
  )
}

/** The longest pattern that the API takes. */
const LONGEST = 2500
