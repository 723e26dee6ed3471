import { bad } from '../../core/http/params.ts'
import type { Query } from '../../core/query.ts'
import type { Period } from '../../log/compare/sample.ts'
import { instantOf } from '../parameters/meaning.ts'
import type { QueryRoute } from '../parameters/view-request.ts'

const HOUR = 3_600_000

export interface Periods {
  range: Period
  base: Period
  /** Whether they depend on the clock. */
  clock: boolean
}

/** The range and its base: by default as long, at least an hour, and directly before it; with nodes, the same range. */
export function periodsOf(query: Query, { clock, zone }: Pick<QueryRoute, 'clock' | 'zone'>): Periods {
  const now = clock.now()
  const since = instantOf('since', query.since, { zone, now })
  if (since === null)
    throw bad('since', 'is missing; it must be the start of the range that is compared, such as 15m or 02:10')
  const until = instantOf('until', query.until, { zone, now, after: since.at }) ?? { at: now, clock: true }
  if (until.at <= since.at) throw bad('until', 'is not after since; give a range of time')
  const range = { from: since.at, to: until.at }
  const before = instantOf('base-since', query['base-since'], { zone, now })
  const end = instantOf('base-until', query['base-until'], { zone, now, after: before?.at })
  const given = [since, until, before, end]
  return { range, base: baseOf(query, range, before?.at, end?.at), clock: given.some((time) => time?.clock) }
}

function baseOf(query: Query, range: Period, since: number | undefined, until: number | undefined): Period {
  if (query['base-node'] && since === undefined && until === undefined) return range
  const to = until ?? (query['base-node'] ? range.to : range.from)
  const from = since ?? to - Math.max(HOUR, range.to - range.from)
  if (to > from) return { from, to }
  throw until === undefined
    ? bad('base-since', 'is not before since; give base-until, too, or an earlier time')
    : bad('base-until', 'is not after base-since; give a range of time')
}
