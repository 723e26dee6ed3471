import { byCodePoint, type Entry, type ListOptions, StoreError } from '../store.ts'
import { begin, type Call, type Retry } from './retry.ts'

export interface ListPage {
  entries: Entry[]
  next: string | null
}

/** The pages of one listing: three million keys. */
const MAX_PAGES = 3_000
/** Services may send pages that are not even half full now and then, but not this many in a row. */
const MAX_SHORT_PAGES = 50
/** `listDeadline` is for this many pages, so that it bounds a slow service but not a large bucket. */
const PAGES_PER_DEADLINE = 100

/**
 * The entries of a listing that are wanted, one page after the other, as they are consumed: memory holds one page. Keys
 * that a service lists twice are given once. The listing fails when the service goes back, never ends, or is too slow.
 */
export async function* listPages(
  retry: Retry,
  options: ListOptions,
  isWanted: (entry: Entry) => boolean,
  fetchPage: (token: string | null, call: Call) => Promise<ListPage>,
): AsyncGenerator<Entry, void, undefined> {
  const { signal, after, limit = Number.POSITIVE_INFINITY } = options
  const check = listingGuard(pageSize(options))
  let waited = 0
  let left = limit
  let token: string | null = null
  for (let pages = 1; left > 0; pages++) {
    const start = retry.clock.elapsed()
    const page: ListPage = await fetchPage(token, begin(retry, signal, retry.listDeadline - waited))
    // Only the service's time counts, not the time that the consumer takes.
    waited += retry.clock.elapsed() - start
    for (const entry of check(page)) {
      if (!isWanted(entry) || (after !== undefined && byCodePoint(entry.key, after) <= 0)) continue
      yield entry
      if (--left <= 0) return
    }
    if (page.next === null) return
    if (waited >= retry.listDeadline)
      throw new StoreError('timeout', 'The storage did not complete a listing in time')
    if (pages % PAGES_PER_DEADLINE === 0) waited = 0
    token = page.next
  }
}

/**
 * Checks the pages of a listing, and gives the entries of each in order, each key once. Refuses a listing that goes back
 * or never ends.
 */
function listingGuard(pageSize: number) {
  let last: string | null = null
  let pages = 0
  let short = 0
  return ({ entries, next }: ListPage): Entry[] => {
    const sorted = inOrder(entries)
    if (last !== null && sorted.length > 0 && byCodePoint(sorted[0]!.key, last) < 0)
      throw new StoreError('unavailable', 'The storage listed its keys out of order')
    const found = sorted.filter(({ key }) => {
      const isNew = key !== last
      last = key
      return isNew
    })
    pages++
    short = found.length < pageSize / 2 ? short + 1 : 0
    if (next !== null && (pages >= MAX_PAGES || short >= MAX_SHORT_PAGES))
      throw new StoreError('unavailable', 'The storage sent an endless listing')
    return found
  }
}

/** A page comes as keys and then folders, and from some services in no order at all. */
function inOrder(entries: Entry[]): Entry[] {
  for (let i = 1; i < entries.length; i++)
    if (byCodePoint(entries[i - 1]!.key, entries[i]!.key) > 0)
      return entries.sort((a, b) => byCodePoint(a.key, b.key))
  return entries
}

export function folderEntry(key: string): Entry {
  return { key, size: 0, modified: 0, etag: '""', folder: true }
}

/** How many keys a page should hold. An `after` that is a folder comes back with the page and is skipped. */
export function pageSize({ limit = 1000, after = '' }: ListOptions): number {
  return Math.max(1, Math.min(1000, limit + (after.endsWith('/') ? 1 : 0)))
}
