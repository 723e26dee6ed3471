import { BoundedMap } from '../limits/bounded-map.ts'
import { each } from '../limits/each.ts'
import type { Piece } from '../segment/cover.ts'
import { parseFile } from '../segment/names.ts'
import { entryOf, listShipped, parseTag } from './segments/listing.ts'
import { type Life, Lives } from './segments/lives.ts'
import { type SegmentTexts, segmentTexts, TextCache } from './segments/texts.ts'
import {
  type ByteRange,
  byCodePoint,
  clampRange,
  type Entry,
  MissingBytes,
  type ReadOptions,
  type Store,
  StoreError,
  type StoreRead,
} from './store.ts'

/** How shipped logs are read. */
export interface SegmentsOptions {
  /** The log that a file name belongs to: a mirror's `broker.log.1` is hidden where `broker.log` was shipped. */
  stemOf?: ((name: string) => string) | undefined
  /** Bytes of inflated text to keep. @default 32 MiB */
  keepBytes?: number | undefined
  /** Where it is kept, if several homes share that. @default its own, of `keepBytes` */
  cache?: TextCache | undefined
  /** Whether requests may share fetches; a worker's may not. @default true */
  shared?: boolean | undefined
  /** Whether the mirror's folder need not exist, as a directory. @default false */
  optionalMirror?: boolean | undefined
  /** @default Date.now */
  now?: (() => number) | undefined
}

/** How much inflated text to keep. */
export const KEEP_BYTES = 32 * 1024 * 1024
/** Ranges up to this size are one array, with their segments fetched in parallel. */
const WHOLE = 1024 * 1024
/** How far ahead of a stream its segments are located. */
const WINDOW = 256 * 1024 * 1024
const AT_ONCE = 6

/**
 * The logs of a home: those that a shipper wrote as segments, and the mirrors in `logs/`. Where both have the same log,
 * segments take precedence. The newest life of a log has the log's name, older ones are `broker.log@000011`.
 */
