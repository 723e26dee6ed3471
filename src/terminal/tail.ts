import { type FollowEvent, ProblemError, type View, type ViewQuery } from '../client.ts'
import { type CommandLine, UsageError } from '../usage.ts'
import { filtersOf, isFiltered, numberOf, type Target, targetsOf } from './connect.ts'
import { MergedPrinter, namedLogs, tellMissing } from './merged.ts'
import { complain, named, tellNotes } from './output/notes.ts'
import { clean, cleanName, needsRecords, printed, type Style } from './output/records.ts'
import { withSpinner } from './output/spinner.ts'
import { FOUND, NOTHING, TROUBLE, type World } from './output/world.ts'

/** Log lines may be long: the default answer of 1 MiB would hold too few of them. */
const SIZE = 16 * 1024 * 1024

/** One log of one node. */
interface Log extends Target {
  /** What is named. */
  file: string
  prefix: string
  /** Prints the records of several logs; null if there is one. */
  merged: MergedPrinter | null
}

/** `nodestate tail`: the last lines of logs, then what is appended to them. */
export async function tail(given: CommandLine, style: Style, world: World): Promise<number> {
  const { targets, rest } = await targetsOf(given, world)
  if (rest.length === 0) throw new UsageError('Say which log: nodestate ls shows the names.')
  const filters = filtersOf(given)
  const { isMerged, ...names } = namedLogs(given, rest)
  const query = { ...filters, ...names, lines: numberOf(given, 'lines', 10) }
  const logs = targets.map((target, index): Log => {
    const several = targets.length > 1
    const label = style.paint.label(index, cleanName(`[${target.name}]`, style))
    const merged = isMerged ? new MergedPrinter(target, style, { several, end: '] ' }) : null
    return { ...target, file: rest.join(' '), prefix: several && !style.json ? `${label} ` : '', merged }
  })
  if (given.flags.has('follow')) {
    await Promise.all(logs.map((log) => named(log.file, () => follow(log, query, style, world))))
    return FOUND
  }
  let found = 0
  let isTrouble = false
  for (const log of logs) {
    const printed = await named(log.file, () => last(log, query, style, world))
    found += printed.count
    isTrouble ||= printed.isTrouble
  }
  if (isTrouble) return TROUBLE
  return found > 0 || !isFiltered(filters) ? FOUND : NOTHING
}

/** Prints the last lines and returns how many there were. A search that ran out of budget continues. */
async function last(log: Log, query: ViewQuery, style: Style, world: World): Promise<Printed> {
  const wanted = query.lines ?? 0
  const pages: string[][] = []
  const missing: Record<string, string> = {}
  let count = 0
  let before: string | undefined
  for (;;) {
    const asked = { ...query, lines: wanted - count, before }
    const page = await withSpinner(world, `reading ${log.file}`, () => viewed(log, asked, style, world))
    pages.unshift(page.content)
    Object.assign(missing, page.missing)
    count += page.content.length
    await tellNotes(
      world,
      page.notes.filter((note) => note !== 'scan-budget'),
      log.file,
    )
    if (page.complete || page.prev === null || count >= wanted) break
    before = page.prev
  }
  const text = pages.flat().map((line) => lineOf(line, log, style))
  if (text.length > 0) await world.stdout.write(`${text.join('\n')}\n`)
  const { untimed, isTrouble } = await tellMissing(world, missing, query)
  if (query.node !== undefined) return { count: text.length, isTrouble: isTrouble || untimed.length > 0 }
  for (const file of untimed) {
    const alone = { ...log, file, prefix: log.merged?.prefix(file) ?? '', merged: null }
    const { count: more } = await last(alone, { ...query, file }, style, world)
    count += more
  }
  return { count, isTrouble }
}

interface Printed {
  count: number
  /** Whether a log could not be read. */
  isTrouble: boolean
}

async function viewed(log: Log, query: ViewQuery, style: Style, world: World): Promise<View<string[]>> {
  const call = { signal: world.signal }
  const ask = (size: number | undefined): Promise<View<string[]>> =>
    needsRecords(style) || log.merged
      ? log.client.lines({ ...query, size, raw: true }, call)
      : log.client.view({ ...query, size }, call).then((view) => ({ ...view, content: split(view.content) }))
  try {
    return await ask(SIZE)
  } catch (error) {
    // The operator may allow less; the default size is always within the limit.
    if (error instanceof ProblemError && error.status === 400 && /\bsize\b/.test(error.message))
      return ask(undefined)
    throw error
  }
}

function lineOf(line: string, log: Log, style: Style): string {
  if (log.merged) return log.merged.print(line)
  return needsRecords(style) ? printed(line, style, log.prefix) : log.prefix + clean(line, style)
}

function split(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Prints the tail and what follows, until Ctrl-C or until the output is closed. */
async function follow(log: Log, query: ViewQuery, style: Style, world: World): Promise<void> {
  const gone = new AbortController()
  const signal = AbortSignal.any([world.signal, gone.signal])
  const json = needsRecords(style) || log.merged !== null
  let opened = false
  for await (const event of log.client.follow(json ? { ...query, raw: true } : query, { signal, json })) {
    if (event.type === 'record') {
      if (!(await world.stdout.write(`${lineOf(event.data, log, style)}\n`))) gone.abort()
      continue
    }
    if (event.type === 'open' && !opened) await tellMissing(world, event.missing ?? {}, { level: '' })
    const told = sentenceOf(event, log, opened)
    opened ||= event.type === 'open'
    if (told) await complain(world, told)
  }
}

function sentenceOf(
  event: Exclude<FollowEvent, { type: 'record' }>,
  { name, file }: Log,
  opened: boolean,
): string | null {
  switch (event.type) {
    case 'open':
      return opened ? `${name}: connected again.` : null
    case 'lost':
      return `${name}: ${event.error.message} Trying again in ${Math.ceil(event.retryIn / 1000)} s.`
    case 'rotated':
      return `${file} was rotated.`
    case 'truncated':
      return `${file} was truncated.`
    case 'gap':
      return `Part of ${file} is missing here.`
  }
}
