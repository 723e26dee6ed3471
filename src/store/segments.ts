import { BoundedMap } from '../kit/limits/bounded-map.ts'
import { type Clock, onAbort, systemClock } from '../kit/limits/clock.ts'
import { SharedWork } from '../kit/limits/once.ts'
import { parseFile } from './segment/names.ts'
import { entryOf, listShipped, parseTag } from './segments/listing.ts'
import { type Life, Lives } from './segments/lives.ts'
import { readLife, type Shipped } from './segments/pieces.ts'
import { segmentTexts, TextCache } from './segments/texts.ts'
import { Youngs } from './segments/youngs.ts'
import {
  type ByteRange,
  byCodePoint,
  type Entry,
  type EveryMember,
  type ListOptions,
  type ReadOptions,
  type Span,
  type Store,
  StoreError,
  type StoreRead,
} from './store.ts'

export { TextCache }

/** How shipped logs are read. */
export interface SegmentsOptions {
  /** The log that a file name belongs to: a mirror's `broker.log.1` is hidden where `broker.log` was shipped. */
  stemOf?: ((name: string) => string) | undefined
  /** Memory of the process in bytes, which decides how much text is inflated and kept. @default 2 GiB */
  memory?: number | undefined
  /** Whether logs may be in folders. @default as the mirror has it */
  nested?: boolean | undefined
  /** Where inflated text is kept, if several homes share that. @default its own */
  cache?: TextCache | undefined
  /** Whether requests may share fetches; a worker's may not. @default true */
  shared?: boolean | undefined
  /** Whether the mirror's folder need not exist, as a directory. @default false */
  optionalMirror?: boolean | undefined
  /** @default the system's */
  clock?: Clock | undefined
}

/**
 * The logs of a home: those that a shipper wrote as segments, and the mirrors in `logs/`. Where both have the same log,
 * segments take precedence. The newest life of a log has the log's name, older ones are `broker.log@000011`.
 */
export function segmentStore(home: Store, mirror: Store, options: SegmentsOptions = {}): Store {
  return new SegmentStore(home, mirror, options).store()
}

class SegmentStore {
  readonly #home: Store
  readonly #mirror: Store
  readonly #options: SegmentsOptions
  readonly #shipped: Shipped
  readonly #newest = new BoundedMap<string, { life: Life; at: number }>(10_000)
  readonly #checks = new SharedWork<Life | null>()

  constructor(home: Store, mirror: Store, options: SegmentsOptions) {
    this.#home = home
    this.#mirror = mirror
    this.#options = options
    const { cache = new TextCache(options.memory), shared = true } = options
    const youngs = new Youngs(home, cache)
    this.#shipped = { lives: new Lives(home, youngs), textOf: segmentTexts(home, youngs, cache, shared) }
  }

  /** The calls are properties, so that a copy such as `{ ...store, read }` keeps the others. */
  store(): EveryMember<Store> {
    const mirror = this.#mirror
    return {
      nested: this.#options.nested ?? mirror.nested,
      list: (prefix = '', options = {}) => this.#list(prefix, options),
      stat: async (key, options = {}) => {
        const found = await this.#resolve(key, options, (signal) => mirror.stat(key, { signal }))
        return 'life' in found ? entryOf(key, found.life) : found.mirrored
      },
      read: (key, range, options = {}) => this.#read(key, range, options),
      spans: (entry, signal) => this.#spans(entry, signal),
      watch: mirror.watch && ((key, changed) => mirror.watch!(key, changed)),
    }
  }

