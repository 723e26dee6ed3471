import { bad } from '../http/params.ts'
import type { Followers } from '../log/follow/follow.ts'
import { parseLevel } from '../log/format/detect.ts'
import { type Matcher, regexMatcher, textMatcher } from '../log/pattern/pattern.ts'
import { decodeCursor } from '../log/text/cursor.ts'
import { parseInstant } from '../log/time.ts'
import type { ViewContext, ViewRequest } from '../log/view/view.ts'
import { unexpected } from './parameters/kept.ts'
import type { Query } from './parameters/read.ts'
import { defaultSize } from './view.ts'

/** What the routes that search need. */
export interface QueryRoute extends ViewContext {
  /** The largest tail that may be asked for. @default none */
  maxSize?: number | undefined
  /** The clients that follow; null where following is off. */
  followers: Followers | null
}

/** A request in the terms of the log. */
interface Asked {
  asked: ViewRequest
  /** Whether the answer depends on the clock. */
  clock: boolean
}

/** Turns the parameters of a request into what the log is asked for. `records` asks for whole records, as for JSON. */
export async function readRequest(query: Query, route: QueryRoute, records: boolean): Promise<Asked> {
  const now = route.now()
  const since = instantOf('since', query.since, { zone: route.zone, now })
  const until = instantOf('until', query.until, { zone: route.zone, now, after: since?.at })
  const asked: ViewRequest = {
    file: query.file!,
    rotated: query.rotated ?? false,
    cursor: cursorOf(query),
    fit: { size: query.size ?? defaultSize(route.maxSize), lines: query.lines ?? null },
    since: since?.at ?? null,
    until: until?.at ?? null,
    level: levelOf(query.level),
    matcher: await matcherOf(query),
    records,
  }
  return { asked, clock: since?.clock === true || until?.clock === true }
}

function cursorOf({ before, after }: Query): ViewRequest['cursor'] {
  if (before !== undefined && after !== undefined)
    throw bad('before', 'was given together with after; give one of the two')
  if (before !== undefined) return { place: decodeCursor(before, 'before'), direction: 'before' }
  if (after !== undefined) return { place: decodeCursor(after, 'after'), direction: 'after' }
  return null
}

const TWO_DAYS = 172_800_000

function instantOf(
  name: 'since' | 'until',
  text: string | undefined,
  clock: Parameters<typeof parseInstant>[1],
): { at: number; clock: boolean } | null {
  if (text === undefined) return null
  const at = parseInstant(text, clock)
  if (at === null) throw unexpected(name, text)
  // A time that depends on the clock is a different instant two days later.
  return { at, clock: parseInstant(text, { ...clock, now: clock.now + TWO_DAYS }) !== at }
}

function levelOf(text: string | undefined): number | null {
  if (text === undefined) return null
  const level = parseLevel(text)
  if (level === null) throw unexpected('level', text)
  return level
}

async function matcherOf({ q = [], regex = [] }: Query): Promise<Matcher | null> {
  const matchers = [...q.map(textMatcher), ...(await Promise.all(regex.map(regexMatcher)))]
  return matchers.length < 2 ? (matchers[0] ?? null) : allOf(matchers)
}

/** Records that every one of these matches; what one of them can find fast, it finds for all. */
function allOf(matchers: Matcher[]): Matcher {
  const test: Matcher['test'] = (bytes, from, to) => matchers.every((one) => one.test(bytes, from, to))
  const find = matchers.find((one) => one.find)?.find
  return find ? { test, find } : { test }
}
