import { type CommandLine, UsageError } from '../../kit/usage.ts'
import { type FollowEvent, type Missing, ProblemError, type View, type ViewQuery } from '../client.ts'
import { filtersOf, numberOf, targetsOf } from './nodes/connect.ts'
import { notFleet, type Reading, readLogs } from './nodes/logs.ts'
import { complain, SENTENCES, suggestFields } from './output/notes.ts'
import type { Style } from './output/records.ts'
import { joined, show } from './output/shown.ts'
import { withSpinner } from './output/spinner.ts'
import { FOUND, NOTHING, TROUBLE, type World } from './output/world.ts'
import { Printer } from './printer.ts'

/** Log lines may be long: the default answer of 1 MiB would hold too few of them. */
const SIZE = 16 * 1024 * 1024

/** `nodestate tail`: the last lines of logs, then what is appended to them. */
export async function tail(given: CommandLine, style: Style, world: World): Promise<number> {
  const { targets, rest: files } = await targetsOf(given, world)
  if (files.length === 0) throw new UsageError('Say which log: nodestate ls shows the names.')
  const filters = filtersOf(given)
  const isFiltered = Object.entries(filters).some(
    ([name, value]) => name !== 'rotated' && value !== undefined,
  )
  const node = given.flags.get('node')
  const lines = numberOf(given, 'lines', 10)
  const atOnce = given.flags.has('follow')
  const printer = new Printer(
    style,
    (name) => show`[${name}] `,
    ({ target }) => target,
  )
  const logs = { targets, files, node, filters, atOnce, maySplit: false }
  let found = 0
  let stuck = false
  const isWhole = await readLogs(logs, world, async (reading, tell) => {
    const query = { ...reading.query, lines }
    if (atOnce) return follow({ ...reading, query }, printer, world, tell)
    const { content, missing, isStuck } = await last({ ...reading, query }, printer, world)
    stuck ||= isStuck
    const text = content.map((line) => show`${printer.print(line, reading)}\n`)
    if (text.length > 0) await world.stdout.write(joined(text))
    found += text.length
    await tell(missing)
  })
  if (!isWhole || stuck) return TROUBLE
  return found > 0 || atOnce || !isFiltered ? FOUND : NOTHING
}

interface Tail extends Reading {
  query: ViewQuery
}

/** The last records. A search that ran out of budget continues. */
async function last(
  tail: Tail,
  printer: Printer,
  world: World,
): Promise<Pick<View<string[]>, 'content' | 'missing'> & { isStuck: boolean }> {
  const wanted = tail.query.lines ?? 0
  const missing = new Map<string, Missing>()
  let content: string[] = []
  let before: string | undefined
  const asked = new Set<string>()
  /** Notes that were printed, or need not be: many pages may have the same. */
  const told = new Set(['scan-budget'])
  for (;;) {
    const query = { ...tail.query, lines: wanted - content.length, before }
    const page = await withSpinner(world, `reading ${tail.title}`, () =>
      viewed({ ...tail, query }, printer, world),
    )
    if (query.node !== undefined && page.notes.includes('unknown-parameter')) throw notFleet()
    const isStuck = page.prev !== null && asked.has(page.prev)
    // Nothing lies between a cursor and itself: it is a page that was seen.
    if (page.prev === null || page.prev !== before) content = [...page.content, ...content]
    for (const each of page.missing) missing.set(each.name, each)
    for (const note of page.notes) {
      if (told.has(note)) continue
      told.add(note)
      await complain(world, `${tail.title}: ${SENTENCES[note] ?? `note: ${note}`}`)
      if (note === 'unknown-field') await suggestFields(tail.client, query, world)
    }
    if (page.complete || page.prev === null || content.length >= wanted)
      return { content, missing: [...missing.values()], isStuck: false }
    if (isStuck) {
      await complain(world, `${tail.title}: The node does not get on with its search; narrow the time range.`)
      return { content, missing: [...missing.values()], isStuck }
    }
    before = page.prev
    asked.add(before)
  }
}

async function viewed(tail: Tail, printer: Printer, world: World): Promise<View<string[]>> {
  const { client, query } = tail
  const call = { signal: world.signal }
  const ask = (size: number | undefined): Promise<View<string[]>> =>
    printer.needsRecords(tail)
      ? client.lines({ ...query, size, raw: true }, call)
      : client.view({ ...query, size }, call).then(({ content, ...view }) => ({
          ...view,
          content: content === '' ? [] : content.replace(/\n$/, '').split('\n'),
        }))
  try {
    return await ask(SIZE)
  } catch (error) {
    // The operator may allow less; the default size is always within the limit.
    if (error instanceof ProblemError && error.status === 400 && /\bsize\b/.test(error.message))
      return ask(undefined)
    throw error
  }
}

/** Prints the tail and what follows, until Ctrl-C or until the output is closed. */
async function follow(
  tail: Tail,
  printer: Printer,
  world: World,
  tell: (missing: readonly Missing[]) => Promise<void>,
): Promise<void> {
  const { signal } = world
  // As text: parsed numbers could lose digits.
  const json = printer.needsRecords(tail) && 'text'
  const query = json ? { ...tail.query, raw: true } : tail.query
  let others: Promise<void> | null = null
  for await (const event of tail.client.follow(query, { signal, json })) {
    if (event.type === 'record') {
      if (await world.stdout.write(show`${printer.print(event.data, tail)}\n`)) continue
      break
    }
    const told = sentenceOf(event, tail, others !== null)
    // Logs without times are followed beside the others.
    if (event.type === 'open') others ??= tell(event.missing)
    if (told) await complain(world, told)
  }
  await others
}

function sentenceOf(
  event: Exclude<FollowEvent, { type: 'record' }>,
  { target, title }: Tail,
  opened: boolean,
): string | null {
  const name = target === '' ? title : target
  switch (event.type) {
    case 'open':
      return opened ? `${name}: connected again.` : null
    case 'lost':
      return `${name}: ${event.error.message} Trying again in ${Math.ceil(event.retryIn / 1000)} s.`
    case 'rotated':
      return `${title} was rotated.`
    case 'truncated':
      return `${title} was truncated.`
    case 'gap':
      return `Part of ${title} is missing here.`
  }
}
