import { useState } from 'preact/hooks'
import type { LogFields } from '../../../client.ts'
import { Sparkline } from '../../ui/bars.tsx'
import { Button } from '../../ui/controls.tsx'
import { count } from '../../ui/format.ts'
import type { Term } from '../../url.ts'
import { inverted, patternTerm, withTerm } from '../find/terms.ts'
import { worstOf } from '../record/record.ts'
import { Entries, type Entry } from './entries.tsx'
import type { ListProps } from './fields.tsx'

/** The kinds of messages, with how often and when each occurs: what is new, and what makes the noise. */
export function PatternList({ log, data, needle }: ListProps) {
  const [order, setOrder] = useState('latest')
  const { acts, look, clock } = log
  const shown = kindsOf(data)
    .filter(({ pattern }) => pattern.toLowerCase().includes(needle))
    .sort((a, b) => (order === 'latest' ? b.began - a.began || a.count - b.count : b.count - a.count))
  const entryOf = ({ pattern, levels, over, first, last, ...kind }: Kind): Entry => {
    const text = patternTerm(pattern)
    const only: Term = pattern.length > LONGEST ? text : { kind: 'pattern', value: pattern }
    const filter = (term: Term) => acts.apply(withTerm(look, term))
    const when = first === null ? '' : `${clock.text(first)} to ${clock.text(last!)}`
    return {
      key: pattern,
      text: pattern,
      title: 'Only records like this',
      level: worstOf(levels.map(([level]) => level)),
      figures: [count(kind.count)],
      choose: () => filter(only),
      hide: () => filter(inverted(text)),
      below: (
        <span class="when">
          {over !== null && (
            <Sparkline series={[{ name: 'info', counts: over }]} peak={Math.max(...over)} label={when} />
          )}
          <span class="dim">
            {levels.map(([level, of]) => levelText(level, of, levels.length)).join(' · ')}
          </span>
        </span>
      ),
    }
  }
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
        <Entries
          class="patterns"
          isPlain
          headings={['Message', 'Records', 'Hide'].map((each) => (
            <th key={each} scope="col">
              {each}
            </th>
          ))}
          spoken={(text) => `like ${text}`}
          entries={shown.map(entryOf)}
        />
      )}
    </>
  )
}

type Pattern = LogFields['patterns'][number]

/** A message, whatever levels it has. */
interface Kind extends Pick<Pattern, 'pattern' | 'count' | 'first' | 'last'> {
  levels: [level: string, count: number][]
  over: readonly number[] | null
  began: number
}

/** The API counts a message of two levels twice; a click on it selects both. */
function kindsOf({ patterns }: LogFields): Kind[] {
  return [...Map.groupBy(patterns, ({ pattern }) => pattern)].map(([pattern, parts]) => {
    const times = parts.flatMap(({ first, last }) => (first === null || last === null ? [] : [first, last]))
    const byTime = times.sort((a, b) => Date.parse(a) - Date.parse(b))
    const overs = parts.flatMap(({ over }) => (over === undefined ? [] : [over]))
    return {
      pattern,
      count: parts.reduce((sum, part) => sum + part.count, 0),
      first: byTime[0] ?? null,
      last: byTime.at(-1) ?? null,
      began: Date.parse(byTime[0] ?? '') || 0,
      levels: parts.map(({ level, count }) => [level ?? '', count]),
      over: overs[0]?.map((_, at) => overs.reduce((sum, over) => sum + over[at]!, 0)) ?? null,
    }
  })
}

function levelText(level: string, of: number, kinds: number): string {
  return kinds === 1 ? level : `${count(of)} ${level || 'other'}`
}

const ORDERS: [name: string, label: string, title?: string][] = [
  ['latest', 'Newest', 'Messages that began last come first'],
  ['frequent', 'Most frequent'],
]

/** The longest pattern that the API takes. */
const LONGEST = 2500
