import { LEVELS } from '../logs.ts'
import type { Found } from '../reference.ts'
import { type Comparison, compareTexts, type Kind } from './comparison.ts'

interface Streams {
  data: { result: { stream: Record<string, string>; values: [at: string, line: string][] }[] }
}

/** Pages of one comparison, at most. */
const MOST_PAGES = 12

/** All entries of a file, page by page. */
const entries =
  (direction: 'forward' | 'backward'): Kind =>
  async (comparison) => {
    const expected = expectedOf(comparison)
    const { choice, lines, get, differs } = comparison
    const times = expected.map(({ time }) => time!)
    let start = BigInt(choice.since ?? times[0] ?? 0) * 1_000_000n
    let end = BigInt(choice.until ?? (times.at(-1) ?? 0) + 1) * 1_000_000n
    // Loki refuses a range that ends where it begins.
    if (start >= end) return
    const limit = Math.max(lines, Math.ceil(expected.length / MOST_PAGES))
    const got: string[] = []
    for (let page = 1; ; page++) {
      const range = { start: String(start), end: String(end), direction, limit: String(limit) }
      const parameters = new URLSearchParams({ query: queryOf(comparison), ...range })
      const answer = await get(`/loki/api/v1/query_range?${parameters}`)
      if (!answer) return
      const values = valuesOf(JSON.parse(answer.text) as Streams)
      if (direction === 'backward') values.reverse()
      got.push(...values.map(({ at, level, line }) => `${at / 1_000_000n} ${level} ${line}`))
      if (values.length < limit) break
      if (page > 3 * MOST_PAGES) return differs('the pages have no end')
      if (direction === 'forward') start = values.at(-1)!.at + 1n
      else end = values.at(-1)!.at
      if (start >= end) break
    }
    if (direction === 'backward') got.reverse()
    const want = expected.map(({ time, level, text }) => `${time} ${level} ${text.replace(/\r?\n$/, '')}`)
    compareTexts(got.join('\n'), want.join('\n'), differs)
  }

/** Entries of all streams, by time. */
function valuesOf({ data }: Streams): { at: bigint; level: string; line: string }[] {
  return data.result
    .flatMap(({ stream, values }) =>
      values.map(([at, line]) => ({ at: BigInt(at), level: stream.level ?? 'null', line })),
    )
    .sort((a, b) => (a.at < b.at ? -1 : 1))
}

/** A query is about one file, and its texts are compared with case. */
function queryOf({ log, choice: { level, q } }: Comparison): string {
  const levels = LEVELS.slice(level === null ? 0 : LEVELS.indexOf(level)).join('|')
  const selector = `{file="${log.name}"${level === null ? '' : `, level=~"${levels}"`}}`
  return q === null ? selector : `${selector} |= ${JSON.stringify(q)}`
}

/** By time, and of one time as in the file. */
function expectedOf({ reference, choice }: Comparison): Found[] {
  const { q } = choice
  return reference
    .chosen(false, { ...choice, q: null, filters: [] })
    .filter(({ time, text }) => time !== null && (q === null || text.includes(q)))
    .sort((a, b) => a.time! - b.time!)
}

/** The streams that occur in a file, and the names of files. */
const series: Kind = async ({ log, reference, get, differs }) => {
  const match = new URLSearchParams({ 'match[]': `{file="${log.name}"}` })
  const answer = await get(`/loki/api/v1/series?${match}`)
  const names = await get('/loki/api/v1/label/file/values')
  if (!answer || !names) return
  const { data, warnings } = JSON.parse(answer.text) as { data: { level?: string }[]; warnings?: string[] }
  // A service that is too busy to search a file answers for the others, and says so.
  if (warnings) return
  const got = data.map(({ level }) => String(level ?? null)).sort()
  const want = [
    ...new Set(reference.records(false).flatMap(({ time, level }) => (time === null ? [] : String(level)))),
  ].sort()
  if (got.join() !== want.join()) differs(`the series are of ${got}, not ${want}`)
  if (!(JSON.parse(names.text) as { data: string[] }).data.includes(log.name))
    differs(`${log.name} is not among the values of file: ${names.text}`)
}

/** Comparisons of Loki's answers about a file. */
export const LOKI: Readonly<Record<string, Kind>> = {
  'loki-forward': entries('forward'),
  'loki-backward': entries('backward'),
  'loki-series': series,
}
