import { bad, type Params, show } from '../http/params.ts'
import type { Followers } from '../log/follow/follow.ts'
import { LEVELS, parseLevel } from '../log/format/detect.ts'
import { MAX_PATTERN, type Matcher, regexMatcher, textMatcher } from '../log/pattern/pattern.ts'
import { decodeCursor } from '../log/text/cursor.ts'
import { parseInstant } from '../log/time.ts'
import type { ViewContext, ViewRequest } from '../log/view/view.ts'
import { queryOf } from './link.ts'
import { defaultSize } from './view.ts'

/** What the views beyond a tail need. */
export interface BeyondRoute extends ViewContext {
  /** The largest tail that may be asked for. @default none */
  maxSize?: number | undefined
  /** Those who follow; null where the runtime can't. */
  followers: Followers | null
}

interface Asked {
  asked: ViewRequest
  /** The parameters that its cursors keep. */
  query: string
  /** Whether the answer depends on the clock. */
  clock: boolean
}

const MAX_CURSOR = 4500
const MAX_INSTANT = 64

/** What a request asks of a log. */
export async function readRequest(
  params: Params,
  route: BeyondRoute,
  file: string,
  size: number | undefined,
  format: 'text' | 'ndjson',
): Promise<Asked> {
  const now = route.now()
  const lines = params.integer('lines')
  const since = instantOf(params, 'since', route, now)
  const until = instantOf(params, 'until', route, now, since?.at)
  const level = levelOf(params)
  const q = params.text('q', { max: MAX_PATTERN }) || undefined
  const regex = params.text('regex', { max: MAX_PATTERN }) || undefined
  const rotated = params.flag('rotated')
  const before = params.text('before', { max: MAX_CURSOR })
  const after = params.text('after', { max: MAX_CURSOR })
  if (before !== undefined && after !== undefined)
    throw bad('before', 'was given together with after; give one of the two')
  const cursor: ViewRequest['cursor'] =
    before !== undefined
      ? { place: decodeCursor(before, 'before'), direction: 'before' }
      : after !== undefined
        ? { place: decodeCursor(after, 'after'), direction: 'after' }
        : null
  const matcher = both(q === undefined ? null : textMatcher(q), regex ? await regexMatcher(regex) : null)
  return {
    asked: {
      file,
      rotated,
      cursor,
      fit: { size: size ?? defaultSize(route.maxSize), lines: lines ?? null },
      since: since?.at ?? null,
      until: until?.at ?? null,
      level: level?.index ?? null,
      matcher,
      records: format === 'ndjson',
    },
    query: queryOf({
      file,
      size,
      lines,
      since: since?.text,
      until: until?.text,
      level: level?.text,
      q,
      regex,
      rotated: rotated ? 'true' : undefined,
      format: params.text('format') ? format : undefined,
      ansi: params.flag('ansi') ? 'true' : undefined,
    }),
    clock: since?.clock === true || until?.clock === true,
  }
}

function instantOf(params: Params, name: string, { zone }: BeyondRoute, now: number, after?: number) {
  const text = params.text(name, { max: MAX_INSTANT })
  if (!text) return null
  const at = parseInstant(text, { zone, now, after })
  if (at === null)
    throw bad(
      name,
      `is ${show(text)}; it must be a time such as 2026-11-14T02:10:00Z, 2026-11-14 02:10:00 or 02:10, or a duration back from now such as 15m or 2h`,
    )
  // Two days on, what depends on the clock is another instant.
  return { text, at, clock: parseInstant(text, { zone, now: now + 172_800_000, after }) !== at }
}

function levelOf(params: Params) {
  const text = params.text('level', { max: 64 })
  if (!text) return null
  const index = parseLevel(text)
  if (index === null) throw bad('level', `is ${show(text)}; it must be one of ${LEVELS.join(', ')}`)
  return { text, index }
}

/** Records that both want. */
function both(a: Matcher | null, b: Matcher | null): Matcher | null {
  if (a === null || b === null) return a ?? b
  const matcher: Matcher = {
    test: (bytes, from, to) => a.test(bytes, from, to) && b.test(bytes, from, to),
  }
  const find = a.find ?? b.find
  return find ? { ...matcher, find } : matcher
}
