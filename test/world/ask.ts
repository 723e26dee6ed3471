import type { Random } from './kernel/random.ts'
import { LEVELS, type Level, type Log } from './logs.ts'
import type { Json } from './plan.ts'
import type { Service, World } from './world.ts'

/** What a reader asks of a log, as data. Members that are null are not asked for. */
export interface Query {
  rotated: boolean
  level: Level | null
  q: string | null
  /** The times of records, as their places among all times in order: 0.5 is the one in the middle. */
  since: number | null
  until: number | null
  readonly [more: string]: Json
}

/** An answer that has come to its end, or was cut. */
export interface Answer {
  status: number
  /** As far as it came. */
  text: string
  /** Why the body did not come to its end; null when it did. */
  cut: string | null
  headers: Headers
  notes: string[]
  /** When it was asked and when the last byte came, in virtual milliseconds. */
  from: number
  to: number
}

/** Questions that are about as often with as without each filter. */
export function drawQuery(random: Random): Query {
  const [a, b] = [random.fraction(), random.fraction()].sort() as [number, number]
  const isTimed = random.chance(0.3)
  return {
    rotated: random.chance(0.5),
    level: random.chance(0.3) ? random.pick(LEVELS) : null,
    q: random.chance(0.3) ? random.pick(['timeout', 'shard', 'Über', 'frame', 'nothing has this']) : null,
    since: isTimed && random.chance(0.7) ? a : null,
    until: isTimed && random.chance(0.7) ? b : null,
    filters: drawFilters(random.split('filters')),
  }
}

/** Filters besides `level` and `q`, as names and values. */
const FILTERS: readonly Filter[] = [
  ['not', 'timeout'],
  ['not', 'Über'],
  ['regex', 'time.ut|merge'],
  ['regex', '<[0-9]+-[0-9]*[37][>.]'],
  ['notregex', 'flushed (merge|retry)'],
  ['where', 'level:warn'],
  ['where', 'shard:3'],
  ['where', '!shard:3'],
  ['where', 'shard:*'],
  ['where', 'shard>2'],
]

export type Filter = readonly [name: string, value: string]

function drawFilters(random: Random): Filter[] {
  return random.chance(0.3) ? Array.from({ length: random.small(1, 3) }, () => random.pick(FILTERS)) : []
}

/** The filters of a query; plans of older worlds have none. */
export function filtersOf(query: Query): readonly Filter[] {
  return (query.filters ?? []) as unknown as Filter[]
}

/** The instants that a query means now: times of records, at which choosing one too many or too few shows. */
export function instantsOf(
  world: World,
  log: Log,
  { since, until }: Query,
): { since: number | null; until: number | null } {
  const times = log.records.map(({ time }) => time).sort((a, b) => a - b)
  const at = (part: number | null) =>
    part === null ? null : (times[Math.floor(part * times.length)] ?? world.kernel.now())
  return { since: at(since), until: at(until) }
}

/** The parameters of a query. `more` is what belongs to the resource: `lines`, `format`, `download`… */
export function parametersOf(
  world: World,
  log: Log,
  query: Query,
  more: Record<string, string | number> = {},
): URLSearchParams {
  const parameters = new URLSearchParams({ file: log.name })
  if (query.rotated) parameters.set('rotated', 'true')
  if (query.level !== null) parameters.set('level', query.level)
  if (query.q !== null) parameters.set('q', query.q)
  for (const [name, value] of filtersOf(query)) parameters.append(name, value)
  for (const [name, instant] of Object.entries(instantsOf(world, log, query)))
    if (instant !== null) parameters.set(name, new Date(instant).toISOString())
  for (const [name, value] of Object.entries(more)) parameters.set(name, String(value))
  if ('lines' in more || 'first' in more) parameters.set('size', String(PAGE_SIZE))
  return parameters
}

/** The size of pages of so many lines: the longest record fits. */
export const PAGE_SIZE = 4 * 1024 * 1024

/** How often a client comes back when too many searches are running. */
const TRIES = 30

interface AskOptions {
  headers?: Record<string, string> | undefined
  /** @default the node's own */
  service?: Service
}

/** Sends a request to a service and reads its answer to the end. `path` begins with a slash. */
export async function ask(
  world: World,
  who: string,
  path: string,
  { headers = {}, service = world.node }: AskOptions = {},
): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await askOnce(world, service, path, headers)
    const { status, text, cut, notes } = answer
    const noted = notes.length > 0 ? ` (${notes.join(', ')})` : ''
    const ended = cut === null ? '' : `, cut: ${cut}`
    world.note(`${who} GET ${decodeURIComponent(path)} → ${status} ${text.length} characters${noted}${ended}`)
    if (!isTooBusy(answer) || tries >= TRIES) return answer
    await world.kernel.sleep(1_000)
  }
}

/** Whether a place was missing for all of an answer, or, as it says, for one of its logs. */
function isTooBusy({ status, text, headers }: Answer): boolean {
  if (status === 503) return text.includes('/problems/too-busy')
  // A coordinator says of a peer that is too busy that its storage is throttled.
  return /;(too-busy|storage-throttled)/.test(headers.get('X-Nodestate-Missing') ?? '')
}

async function askOnce(
  world: World,
  { app, root, node, headers: own }: Service,
  path: string,
  headers: Record<string, string>,
): Promise<Answer> {
  const from = world.kernel.elapsed()
  const named = node !== undefined && !path.includes('node=') ? `${path}&node=${node}` : path
  const response = await app.fetch(
    new Request(`http://node${root}${named}`, { headers: { ...own, ...headers } }),
  )
  let text = ''
  let cut: string | null = null
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
      if (done) break
      text += decoder.decode(value, { stream: true })
    }
    text += decoder.decode()
  } catch (error) {
    cut = String(error)
  }
  const notes = (response.headers.get('X-Nodestate-Note') ?? '').split(/,\s*/).filter(Boolean)
  const { status, headers: got } = response
  return { status, text, cut, headers: got, notes, from, to: world.kernel.elapsed() }
}

/** The parameters of a `Link` relation; null when the answer has none. */
export function linkOf(answer: Answer, rel: 'prev' | 'next'): string | null {
  for (const [, target, name] of (answer.headers.get('Link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g))
    if (name === rel) return target!
  return null
}
