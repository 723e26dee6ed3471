import type { Entry } from '../../store/store.ts'

/** A folder with more than a page of objects whose names sort by time. */
export interface SortedFolder {
  first: readonly Entry[]
  pageSize: number
  timeOf(entry: Entry): number
  /** A page of the objects at or after an instant, which is a full second. */
  pageAt(instant: number): Promise<Entry[]>
  pageAfter(entry: Entry): Promise<Entry[]>
  /** Objects from here on are not wanted; infinity for all. */
  end: number
  /** Where the newest object probably is: now, or the end of the folder's period. */
  likelyEnd: number
}

/** How much of a page a chunk is expected to fill, so that one request is mostly enough for it. */
const FILL = 0.9
const SECOND = 1000
/** Up to this many pages are read one after another instead of searching for the end. */
const FEW_PAGES = 2

/**
 * The objects of a folder in chunks of about a page, the newest chunk first. Storage lists only forward, so a chunk
 * begins where the density of the objects suggests. The newest chunk may include objects after `end`.
 */
export async function* newestFirst(folder: SortedFolder): AsyncGenerator<Entry[]> {
  const { first, timeOf, end } = folder
  const low = secondOf(timeOf(first.at(-1)!))
  const known = first.filter((entry) => timeOf(entry) < low)
  if (end <= low) return yield [...first]
  const span = Math.max(SECOND, FILL * (timeOf(first.at(-1)!) - timeOf(first[0]!)))
  const top = await newestChunk(folder, low, span)
  yield top.entries
  let bound = top.from
  let width = widthOf(folder, top.entries, span)
  while (bound > low) {
    const from = Math.max(low, secondOf(Math.min(bound - SECOND, bound - width)))
    const entries = (await upTo(folder, await folder.pageAt(from), bound)).filter(
      (entry) => timeOf(entry) < bound,
    )
    yield entries
    width = entries.length === 0 ? 4 * width : Math.min(4 * width, widthOf(folder, entries, width))
    bound = from
  }
  yield known
}

/** The last chunk that begins before the end. Half of what is left is ruled out by each request. */
async function newestChunk(folder: SortedFolder, low: number, span: number) {
  const { timeOf, end, pageSize } = folder
  let lowest = low
  let highest = Math.max(low + SECOND, Math.min(end, folder.likelyEnd))
  for (let at = highest - span; ; at = (lowest + highest) / 2) {
    const from = secondOf(Math.max(lowest, at))
    const page = await folder.pageAt(from)
    if (!page.some((entry) => timeOf(entry) < end)) {
      // The first page ends here, so something is there, unless it was deleted meanwhile.
      if (from <= lowest) return { from, entries: page }
      highest = from
      continue
    }
    const last = timeOf(page.at(-1)!)
    const pagesLeft = (highest - last) / Math.max(1, last - from)
    const isWhole = page.length < pageSize || last >= end
    if (isWhole || pagesLeft <= FEW_PAGES || last <= lowest)
      return { from, entries: await upTo(folder, page, end) }
    lowest = last
  }
}

/** A page and those after it, up to the first object at or after a bound. */
async function upTo(folder: SortedFolder, page: Entry[], bound: number): Promise<Entry[]> {
  const entries = page
  for (let last = page; last.length >= folder.pageSize && folder.timeOf(last.at(-1)!) < bound; ) {
    last = await folder.pageAfter(last.at(-1)!)
    entries.push(...last)
  }
  return entries
}

/** How long a period with most of a page of objects is, if they are as dense as these. */
function widthOf({ timeOf, pageSize }: SortedFolder, entries: readonly Entry[], otherwise: number): number {
  if (entries.length < 2) return otherwise
  const period = timeOf(entries.at(-1)!) - timeOf(entries[0]!)
  return Math.max(SECOND, (FILL * pageSize * period) / entries.length)
}

function secondOf(time: number): number {
  return Math.floor(time / SECOND) * SECOND
}