export function segmentStore(home: Store, mirror: Store, options: SegmentsOptions = {}): Store {
  const { stemOf = (name) => name, shared = true, now = Date.now } = options
  const { cache = new TextCache(options.keepBytes ?? KEEP_BYTES) } = options
  const lives = new Lives(home)
  const texts = segmentTexts(home, { cache, shared })
  const looks = new BoundedMap<string, Look>(10_000)
  const looking = new Map<string, Promise<Life | null>>()

  /** A file of a shipped log; null when the log was not shipped, `hidden` when it was, but has no such file. */
  async function find(key: string, { signal, maxAge = 0 }: ReadOptions): Promise<Life | 'hidden' | null> {
    const { log, life } = parseFile(key)
    const name = life === null ? stemOf(key) : log
    if (!isLogName(name)) return null
    const [newest, older] = await Promise.all([
      newestOf(name, maxAge, signal),
      life === null ? null : lives.one(name, life, signal),
    ])
    if (!newest) return null
    if (life === null) return name === key ? newest : 'hidden'
    return older && life < newest.life && older.size > 0 ? older : 'hidden'
  }

  /** The newest life; one checked within `maxAge` will do, and so will the last one while a check is running. */
  async function newestOf(log: string, maxAge: number, signal?: AbortSignal): Promise<Life | null> {
    const look = looks.get(log)
    const start = now()
    if (look && start - look.at < maxAge && start >= look.at) return look.life
    if (look) look.at = start
    const life = await (maxAge > 0 && shared ? sharedLook(log) : lives.newest(log, signal))
    if (life) looks.set(log, { life, at: start })
    else looks.delete(log)
    return life
  }

  /** Concurrent followers share one check. */
  function sharedLook(log: string): Promise<Life | null> {
    let running = looking.get(log)
    if (!running) {
      running = lives.newest(log).finally(() => looking.delete(log))
      looking.set(log, running)
    }
    return running
  }

  /** Requests a shipped file and, on a cold instance, the mirror's in parallel. */
  async function resolve<T>(
    key: string,
    conditions: ReadOptions,
    ask: (signal: AbortSignal) => Promise<T>,
  ): Promise<{ life: Life } | { mirrored: T | null }> {
    const { log, life } = parseFile(key)
    const warm = looks.has(life === null ? stemOf(key) : log)
    if (warm) {
      const found = await find(key, conditions)
      if (found === 'hidden') return { mirrored: null }
      if (found) return { life: found }
    }
    const asking = new AbortController()
    const leave = () => asking.abort(conditions.signal?.reason)
    conditions.signal?.addEventListener('abort', leave, { once: true })
    const mirrored = ask(asking.signal)
    mirrored.catch(() => {})
    try {
      const found = warm ? null : await find(key, conditions)
      if (found === null) return { mirrored: await mirrored }
      asking.abort()
      mirrored.then(discard, () => {})
      return found === 'hidden' ? { mirrored: null } : { life: found }
    } finally {
      conditions.signal?.removeEventListener('abort', leave)
    }
  }

  async function mirrorList(...asked: Parameters<Store['list']>): Promise<Entry[]> {
    const entries: Entry[] = []
    try {
      for await (const entry of mirror.list(...asked)) entries.push(entry)
    } catch (error) {
      if (options.optionalMirror && error instanceof StoreError && error.code === 'unavailable')
        return entries
      throw error
    }
    return entries
  }

  return {
    async *list(prefix = '', listing = {}) {
      const { signal, shallow, folders, after, limit = Number.POSITIVE_INFINITY } = listing
      const [shipped, mirrored] = await Promise.all([
        listShipped(home, lives, prefix, { signal, hints: prefix === '' }),
        mirrorList(prefix, { signal, shallow, folders }),
      ])
      if (shipped.logs.size === 0 && mirrored.length === 0 && options.optionalMirror)
        for await (const entry of mirror.list(prefix, listing)) yield entry
      const others = mirrored.filter(
        ({ key }) => !shipped.logs.has(stemOf(key)) && !shipped.logs.has(parseFile(key).log),
      )
      let left = limit
      for (const entry of [...shipped.entries, ...others].sort((a, b) => byCodePoint(a.key, b.key))) {
        if (after !== undefined && byCodePoint(entry.key, after) <= 0) continue
        if (left-- <= 0) return
        yield entry
      }
    },

    async stat(key, conditions = {}) {
      const found = await resolve(key, conditions, (signal) => mirror.stat(key, { signal }))
      return 'life' in found ? entryOf(key, found.life) : found.mirrored
    },

    async read(key, range, conditions = {}) {
      const pinned = parseTag(conditions.ifMatch)
      if (pinned) {
        // Bytes below a size never change, so a tag is as good as a check.
        const { log } = parseFile(key)
        const life = { ...pinned, modified: 0, how: null }
        return readLife({ lives, texts }, { key, log, life, range }, conditions)
      }
      const found = await resolve(key, conditions, (signal) =>
        mirror.read(key, range, { ...conditions, signal }),
      )
      if (!('life' in found)) return found.mirrored
      const { life } = found
      const { etag } = entryOf(key, life)
      if (conditions.ifMatch !== undefined)
        throw new StoreError('changed', `Cannot read "${key}": it is another file now`)
      if (conditions.ifNoneMatch === etag)
        throw new StoreError('unchanged', `Did not read "${key}": it is unchanged`)
      return readLife({ lives, texts }, { key, log: parseFile(key).log, life, range }, conditions)
    },

    ...(mirror.watch && { watch: mirror.watch.bind(mirror) }),
  }
}

interface Look {
  life: Life
  at: number
}

interface Shipped {
  lives: Lives
  texts: SegmentTexts
}

interface Asked {
  key: string
  log: string
  life: Life
  range: ByteRange | undefined
}

