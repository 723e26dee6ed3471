import type { LogQuery } from '../client.ts'
import { type CommandLine, UsageError } from '../usage.ts'
import { filtersOf, numberOf, type Target, targetsOf } from './connect.ts'
import { isUntimed, labelOf, MergedPrinter, namedLogs, tellMissing } from './merged.ts'
import { named } from './output/notes.ts'
import { clean, needsRecords, printed, type Style } from './output/records.ts'
import { withSpinner } from './output/spinner.ts'
import { FOUND, NOTHING, TROUBLE, type World } from './output/world.ts'

/** `nodestate grep`: every record of the logs that matches, in order of time, streamed as the node finds them. */
export async function grep(given: CommandLine, style: Style, world: World): Promise<number> {
  const { targets, rest } = await targetsOf(given, world)
  const [text, ...rested] = rest
  if (text === undefined || text === '')
    throw new UsageError('Say what to search for: nodestate grep TEXT FILE…')
  // Without a name, every log is searched.
  const files = rested.length === 0 ? ['*'] : rested
  const query = queryOf(given, text)
  const needles = given.flags.has('extended-regexp') || given.flags.has('invert-match') ? [] : [text]
  const marking = { ...style, needles: [...needles, ...(given.flags.get('grep') ?? [])] }
  const { isMerged, ...names } = namedLogs(given, files)
  const several = targets.length > 1
  const sum = { found: 0, isTrouble: false }
  for (const target of targets) {
    const printer = new MergedPrinter(target, marking, { several, end: ': ' })
    const where = { target, query: { ...query, ...names }, style: marking, world, printer, isMerged }
    const search = new Search({ ...where, name: several ? files[0]! : '' }, given)
    await named(files.join(' '), () => search.run())
    sum.found += search.found
    sum.isTrouble ||= search.isTrouble
    if (world.signal.aborted || search.unread) break
  }
  if (sum.isTrouble) return TROUBLE
  return sum.found > 0 ? FOUND : NOTHING
}

function queryOf(given: CommandLine, text: string): Omit<LogQuery, 'file'> {
  const filters = filtersOf(given)
  const pattern = given.flags.has('extended-regexp')
  const key = given.flags.has('invert-match') ? (pattern ? 'notregex' : 'not') : pattern ? 'regex' : 'q'
  return { ...filters, [key]: [text, ...((filters[key] as readonly string[] | undefined) ?? [])] }
}

/** Which logs are searched for what, and how hits are printed. */
interface Where {
  target: Target
  query: LogQuery
  style: Style
  world: World
  printer: MergedPrinter
  /** Whether records of several logs come in one answer, each with the name of its log. */
  isMerged: boolean
  /** What the log is called in front of its lines; empty if that goes without saying. */
  name: string
}

/** The search of one node. */
class Search {
  /** Whether the reader of the output is gone. */
  unread = false
  /** Whether a log could not be searched. */
  isTrouble = false
  readonly #where: Where
  readonly #most: number
  readonly #only: 'count' | 'name' | null
  /** How many records were found in each log. */
  readonly #counts = new Map<string, number>()

  constructor(where: Where, given: CommandLine) {
    this.#where = where
    this.#only = given.flags.has('files-with-matches') ? 'name' : given.flags.has('count') ? 'count' : null
    this.#most = this.#only === 'name' ? 1 : numberOf(given, 'max-count', Number.POSITIVE_INFINITY)
    for (const file of [where.query.file].flat()) if (!/[*?]/.test(file)) this.#counts.set(file, 0)
  }

  /** How many records were found. */
  get found(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
  }

  /** Prints what is found, or in which logs, or how much. */
  async run(): Promise<void> {
    const { query, world, printer, isMerged } = this.#where
    const missing = await this.#search(query, isMerged).catch((error) => {
      if (!isMerged || !isUntimed(error)) throw error
      return Object.fromEntries([...this.#counts.keys()].map((name) => [name, 'no-time']))
    })
    const { untimed, isTrouble } = await tellMissing(world, missing, query)
    this.isTrouble = isTrouble || (untimed.length > 0 && query.node !== undefined)
    // Logs without times cannot be merged: they come after the others.
    for (const file of query.node === undefined ? untimed : [])
      if (!this.unread) await this.#search({ ...query, file }, false)
    for (const [name, count] of this.#only === null ? [] : this.#counts) {
      const text = this.#only === 'count' ? `${this.#prefix(name)}${count}` : printer.label(name)
      if (this.#only === 'count' || count > 0) this.unread ||= !(await world.stdout.write(`${text}\n`))
    }
  }

  #prefix(name: string): string {
    const { isMerged, name: own, printer } = this.#where
    return isMerged || own !== '' ? printer.prefix(name) : ''
  }

  /** Records are counted, so they are requested as JSON if a record may have more than one line. */
  async #search(query: LogQuery, isMerged: boolean): Promise<Record<string, string>> {
    const { style, world, target, printer } = this.#where
    const records =
      isMerged || needsRecords(style) || this.#only !== null || this.#most !== Number.POSITIVE_INFINITY
    const stop = new AbortController()
    const signal = AbortSignal.any([world.signal, stop.signal])
    const alone = String(query.file)
    const { body, missing } = await withSpinner(world, `searching ${[query.file].flat().join(' ')}`, () =>
      target.client.export(records ? { ...query, raw: true } : query, records ? 'ndjson' : 'text', {
        signal,
      }),
    )
    const print = (line: string) => {
      if (isMerged) return printer.print(line)
      if (style.json) return printer.print(line)
      const prefix = this.#prefix(alone)
      return records ? printed(line, style, prefix) : prefix + clean(line, style)
    }
    for await (const batch of linesOf(body)) {
      const wanted = batch.filter((line) => this.#count(isMerged ? labelOf(JSON.parse(line)) : alone))
      if (this.#only === null && wanted.length > 0)
        this.unread = !(await world.stdout.write(`${wanted.map(print).join('\n')}\n`))
      if (this.unread || (!isMerged && this.#counts.get(alone)! >= this.#most)) {
        stop.abort()
        break
      }
    }
    return missing
  }

  /** Counts a record; false if its log has enough of them. */
  #count(name: string): boolean {
    const count = this.#counts.get(name) ?? 0
    if (count >= this.#most) return false
    this.#counts.set(name, count + 1)
    return true
  }
}

/** The lines of a stream, as many at a time as arrive together. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest: string[] = []
  try {
    for (;;) {
      const { value, done } = await reader.read()
      const text = done ? decoder.decode() : decoder.decode(value, { stream: true })
      const at = text.lastIndexOf('\n')
      if (at < 0) rest.push(text)
      else {
        yield (rest.join('') + text.slice(0, at)).split('\n')
        rest = [text.slice(at + 1)]
      }
      if (!done) continue
      const last = rest.join('')
      if (last) yield [last]
      return
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
