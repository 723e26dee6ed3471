import { type Answer, ask, drawQuery, filtersOf, linkOf, parametersOf, type Query } from '../ask.ts'
import type { Log, Written } from '../logs.ts'
import type { Step } from '../plan.ts'
import { checkLines, isAnswered, newestAt } from '../rules/answers.ts'
import type { World } from '../world.ts'
import type { Actor } from './actor.ts'

interface Read extends Step {
  log: string
  query: Query
  lines: number
  size: number
  back: boolean
  /** Milliseconds between two pages. */
  pause: number
}

const MOST_PAGES = 100

/** Clients that read while files change. */
export const reader: Actor = {
  plan({ random, settings, add, moment }) {
    for (let i = settings.isCrowded ? random.small(0, 5) : random.small(1, 2); i > 0; i--) {
      const own = random.split(i)
      for (let step = own.small(1, 10); step > 0; step--) {
        const does = own.weighted({ tail: 3, lines: 2, pages: 3, export: 1, list: 1, leave: 1 })
        const log = own.pick(settings.logs).name
        const asked = { lines: own.small(1, 60), size: own.small(200, 20_000) }
        const paging = { back: own.chance(0.5), pause: own.chance(0.5) ? own.small(0, 400) : 0 }
        add(String(i), does, moment(own), { log, query: drawQuery(own), ...asked, ...paging })
      }
    }
  },
  async act(world, step) {
    const read = step as Read
    const log = world.log(read.log)
    if (read.does === 'list') return list(world, read)
    if (read.does === 'leave') return leave(world, log, read)
    if (read.does === 'pages') return pages(world, log, read)
    return once(world, log, read)
  },
}

/** A tail by bytes or lines, or an export: one answer. */
async function once(world: World, log: Log, read: Read): Promise<void> {
  const more = { tail: { size: read.size }, lines: { lines: read.lines }, export: { download: 'true' } }[
    read.does
  ]!
  const parameters = parametersOf(world, log, read.query, more)
  const answer = await ask(world, read.by, `/api/v1/log/view?${parameters}`)
  const what = `${read.by}, step ${read.id}`
  if (!isAnswered(world, log, answer, what)) return
  // The order of rising numbers may be a guess, and is said to be one.
  if (log.settings.rising && answer.notes.includes('family-order')) return
  const isFiltered = isSelective(read.query)
  const lines = checkLines(world, log, whole(log, answer), { what, isContiguous: !isFiltered, isOpen: true })
  if (lines === null || isFiltered || answer.text === '' || log.rotatedIn(answer.from - 1_500, answer.to))
    return
  const newest = newestAt(log, answer.from)
  const last = lines.at(-1)
  if (newest && last && last.place < newest.place && !answer.text.endsWith(newest.text))
    world.break('an answer is whole', `${what} ends with ${last.text}, and ${newest.text} was there before`)
}

function isSelective(query: Query): boolean {
  const { level, q, since, until } = query
  if (filtersOf(query).length > 0) return true
  return level !== null || q !== null || since !== null || until !== null
}

/** A line that is longer than what was asked for is cut at its start: such a first line is left out. */
function whole(log: Log, answer: Answer): string {
  const end = answer.text.indexOf('\n') + 1
  const first = answer.text.slice(0, end - 1)
  const isCut =
    end > 0 &&
    !log.lineOf(first) &&
    !log.isHeader(first) &&
    log.texts.some((text) => `${text}\r`.includes(first))
  return isCut || (end === 0 && answer.text !== '')
    ? answer.text.slice(end || answer.text.length)
    : answer.text
}

/** Rule 2: what was there from the first to the last page, exactly once; what came or went meanwhile, at most once. */
async function pages(world: World, log: Log, read: Read): Promise<void> {
  const { query, lines, back } = read
  const { length } = log.records
  const size = Math.max(lines, Math.ceil(length / 12))
  const count = { format: 'ndjson', ...(back ? { lines: size } : { first: size }) }
  const parameters = parametersOf(world, log, query, count)
  const what = `${read.by}, step ${read.id}`
  let link: string | null = `?${parameters}`
  const seen = new Map<string, number>()
  const begun = world.kernel.elapsed()
  for (let page = 1; link !== null; page++) {
    if (page > MOST_PAGES) {
      // A log that grows as fast as it is read has no last page.
      if (log.records.length === length) world.break('pages end', `${what} has more than ${MOST_PAGES} pages`)
      return
    }
    const answer = await ask(world, read.by, `/api/v1/log/view${link}`)
    if (!isAnswered(world, log, answer, `${what}, page ${page}`)) return
    for (const line of answer.text.split('\n').filter(Boolean)) {
      const [, id] = /<(\d+-\d+)>/.exec(line) ?? []
      if (id === undefined) continue
      if (seen.has(id))
        return world.break(
          'pages have each record once',
          `${what} has <${id}> on pages ${seen.get(id)} and ${page}`,
        )
      seen.set(id, page)
    }
    // The next page after the newest record is empty until something is appended.
    if (!back && answer.text === '') break
    link = linkOf(answer, back ? 'prev' : 'next')
    if (link !== null) await world.kernel.sleep(read.pause)
  }
  if (isSelective(query) || !query.rotated || world.troubledIn(begun - 1_500, world.kernel.elapsed())) return
  const missing = log.records.find((record) => wasThere(record, begun) && !seen.has(record.id))
  if (missing)
    world.break('pages have each record once', `${what} lacks <${missing.id}> in ${seen.size} records`)
}

/** Whether a record was there at a moment, and still is. */
function wasThere({ lines, gone, lost }: Written, moment: number): boolean {
  const written = lines.at(-1)!.written
  return written !== null && written < moment && gone === null && !lost
}

/** A client that reads slowly and goes away in the middle: what it had must be handed back. */
async function leave(world: World, log: Log, read: Read): Promise<void> {
  const what = read.back ? { file: '*.log', download: 'true' } : { download: 'true' }
  const parameters = parametersOf(world, log, read.query, what)
  const leaving = new AbortController()
  const request = new Request(`http://node/api/v1/log/view?${parameters}`, { signal: leaving.signal })
  const response = await world.app.fetch(request)
  const reader = response.body?.getReader()
  let length = 0
  for (let reads = read.lines % 4; reads > 0; reads--) {
    await world.kernel.sleep(read.pause)
    const piece = await reader?.read().catch(() => null)
    length += piece?.value?.length ?? 0
  }
  world.note(`${read.by} leaves after ${length} bytes of ${response.status}`)
  leaving.abort()
  await reader?.cancel().catch(() => {})
}

/** A list may be up to a second old. */
async function list(world: World, read: Read): Promise<void> {
  const answer = await ask(world, read.by, '/api/v1/log/list')
  const isTroubled = world.troubledIn(answer.from - 1_500, answer.to)
  if (answer.status !== 200) {
    // Nobody has made the directory's first file.
    if (!isTroubled)
      world.break('what is incomplete says why', `${read.by} got ${answer.status} for the list`)
    return
  }
  const names = (JSON.parse(answer.text) as { name: string }[]).map(({ name }) => name)
  for (const log of world.logs)
    if (
      !names.includes(log.name) &&
      !log.rotatedIn(answer.from - 1_500, answer.to) &&
      newestAt(log, answer.from - 1_500) &&
      world.disk.inodeOf(log.name)
    )
      world.break('the list has every file', `${read.by} does not see ${log.name}: ${names.join(', ')}`)
}