  async *#list(prefix: string, options: ListOptions): AsyncGenerator<Entry, void, undefined> {
    const { signal, shallow, folders, after, limit = Number.POSITIVE_INFINITY } = options
    const listing = listShipped(this.#home, this.#shipped.lives, prefix, { signal, clock: this.#clock })
    const mirrored = this.#listMirror(prefix, { signal, shallow, folders, after }, listing)
    const [{ logs, entries }, first] = await Promise.all([listing, mirrored.next()])
    if (logs.size === 0 && first.done && this.#options.optionalMirror)
      for await (const entry of this.#mirror.list(prefix, options)) yield entry
    entries.sort((a, b) => byCodePoint(a.key, b.key))
    let left = limit
    for await (const entry of merged(entries, first, mirrored)) {
      if (after !== undefined && byCodePoint(entry.key, after) <= 0) continue
      if (left-- <= 0) return
      yield entry
    }
  }

  /** The mirrored files that no shipped log hides, as they are consumed. */
  async *#listMirror(
    prefix: string,
    options: ListOptions,
    shipped: Promise<{ logs: Set<string> }>,
  ): AsyncGenerator<Entry, void, undefined> {
    try {
      for await (const entry of this.#mirror.list(prefix, options)) {
        const { logs } = await shipped
        if (!logs.has(this.#stemOf(entry.key)) && !logs.has(parseFile(entry.key).log)) yield entry
      }
    } catch (error) {
      const isMissing = error instanceof StoreError && error.code === 'unavailable'
      if (!this.#options.optionalMirror || !isMissing) throw error
    }
  }

  /** From the names of segments. The young text has none: what it says is read. */
  async #spans(
    { key, etag }: Pick<Entry, 'key' | 'etag'>,
    signal?: AbortSignal,
  ): Promise<readonly Span[] | null> {
    const { log } = parseFile(key)
    const found = parseTag(etag)
    if (!found) return null
    const spans: Span[] = []
    for (const segment of await this.#shipped.lives.finishedSegments({ log, ...found }, signal)) {
      if (segment.start !== (spans.at(-1)?.end ?? segment.start) || !segment.times) return null
      spans.push({ offset: segment.start, end: segment.end, ...segment.times })
    }
    return spans.length > 0 ? spans : null
  }

  async #read(key: string, range: ByteRange | undefined, options: ReadOptions): Promise<StoreRead | null> {
    const { log } = parseFile(key)
    const { ifMatch, ifNoneMatch, signal } = options
    const pinned = parseTag(ifMatch)
    if (pinned) {
      // Bytes below a size never change, so a tag is as good as a check.
      const life = { ...pinned, modified: 0, how: null }
      return readLife(this.#shipped, { key, log, life }, range, signal)
    }
    const found = await this.#resolve(key, options, (signal) =>
      this.#mirror.read(key, range, { ...options, signal }),
    )
    if (!('life' in found)) return found.mirrored
    const { life } = found
    if (ifMatch !== undefined) throw new StoreError('changed', `Cannot read "${key}": it is another file now`)
    if (ifNoneMatch === entryOf(key, life).etag)
      throw new StoreError('unchanged', `Did not read "${key}": it is unchanged`)
    return readLife(this.#shipped, { key, log, life }, range, signal)
  }

  /** Requests a shipped file and, on a cold instance, the mirror's in parallel. */
  async #resolve<T>(key: string, options: ReadOptions, askMirror: (signal: AbortSignal) => Promise<T>) {
    const { log, life } = parseFile(key)
    const isWarm = this.#newest.has(life === null ? this.#stemOf(key) : log)
    if (isWarm) {
      const found = await this.#find(key, options)
      if (found === 'hidden') return { mirrored: null }
      if (found) return { life: found }
    }
    const asking = new AbortController()
    const leave = () => asking.abort(options.signal?.reason)
    const stay = onAbort(options.signal, leave)
    const mirrored = askMirror(asking.signal)
    mirrored.catch(() => {})
    try {
      const found = isWarm ? null : await this.#find(key, options)
      if (found === null) return { mirrored: await mirrored }
      asking.abort()
      mirrored.then(discard, () => {})
      return found === 'hidden' ? { mirrored: null } : { life: found }
    } finally {
      stay()
    }
  }

  /** A file of a shipped log; null when the log was not shipped, `hidden` when it was, but has no such file. */
  async #find(key: string, { signal, maxAge = 0 }: ReadOptions): Promise<Life | 'hidden' | null> {
    const { log, life } = parseFile(key)
    const name = life === null ? this.#stemOf(key) : log
    if (!isLogName(name)) return null
    const [newest, older] = await Promise.all([
      this.#newestOf(name, maxAge, signal),
      life === null ? null : this.#shipped.lives.one(name, life, signal),
    ])
    if (!newest) return null
    if (life === null) return name === key ? newest : 'hidden'
    return older && life < newest.life && older.size > 0 ? older : 'hidden'
  }

  /** The newest life, possibly up to `maxAge` old; stale while revalidating. */
  async #newestOf(log: string, maxAge: number, signal?: AbortSignal): Promise<Life | null> {
    const { shared = true } = this.#options
    const known = this.#newest.get(log)
    const start = this.#clock.elapsed()
    if (known && start - known.at < maxAge) return known.life
    if (known) known.at = start
    const { lives } = this.#shipped
    const life = await (maxAge > 0 && shared
      ? this.#checks.run(log, () => lives.newest(log))
      : lives.newest(log, signal))
    if (life) this.#newest.set(log, { life, at: start })
    else this.#newest.delete(log)
    return life
  }

  get #clock(): Clock {
    return this.#options.clock ?? systemClock
  }

  #stemOf(name: string): string {
    return this.#options.stemOf?.(name) ?? name
  }
}

/** A list and a listing whose first entry is known, both in key order, as one. */
async function* merged(
  list: Entry[],
  first: IteratorResult<Entry, void>,
  listing: AsyncGenerator<Entry, void, undefined>,
): AsyncGenerator<Entry, void, undefined> {
  let next = first
  try {
    for (const entry of list) {
      for (; !next.done && byCodePoint(next.value.key, entry.key) < 0; next = await listing.next())
        yield next.value
      yield entry
    }
    for (; !next.done; next = await listing.next()) yield next.value
  } finally {
    await listing.return()
  }
}

function discard(read: unknown): void {
  const body = (read as Partial<StoreRead> | null)?.body
  if (body instanceof ReadableStream) body.cancel().catch(() => {})
}

/** Whether a name can be a folder of the layout. */
function isLogName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !name.includes('/')
}
