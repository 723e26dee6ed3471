import { type CommandLine, UsageError } from '../../kit/usage.ts'
import type { LogQuery, LogRecord, Missing } from '../client.ts'
import { filtersOf, numberOf, type Target, targetsOf } from './nodes/connect.ts'
import { isPattern, namesLog, notFleet, type Reading, readLogs } from './nodes/logs.ts'
import { type Grouped, Groups } from './output/groups.ts'
import { suggestFields } from './output/notes.ts'
import type { Style } from './output/records.ts'
import { joined, printable, type Shown, show } from './output/shown.ts'
import { withSpinner } from './output/spinner.ts'
import { FOUND, NOTHING, TROUBLE, type World } from './output/world.ts'
import { mergedLabel, Printer, singleLabel } from './printer.ts'

/** `nodestate grep`: every record of the logs that matches, in order of time, streamed as the node finds them. */
export async function grep(given: CommandLine, style: Style, world: World): Promise<number> {
  const { targets, rest } = await targetsOf(given, world)
  const { text, names } = await textAndFiles(given, rest, targets, world)
  const files = names.length === 0 ? ['*'] : names
  const isPlain = text !== null && !given.flags.has('extended-regexp') && !given.flags.has('invert-match')
  const needles = isPlain ? [text] : []
  const marking = { ...style, needles: [...needles, ...(given.flags.get('grep') ?? [])] }
  const logs = {
    targets,
    files,
    node: given.flags.get('node'),
    filters: queryOf(given, text),
    atOnce: false,
    maySplit: true,
  }
  const search = new Search(given, marking, world)
  const isWhole = await readLogs(logs, world, async (reading, tell) => {
    if (!search.unread) await tell(await search.run(reading))
  })
  await search.sum()
  if (!isWhole) return TROUBLE
  return search.found > 0 ? FOUND : NOTHING
}

/** Flags that say what to search for, so that no text is needed. */
const CONDITIONS = ['where', 'pattern', 'grep', 'regex', 'not', 'not-regex', 'level']

/** The text to search for and the logs. Beside conditions, a first argument that names a log is one, and not a text. */
async function textAndFiles(
  { flags }: CommandLine,
  rest: readonly string[],
  targets: readonly Target[],
  world: World,
): Promise<{ text: string | null; names: readonly string[] }> {
  const [first, ...others] = rest
  const isJudged = ['extended-regexp', 'invert-match'].some((name) => flags.has(name))
  if (isJudged || !CONDITIONS.some((name) => flags.has(name))) {
    if (first === undefined || first === '')
      throw new UsageError('Say what to search for: nodestate grep TEXT FILE…, or use --where.')
    return { text: first, names: others }
  }
  if (first === undefined || first === '') return { text: null, names: others }
  const node = flags.get('node')
  const lists = targets.map(({ client }) =>
    client.list({ signal: world.signal, ...(node && { node }) }).catch(() => ({ entries: [] })),
  )
  const listed = (await Promise.all(lists)).flatMap(({ entries }) => entries)
  return namesLog(first, listed) ? { text: null, names: rest } : { text: first, names: others }
}

function queryOf(given: CommandLine, text: string | null): Omit<LogQuery, 'file'> {
  const filters = filtersOf(given)
  if (text === null) return filters
  const pattern = given.flags.has('extended-regexp')
  const key = given.flags.has('invert-match') ? (pattern ? 'notregex' : 'not') : pattern ? 'regex' : 'q'
  return { ...filters, [key]: [text, ...((filters[key] as readonly string[] | undefined) ?? [])] }
}

/** Prints what is found, or in which logs, or how much. */
class Search {
  /** Whether the reader of the output is gone. */
  unread = false
  readonly #world: World
  readonly #printer: Printer
  readonly #most: number
  readonly #only: 'count' | 'name' | null
  /** How many records around each match are printed; null for the matches alone. */
  readonly #context: number | null
  readonly #isJson: boolean
  readonly #counts = new Map<string, number>()
  /** Whether counts have their log in front. */
  #isLabelled = false

  constructor(given: CommandLine, style: Style, world: World) {
    this.#world = world
    this.#printer = new Printer(style, (name) => show`${name}:`)
    this.#only = given.flags.has('files-with-matches') ? 'name' : given.flags.has('count') ? 'count' : null
    this.#context = contextOf(given)
    this.#isJson = style.json
    this.#most = this.#only === 'name' ? 1 : numberOf(given, 'max-count', Number.POSITIVE_INFINITY)
  }

  get found(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
  }

