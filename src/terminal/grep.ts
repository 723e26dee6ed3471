import type { LogQuery } from '../client.ts'
import { type CommandLine, UsageError } from '../usage.ts'
import { filtersOf, numberOf, type Target, targetsOf } from './connect.ts'
import { named } from './output/notes.ts'
import { clean, cleanName, needsRecords, printed, type Style } from './output/records.ts'
import { withSpinner } from './output/spinner.ts'
import { FOUND, NOTHING, type World } from './output/world.ts'

/** `nodestate grep`: every record of the logs that matches, oldest first, streamed as the node finds them. */
export async function grep(given: CommandLine, style: Style, world: World): Promise<number> {
  const { targets, rest } = await targetsOf(given, world)
  const [text, ...files] = rest
  if (text === undefined || text === '')
    throw new UsageError('Say what to search for: nodestate grep TEXT FILE…')
  if (files.length === 0) throw new UsageError('Say which log to search: nodestate ls shows the names.')
  const query = queryOf(given, text)
  const needles = given.flags.has('extended-regexp') || given.flags.has('invert-match') ? [] : [text]
  const marking = { ...style, needles: [...needles, ...(given.flags.get('grep') ?? [])] }
  const several = targets.length * files.length > 1
  let found = 0
  let index = 0
  for (const target of targets)
    for (const file of files) {
      const label = cleanName(targets.length > 1 ? `${target.name} ${file}` : file, style)
      const prefix = several ? `${style.paint.label(index++, label)}${style.paint.dim(':')}` : ''
      const search = new Search({ target, query: { ...query, file }, style: marking, world }, given)
      found += await named(file, () => search.run(prefix, label))
      if (world.signal.aborted || search.unread) return found > 0 ? FOUND : NOTHING
    }
  return found > 0 ? FOUND : NOTHING
}

function queryOf(given: CommandLine, text: string): Omit<LogQuery, 'file'> {
  const filters = filtersOf(given)
  const pattern = given.flags.has('extended-regexp')
  const key = given.flags.has('invert-match') ? (pattern ? 'notregex' : 'not') : pattern ? 'regex' : 'q'
  return { ...filters, [key]: [text, ...((filters[key] as readonly string[] | undefined) ?? [])] }
}

/** Which log is searched for what, and how hits are printed. */
interface Where {
  target: Target
  query: LogQuery
  style: Style
  world: World
}

/** The search of one log. */
class Search {
  /** Whether the reader of the output is gone. */
  unread = false
  readonly #target: Target
  readonly #query: LogQuery
  readonly #style: Style
  readonly #world: World
  readonly #most: number
  readonly #only: 'count' | 'name' | null
  #found = 0

  constructor(where: Where, given: CommandLine) {
    this.#target = where.target
    this.#query = where.query
    this.#style = where.style
    this.#world = where.world
    this.#only = given.flags.has('files-with-matches') ? 'name' : given.flags.has('count') ? 'count' : null
    this.#most = this.#only === 'name' ? 1 : numberOf(given, 'max-count', Number.POSITIVE_INFINITY)
  }

  /** Prints what is found; returns the number of records. */
  async run(prefix: string, label: string): Promise<number> {
    const { stdout } = this.#world
    await this.#lines(prefix)
    if (this.#only === 'name' && this.#found > 0) this.unread = !(await stdout.write(`${label}\n`))
    if (this.#only === 'count') this.unread = !(await stdout.write(`${prefix}${this.#found}\n`))
    return this.#found
  }

  /** Records are counted, so they are requested as JSON if a record may have more than one line. */
  async #lines(prefix: string): Promise<void> {
    const records =
      needsRecords(this.#style) || this.#only !== null || this.#most !== Number.POSITIVE_INFINITY
    const query = records ? { ...this.#query, raw: true } : this.#query
    const stop = new AbortController()
    const signal = AbortSignal.any([this.#world.signal, stop.signal])
    const { body } = await withSpinner(this.#world, `searching ${this.#query.file}`, () =>
      this.#target.client.export(query, records ? 'ndjson' : 'text', { signal }),
    )
    const print = (line: string) =>
      records ? printed(line, this.#style, prefix) : prefix + clean(line, this.#style)
    for await (const batch of linesOf(body)) {
      const wanted = batch.slice(0, this.#most - this.#found)
      this.#found += wanted.length
      if (this.#only === null && wanted.length > 0)
        this.unread = !(await this.#world.stdout.write(`${wanted.map(print).join('\n')}\n`))
      if (this.unread || this.#found >= this.#most) {
        stop.abort()
        return
      }
    }
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