/** Bytes of a life. A suffix that reaches into a hole is cut there; any other range that needs it is an error. */
async function readLife(
  shipped: Shipped,
  { key, log, life, range }: Asked,
  { signal }: ReadOptions,
): Promise<StoreRead> {
  const entry = entryOf(key, life)
  const asked = clampRange(range, life.size)
  const to = asked.offset + asked.length
  const place = { key, log, life: life.life, size: life.size }
  const fromEnd = range === undefined || 'suffix' in range
  if (asked.length === 0) return { entry, ...asked, body: new Uint8Array(0) }
  const first = fromEnd ? asked.offset : Math.max(asked.offset, 0)
  const window = fromEnd ? to : Math.min(to, first + WINDOW)
  const { pieces, missing } = await shipped.lives.locate(place, [first, window], { last: fromEnd, signal })
  if (missing && !(fromEnd && (missing.head || range !== undefined))) throw new MissingBytes(key, missing)
  const offset = missing ? Math.min(missing.to, to) : asked.offset
  const length = to - offset
  const source = new PieceSource(shipped, place, { pieces, from: offset, to }, signal)
  const body = length <= WHOLE ? await source.all() : source.stream()
  return { entry, offset, length, body, ...(missing && { missing }) }
}

/** The bytes of a life from one place to another, segment by segment. */
class PieceSource {
  readonly #shipped: Shipped
  readonly #place: { key: string; log: string; life: number; size: number }
  readonly #signal: AbortSignal | undefined
  readonly #to: number
  #pieces: Piece[]
  #at: number
  #ahead: Promise<Uint8Array> | null = null

  constructor(
    shipped: Shipped,
    place: { key: string; log: string; life: number; size: number },
    { pieces, from, to }: { pieces: Piece[]; from: number; to: number },
    signal: AbortSignal | undefined,
  ) {
    this.#shipped = shipped
    this.#place = place
    this.#signal = signal
    this.#pieces = pieces
    this.#at = from
    this.#to = to
  }

  /** All of it, fetched in parallel. */
  async all(): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(this.#to - this.#at)
    await each(this.#pieces, AT_ONCE, async (piece) => {
      bytes.set(await this.#read(piece), piece.from - this.#at)
    })
    return bytes
  }

  /** One segment after the other, the next one fetched ahead. */
  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const piece = await (this.#ahead ?? this.#next())
          this.#ahead = null
          // Texts that are cached or fetched for several clients outlive this client.
          this.#signal?.throwIfAborted()
          this.#at += piece.length
          controller.enqueue(piece)
          if (this.#at >= this.#to) return controller.close()
          this.#ahead = this.#next()
          this.#ahead.catch(() => {})
        },
      },
      { highWaterMark: 0 },
    )
  }

  async #next(): Promise<Uint8Array> {
    if (this.#pieces.length === 0) {
      const range = [this.#at, Math.min(this.#to, this.#at + WINDOW)] as const
      const { pieces, missing } = await this.#shipped.lives.locate(this.#place, range, {
        signal: this.#signal,
      })
      if (missing && pieces.length === 0) throw new MissingBytes(this.#place.key, missing)
      this.#pieces = pieces
    }
    return this.#read(this.#pieces.shift()!)
  }

  async #read({ segment, from, to }: Piece): Promise<Uint8Array> {
    const { log, life, key } = this.#place
    const { lives, texts } = this.#shipped
    const text = await texts.read(log, life, segment, this.#signal)
    if (text) return text.subarray(from - segment.start, to - segment.start)
    // Gone since it was listed. Another segment may hold the same bytes.
    lives.forget(log, life, segment)
    const { pieces, missing } = await lives.locate(this.#place, [from, to], { signal: this.#signal })
    if (missing) throw new MissingBytes(key, missing)
    const bytes = new Uint8Array(to - from)
    for (const piece of pieces) bytes.set(await this.#read(piece), piece.from - from)
    return bytes
  }
}

/** Cancels an unneeded response from a mirror. */
function discard(read: unknown): void {
  const body = (read as Partial<StoreRead> | null)?.body
  if (body instanceof ReadableStream) body.cancel().catch(() => {})
}

/** Whether a name can be a folder of the layout. */
function isLogName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !name.includes('/')
}
