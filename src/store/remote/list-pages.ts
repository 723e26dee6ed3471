import { byCodePoint, type Entry, type ListOptions, StoreError } from '../store.ts'
import { begin, type Call, type Retry } from './retry.ts'

/** One page of a listing, and the token of the next one. */
export interface ListPage {
  entries: Entry[]
  next: string | null
}

/** The pages of one listing: ten million keys. More is an endless listing. */
const MAX_PAGES = 10_000
/** Services may send an empty page now and then, but not this many in a row. */
const MAX_EMPTY_PAGES = 20

/**
 * The entries of a listing, one page after the other, as they are consumed. It ends with an error when the service
 * repeats itself, never ends, or takes longer than `listDeadline`.
 */
export async function* listPages(
  retry: Retry,
  { signal, after, limit = Number.POSITIVE_INFINITY }: ListOptions,
  fetchPage: (token: string | null, call: Call) => Promise<ListPage>,
): AsyncGenerator<Entry, void, undefined> {
  const guard = new EndlessGuard()
  let waited = 0
  let left = limit
  let token: string | null = null
  while (left > 0) {
    const start = retry.now()
    const page: ListPage = await fetchPage(token, begin(retry, signal, retry.listDeadline - waited))
    // Only the service's time counts, not the time that the consumer takes.
    waited += retry.now() - start
    guard.check(page)
    for (const entry of inOrder(page.entries)) {
      if (after !== undefined && byCodePoint(entry.key, after) <= 0) continue
      yield entry
      if (--left <= 0) return
    }
    if (page.next === null) return
    if (waited >= retry.listDeadline)
      throw new StoreError('timeout', 'The storage did not complete a listing in time')
    token = page.next
  }
}

/** Detects listings that repeat themselves or never end. */
class EndlessGuard {
  readonly #tokens = new Set<string>()
  readonly #firstKeys = new Set<string>()
  #pages = 0
  #empty = 0

  check({ entries, next }: ListPage): void {
    const first = entries[0]?.key
    this.#empty = first === undefined ? this.#empty + 1 : 0
    const repeated = first !== undefined && this.#firstKeys.has(first)
    if (first !== undefined) this.#firstKeys.add(first)
    if (next === null) return
    if (repeated || this.#tokens.has(next))
      throw new StoreError('unavailable', 'The storage listed the same page twice')
    this.#tokens.add(next)
    if (++this.#pages >= MAX_PAGES || this.#empty >= MAX_EMPTY_PAGES)
      throw new StoreError('unavailable', 'The storage sent an endless listing')
  }
}

/** A page comes as keys and then folders, and from some services in no order at all. */
function inOrder(entries: Entry[]): Entry[] {
  for (let i = 1; i < entries.length; i++)
    if (byCodePoint(entries[i - 1]!.key, entries[i]!.key) > 0)
      return entries.sort((a, b) => byCodePoint(a.key, b.key))
  return entries
}

/** The entry of a folder in a shallow list. */
export function folderEntry(key: string): Entry {
  return { key, size: 0, modified: 0, etag: '""', folder: true }
}

/** How many keys a page should hold. An `after` that is a folder comes back with the page and is skipped. */
export function pageSize({ limit = 1000, after = '' }: ListOptions): number {
  return Math.max(1, Math.min(1000, limit + (after.endsWith('/') ? 1 : 0)))
}
