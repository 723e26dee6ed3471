import { nearestName } from '../../../kit/suggestion.ts'
import type { Histogram } from '../../client.ts'
import type { ListedFile } from '../files/order.ts'
import { Button } from '../ui/controls.tsx'
import { count, counted } from '../ui/format.ts'
import { useLoaded } from '../ui/use-loaded.ts'
import type { Look, Term } from '../url.ts'
import { sumsOf } from './chart/totals.ts'
import type { Clock } from './find/clock.ts'
import { rangeText } from './find/moment.ts'
import { fieldsQueryOf, isNarrowed } from './find/query.ts'
import { levelText, termText } from './find/terms.ts'
import { readingText, readTyped } from './find/typed.ts'
import { readWhere } from './record/fields.ts'
import type { Log } from './use-log.ts'

/** Says that there is nothing to show: how much was searched, and what taking back each condition would bring. */
export function Nothing({ log }: { log: Log }) {
  const { look, acts } = log
  if (!isNarrowed(look))
    return (
      <div class="over" role="status">
        <p class="title">This log is empty</p>
        <p>Nothing has been written yet. Follow it to see the first line as it arrives.</p>
      </div>
    )
  const clear = { level: '', terms: [], since: '', until: '', all: false }
  return (
    <div class="over" role="status">
      <p class="title">No record matches</p>
      <Searched log={log} />
      <Misspelt log={log} />
      {conditionsIn(look).map(({ text, change }) => (
        <p key={text}>
          “{text}” was searched for as text.{' '}
          <Button class="small" onClick={() => acts.apply(change)}>
            Filter: {readingText(readTyped(text, NO_NAMES)!)}
          </Button>
        </p>
      ))}
      <Button onClick={() => acts.apply(clear)}>Clear all filters</Button>
    </div>
  )
}

/** How many records were searched, and each condition with the records that the others leave. */
function Searched({ log }: { log: Log }) {
  const { look, client, clock, acts, file } = log
  const conditions = conditionsOf(look, clock)
  const { data } = useLoaded(
    async (signal) => {
      const total = async (change: Partial<Look>): Promise<Total> =>
        totalOf(await client.histogram({ ...fieldsQueryOf({ ...look, ...change }), buckets: 1 }, { signal }))
      const searched = await total({ level: '', terms: [] })
      const without: Total[] = []
      // One at a time: a node should have something left for others.
      for (const { change } of conditions.slice(0, MOST)) without.push(await total(change))
      return { searched, without }
    },
    JSON.stringify(fieldsQueryOf(look)),
    log.ready,
  )
  const range = look.since + look.until === '' ? '' : ' of this time range'
  return (
    <>
      <p>
        {data === null
          ? 'Loosen or clear the filters.'
          : data.searched.records === 0 && data.searched.complete
            ? `There are no records in this time range.`
            : `${searchedText(data.searched)}${range} ${data.searched.complete ? 'were searched.' : 'were searched, and not all could be counted.'}`}
        {extent(look, file, clock)}
      </p>
      <ul class="without">
        {conditions.map(({ label, change }, index) => (
          <li key={label}>
            <Button class="small" onClick={() => acts.apply(change)}>
              {`Without ${label}${data?.without[index] ? `: ${totalText(data.without[index])}` : ''}`}
            </Button>
          </li>
        ))}
      </ul>
    </>
  )
}

/** Conditions on fields that the log does not seem to have, each with the nearest field that it has. */
function Misspelt({ log: { look, client, acts, ready } }: { log: Log }) {
  const query = fieldsQueryOf({ ...look, level: '', terms: [] })
  const { data } = useLoaded(
    (signal) => client.fields(query, { signal }),
    JSON.stringify(query),
    ready && look.terms.some(({ kind }) => kind === 'where'),
  )
  const names = data?.fields.map(({ name }) => name) ?? []
  return look.terms.map((term, index) => {
    const { field } = readWhere(term.value)
    const near = term.kind !== 'where' || names.includes(field) ? null : nearestName(field, names)
    if (near === null) return null
    const meant: Term = { kind: 'where', value: term.value.replace(field, () => near) }
    return (
      <Button
        key={field}
        class="primary"
        onClick={() => acts.apply({ terms: look.terms.toSpliced(index, 1, meant) })}
      >
        Did you mean {termText(meant)}?
      </Button>
    )
  })
}

interface Total {
  records: number
  /** Whether everything was counted. */
  complete: boolean
}

function totalOf(data: Histogram): Total {
  return { records: sumsOf(data).reduce((sum, each) => sum + each, 0), complete: data.complete }
}

function searchedText({ records, complete }: Total): string {
  return complete ? `All ${counted(records, 'record')}` : `At least ${counted(records, 'record')}`
}

function totalText({ records, complete }: Total): string {
  return `${complete ? '' : 'at least '}${count(records)}`
}

/** What the look demands, each in words with the change that takes it back. */
function conditionsOf(look: Look, clock: Clock): { label: string; change: Partial<Look> }[] {
  const { level, terms, since, until } = look
  return [
    ...(level === '' ? [] : [{ label: levelText(level), change: { level: '' } }]),
    ...terms.map((term, index) => ({ label: termText(term), change: { terms: terms.toSpliced(index, 1) } })),
    ...(since + until === '' ? [] : [{ label: rangeText(look, clock), change: { since: '', until: '' } }]),
  ]
}

/** Texts that look like conditions, each with the change that makes it one. */
function conditionsIn(look: Look): { text: string; change: Partial<Look> }[] {
  return look.terms.flatMap((term, index) => {
    const reading = term.kind === 'q' ? readTyped(term.value, NO_NAMES) : null
    if (reading === null) return []
    const { level = look.level } = reading
    return [{ text: term.value, change: { level, terms: look.terms.toSpliced(index, 1, ...reading.terms) } }]
  })
}

/** Where the log's records are, for a time range that holds none. */
function extent({ since, until }: Look, file: ListedFile | null, clock: Clock): string {
  if ((since === '' && until === '') || !file?.first || !file.last) return ''
  return ` This log has records from ${clock.text(file.first)} to ${clock.text(file.last)}.`
}

const NO_NAMES: ReadonlySet<string> = new Set()
/** Conditions that are counted; more are offered without a number. */
const MOST = 8