  /** Searches logs and returns those that are missing. */
  async run(reading: Reading): Promise<Missing[]> {
    const { client, query, isMerged, target, isAlone } = reading
    this.#isLabelled ||= isMerged || isAlone || target !== ''
    const named = isMerged ? [query.file].flat().filter((file) => !isPattern(file)) : [reading.title]
    if (query.node === undefined) for (const title of named) this.#add(singleLabel({ ...reading, title }), 0)
    if (this.#context !== null && this.#only === null) return this.#runAround(reading, this.#context)
    // Records are counted: they are requested as JSON if one may have several lines.
    const records =
      this.#printer.needsRecords(reading) || this.#only !== null || this.#most !== Number.POSITIVE_INFINITY
    const { signal } = this.#world
    const { body, missing, notes } = await withSpinner(this.#world, `searching ${reading.title}`, () =>
      client.export(records ? { ...query, raw: true } : query, records ? 'ndjson' : 'text', { signal }),
    )
    if (query.node !== undefined && notes.includes('unknown-parameter')) {
      await body.cancel()
      throw notFleet()
    }
    const own = singleLabel(reading)
    const labelOf = (line: string) => (isMerged ? mergedLabel(JSON.parse(line) as LogRecord, reading) : own)
    for await (const batch of linesOf(body)) {
      const wanted = batch.filter((line) => this.#add(labelOf(line), 1))
      if (this.#only === null && wanted.length > 0)
        await this.#write(wanted.map((line) => this.#printer.print(line, reading, records)))
      // This ends the request, too.
      if (this.unread || (!isMerged && this.#counts.get(own)! >= this.#most)) break
    }
    if (this.found === 0 && !this.unread) await suggestFields(client, query, this.#world)
    return missing
  }

  /** Searches logs page by page, with the records around each match. */
  async #runAround(reading: Reading, count: number): Promise<Missing[]> {
    const { client, query, isMerged, title } = reading
    const { signal } = this.#world
    const groups = new Groups(count)
    const own = singleLabel(reading)
    const missing = new Map<string, Missing>()
    /** The logs of which enough was printed. */
    const full = new Set<string>()
    for (let after: string | undefined; ; ) {
      const first = isMerged
        ? MATCHES_AT_ONCE
        : Math.min(MATCHES_AT_ONCE, this.#most - this.#counts.get(own)!)
      const asked = { ...query, raw: true, context: count + 1, first, after }
      const page = await withSpinner(this.#world, `searching ${title}`, () => client.lines(asked, { signal }))
      if (page.notes.includes('unknown-parameter'))
        throw query.node !== undefined
          ? notFleet()
          : new UsageError('Cannot use -C here: the node is older than this command.')
      for (const each of page.missing) missing.set(each.name, each)
      for (const line of page.content) {
        const record = JSON.parse(line) as LogRecord
        const label = isMerged ? mergedLabel(record, reading) : own
        const isMatch = record.match !== false
        if (full.has(label)) continue
        if (isMatch && !this.#add(label, 1)) full.add(label)
        else groups.add(label, line, isMatch)
      }
      const isEnough = !isMerged && this.#counts.get(own)! >= this.#most
      const { next } = page
      const isThrough = page.content.length === 0 && page.complete
      const isEnd = isEnough || isThrough || next === null || next === after
      await this.#writeGroups(groups.ready(isEnd), reading)
      if (isEnd || this.unread) break
      after = next
    }
    if (this.found === 0 && !this.unread) await suggestFields(client, query, this.#world)
    return [...missing.values()]
  }

  /** Prints records, with a line between groups that do not touch. */
  async #writeGroups(records: readonly Grouped[], reading: Reading): Promise<void> {
    const { isMerged, isAlone, target } = reading
    const isNamed = isMerged || isAlone || target !== ''
    const lines = records.flatMap(({ label, line, isApart }) => {
      const shown = this.#printer.print(line, reading, true)
      const prefix = isNamed ? this.#printer.prefix(label) : show``
      return isApart && !this.#isJson ? [show`${prefix}--`, shown] : [shown]
    })
    await this.#write(lines)
  }

  async sum(): Promise<void> {
    const counts = [...this.#counts]
    const prefix = (label: string) => (this.#isLabelled ? this.#printer.prefix(label) : show``)
    if (this.#only === 'count')
      await this.#write(counts.map(([label, count]) => show`${prefix(label)}${printable(String(count))}`))
    if (this.#only === 'name')
      await this.#write(counts.flatMap(([label, count]) => (count > 0 ? [this.#printer.name(label)] : [])))
  }

  async #write(lines: readonly Shown[]): Promise<void> {
    if (lines.length > 0 && !this.unread)
      this.unread = !(await this.#world.stdout.write(show`${joined(lines, '\n')}\n`))
  }

  /** Counts records; false if their log has enough of them. */
  #add(label: string, records: number): boolean {
    const count = this.#counts.get(label) ?? 0
    if (count + records > this.#most) return false
    this.#counts.set(label, count + records)
    return true
  }
}

/** How many matches one request asks for. */
const MATCHES_AT_ONCE = 200
/** One more record than is shown tells whether groups touch, and a node gives 100 on either side. */
const MOST_CONTEXT = 99

/** How many records around each match are wanted; null without the flag. */
function contextOf(given: CommandLine): number | null {
  if (!given.flags.has('context')) return null
  const count = numberOf(given, 'context', 0)
  if (count > MOST_CONTEXT)
    throw new UsageError(`Cannot use --context "${count}": it must be at most ${MOST_CONTEXT}.`)
  return count
}

const LONGEST_LINE = 256 * 1024 * 1024

/** The lines of a stream, as many at a time as arrive together. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest: string[] = []
  let size = 0
  for await (const bytes of body) {
    const text = decoder.decode(bytes, { stream: true })
    const at = text.lastIndexOf('\n')
    if (at >= 0) {
      yield (rest.join('') + text.slice(0, at)).split('\n')
      rest = []
      size = 0
    }
    size += text.length
    if (size > LONGEST_LINE)
      throw new UsageError(`The node sends a line of more than ${LONGEST_LINE / 1024 / 1024} MiB.`)
    rest.push(text.slice(at + 1))
  }
  const last = rest.join('') + decoder.decode()
  if (last) yield [last]
}
