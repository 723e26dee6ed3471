import { namedBy } from '../../log/merge/source.ts'
import type { LogFileDetail, LogQuery } from '../client.ts'
import { fieldHints } from '../terminal/output/notes.ts'
import { part } from './text/answer.ts'
import { type Call, filtersOf } from './tool.ts'

/** How many logs and filters an empty answer looks at, and for how long. */
const MOST_LOGS = 5
const MOST_FILTERS = 6
const MILLIS = 5000

/**
 * What would help where nothing matches: the ranges of the logs, their levels, and the filter that excludes everything.
 * Levels and names come from logs, so these lines are data, too.
 */
export async function whyEmpty(query: LogQuery, call: Call): Promise<string[]> {
  const started = call.clock.elapsed()
  const { file, node, since, until, rotated } = query
  const filters = filtersOf(query)
  const wide = { file, node, since, until, rotated }
  const inRange = filters.length === 0 ? null : await call.client.fields(wide, call).catch(() => null)
  if (inRange === null || inRange.records === 0) return rangesOf(query, call)
  const levels = inRange.fields.find(({ name }) => name === 'level')?.values ?? []
  const sampled = inRange.sampled ? 'newest ' : ''
  const lines = [
    `Without filters, the range has records; of the ${sampled}${inRange.records}: ${
      levels.map(({ value, count }) => `${part(value)} ${count}`).join(', ') || 'no levels'
    }`,
    ...fieldHints(query.where, inRange).map(part),
  ]
  for (const [name, value] of filters.slice(0, MOST_FILTERS)) {
    if (call.clock.elapsed() - started > MILLIS) break
    const alone = await call.client.lines({ ...wide, [name]: value, lines: 1 }, call).catch(() => null)
    if (alone?.complete && alone.content.length === 0)
      lines.push(
        `${name}=${part(JSON.stringify(value))} alone excludes every record of the range.`,
        ...(name === 'q' ? await inSmallLetters(wide, value, call) : []),
      )
  }
  return lines
}

/** A text with a capital letter is looked for as it is written. */
async function inSmallLetters(wide: LogQuery, value: string, call: Call): Promise<string[]> {
  const small = value.toLowerCase()
  if (small === value) return []
  const found = await call.client.lines({ ...wide, q: small, lines: 1 }, call).catch(() => null)
  if (found === null || found.content.length === 0) return []
  return [
    `q=${part(JSON.stringify(small))} finds records: a text with a capital letter matches that case only.`,
  ]
}

/** From when to when the wanted logs have records, the newest first. */
async function rangesOf({ file, node }: LogQuery, call: Call): Promise<string[]> {
  const { entries } = await call.client
    .list({ node, signal: call.signal, detail: true })
    .catch(() => ({ entries: [] }))
  const isWanted = namedBy([file].flat())
  const found = entries.filter(({ name }) => isWanted(name))
  const dated = found.filter(({ last }) => last !== null).sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1))
  if (found.length === 0) return ['No log has such a name; list_logs shows the names.']
  if (dated.length === 0) return ['The times of these logs are not known; leave out since and until.']
  return dated.slice(0, MOST_LOGS).map((entry) => {
    const name = [entry.node, entry.name].filter(Boolean).join('/')
    return `${part(name)} has records from ${entry.first ?? '?'} to ${entry.last}`
  })
}

const timeOf = ({ last }: LogFileDetail) => Date.parse(last!)
