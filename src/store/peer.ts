import { checkOptions } from '../kit/checked.ts'
import { PEER, type PeerAddress, PeerWire, peerError } from './peer/wire.ts'
import { type PartAnswer, RemoteBucket } from './remote/bucket.ts'
import { folderEntry, type ListPage } from './remote/list-pages.ts'
import { conditional, dateOf, lengthOf, partOf, rangeHeader } from './remote/parts.ts'
import { type AttemptTimer, RETRY, type RetryOptions, TransientError } from './remote/retry.ts'
import {
  type ByteRange,
  type Entry,
  type ListOptions,
  type ReadOptions,
  type Store,
  StoreError,
} from './store.ts'

/** Where a peer is, and how long to wait for it. */
export type PeerStoreOptions = PeerAddress & RetryOptions

/** A peer is near: what it does not answer soon, it does not answer at all. */
const PATIENCE = { retries: 1, timeout: 4000, deadline: 8000, listDeadline: 8000, stall: 5000 }

/**
 * The logs of another nodestate, over its API: `log/list?etag=true`, and HEAD and ranges of `log/download`. Times are
 * exact to the millisecond, as those of the peer, which must put the files of a log in the same order. Nothing that it says
 * is believed before it is checked.
 */
export function peerStore(options: PeerStoreOptions): Store {
  checkOptions(options, { ...RETRY, ...PEER }, { what: 'peerStore', needed: ['url'] })
  return storeOver(new PeerWire(options), options)
}

/** The same over a wire that others use, too. */
export function storeOver(wire: PeerWire, options: RetryOptions = {}): Store {
  return new PeerLogs(wire, { ...PATIENCE, ...options }).store()
}

class PeerLogs extends RemoteBucket {
  readonly #wire: PeerWire

  constructor(wire: PeerWire, options: RetryOptions) {
    super({ ...options, nested: true })
    this.#wire = wire
  }

  protected async head(key: string, conditions: ReadOptions, timer: AttemptTimer): Promise<Entry | null> {
    const request = { method: 'HEAD', path: downloadOf(key), headers: conditional(conditions) } as const
    const answer = await this.#wire.send(request, timer)
    if (answer.status === 200) return entryOf(key, answer, lengthOf(answer))
    // An answer to HEAD has no body that says whether the file or the whole API is missing.
    if (answer.status === 404)
      return (await this.get(key, { offset: 0, length: 1 }, {}, timer))?.entry ?? null
    throw await peerError(this.#wire, answer, timer)
  }

  protected async get(
    key: string,
    range: ByteRange | undefined,
    conditions: ReadOptions,
    timer: AttemptTimer,
  ): Promise<PartAnswer | null | undefined> {
    const headers = { ...conditional(conditions), ...rangeHeader(range) }
    const answer = await this.#wire.send({ path: downloadOf(key), headers }, timer)
    if (answer.status === 416) return void (await answer.body?.cancel())
    if (answer.status === 404) {
      if ((await this.#wire.problemOf(answer, timer)) === 'unknown-file') return null
      throw new StoreError('unavailable', 'There is no nodestate at the address of the peer')
    }
    if (answer.status !== 200 && answer.status !== 206) throw await peerError(this.#wire, answer, timer)
    if (answer.headers.has('Content-Encoding'))
      throw new StoreError('unavailable', 'Something between here and the peer compresses its answers')
    return { ...partOf(key, range, answer, entryOf), ...dateOf(answer), body: answer.body }
  }

  protected async page(prefix: string, options: ListOptions, token: string | null, timer: AttemptTimer) {
    const after = token ?? options.after ?? ''
    const query = new URLSearchParams({ etag: 'true', ...(prefix && { prefix }), ...(after && { after }) })
    const answer = await this.#wire.send({ path: `api/v1/log/list?${query}` }, timer)
    if (answer.status !== 200) throw await peerError(this.#wire, answer, timer)
    if (/\bunknown-parameter\b/.test(answer.headers.get('X-Nodestate-Note') ?? '')) {
      await answer.body?.cancel()
      throw new StoreError('unavailable', 'The peer is too old: it does not know log/list?etag=true')
    }
    const entries = parseList(await this.#wire.json(answer, timer))
    const isDeep = ({ key }: Entry) => options.shallow && key.includes('/', prefix.length)
    const shown = entries.map((entry) =>
      isDeep(entry) ? folderEntry(entry.key.slice(0, entry.key.indexOf('/', prefix.length) + 1)) : entry,
    )
    return { entries: shown, next: nextOf(answer) } satisfies ListPage
  }

  protected override isKey(key: string): boolean {
    return super.isKey(key) && isName(key.replace(/\/$/, ''))
  }
}

function downloadOf(key: string): string {
  return `api/v1/log/download?file=${encodeURIComponent(key)}`
}

/** What can be a name: no empty segment, no `.` and `..`, and no control character but the tab. */
function isName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(name)) return false
  return !name.split('/').some((part) => part === '' || part === '.' || part === '..')
}

const ETAG = /^"[\x21\x23-\x7e]{1,200}"$/
const ID = /^[\x21-\x7e]{1,200}$/

/** The entries of a list. One that cannot be right is not what a nodestate sends, so the answer is not believed. */
function parseList(body: unknown): Entry[] {
  if (!Array.isArray(body)) throw notAList()
  return body.map(parseEntry).filter(({ key }) => isName(key))
}

function parseEntry(value: unknown): Entry {
  const { name, size, modified, etag, id, joined } = (value ?? {}) as Readonly<Record<string, unknown>>
  const time = typeof modified === 'string' ? Date.parse(modified) : Number.NaN
  const isText = typeof name === 'string' && typeof etag === 'string'
  if (!isText || !isSize(size) || Number.isNaN(time) || !ETAG.test(etag)) throw notAList()
  const hasId = typeof id === 'string' && ID.test(id)
  return { key: name, size, modified: time, etag, ...(hasId && { id }), ...(joined === true && { joined }) }
}

function isSize(size: unknown): size is number {
  return Number.isSafeInteger(size) && (size as number) >= 0
}

function notAList(): TransientError {
  return new TransientError(new StoreError('unavailable', 'The peer sent a list that makes no sense'))
}

/** Where the next part of a list begins; null if there is none. */
function nextOf(answer: Response): string | null {
  const target = /<([^>]*)>\s*;\s*rel="next"/.exec(answer.headers.get('Link') ?? '')?.[1]
  if (target === undefined || !URL.canParse(target, 'http://peer/')) return null
  return new URL(target, 'http://peer/').searchParams.get('after')
}

function entryOf(key: string, answer: Response, size: number): Entry {
  const etag = answer.headers.get('ETag') ?? ''
  const time = answer.headers.get('X-Nodestate-Modified') ?? answer.headers.get('Last-Modified') ?? ''
  const modified = Date.parse(time)
  const id = answer.headers.get('X-Nodestate-File')
  if (!ETAG.test(etag) || Number.isNaN(modified) || !isSize(size))
    throw new StoreError('unavailable', `The answer for "${key}" is not that of a file of a peer`)
  return { key, size, modified, etag, ...(id !== null && ID.test(id) && { id }) }
}
