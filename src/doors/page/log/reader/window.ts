import { type Client, type LogQuery, type Missing, ProblemError, type View } from '../../../client.ts'
import { type Item, isLate, timeIn, zoneOf } from '../record/record.ts'

interface WindowEvents {
  reset(): void
  /** Records went, or came, at an index. Those behind records that came in between have other seqs now. */
  spliced(index: number, removed: number, added: number): void
  /** Another record is the first that is not settled. */
  settled(): void
  /** Something else changed: what is being loaded, the connection, a failure. */
  status(): void
}

/**
 * The part of a log that is loaded: a run of records with a cursor at either end. It grows at both ends until it is full;
 * a log that is followed drops its oldest records then. A record's `seq` counts from where the window was opened and
 * never changes.
 */
export class LogWindow {
  items: Item[] = []
  firstSeq = 0
  /** Where the older page ends; null at the log's first byte. */
  older: string | null = null
  newer: string | null = null
  /** Whether the newest record was loaded by the last request. */
  atEnd = true
  loading: 'open' | 'older' | 'newer' | null = null
  /** Whether it has to search further than one page. */
  scanned = false
  live: 'off' | 'connecting' | 'live' | 'lost' = 'off'
  lost = ''
  failure: Error | null = null
  /** Sources that the last answer lacks, each with a reason. */
  missing: Missing[] = []
  /** What is special about the last answer, as short words. */
  notes: string[] = []
  /** The moment up to which every source of a fleet is complete. */
  settled: number | null = null
  readonly query: LogQuery
  readonly #client: Client
  readonly #events: WindowEvents
  readonly #abort = new AbortController()
  /** Cursors at known seqs: where older records can be dropped, and what links name. */
  #marks: Mark[] = []
  #follower: AbortController | null = null
  #chars = 0
  #pageSize = 256 * 1024
  /** The operator allows only small pages. */
  #capped = false
  /** Single records are longer than a page: they are requested by number. */
  #long = false

  constructor(client: Client, query: LogQuery, events: WindowEvents) {
    this.#client = client
    this.query = query
    this.#events = events
  }

  get endSeq(): number {
    return this.firstSeq + this.items.length
  }

  /** Whether it takes no more: the page opens another window to go on. */
  get full(): boolean {
    return this.items.length >= MAX_ITEMS || this.#chars >= MAX_CHARS
  }

  item(seq: number): Item | undefined {
    return this.items[seq - this.firstSeq]
  }

  close(): void {
    this.#abort.abort()
    this.#follower?.abort()
  }

  openTail(): Promise<void> {
    return this.#load('open', async () => {
      const { content, prev, next } = await this.#page({ size: FIRST })
      this.#set(content, { older: prev, newer: next })
      this.atEnd = true
    })
  }

  openStart(): Promise<void> {
    return this.#load('open', async () => {
      const { content, next } = await this.#page({ first: START, size: FIRST })
      this.#set(content, { older: null, newer: next })
      this.atEnd = content.length === 0
    })
  }

  /** The records on both sides of a cursor or a moment; resolves to the seq of the first one after it. */
  async openAround(edge: { before: string } | { until: string }): Promise<number> {
    let seq = 0
    await this.#load('open', async () => {
      const asked = this.#page({ ...edge, size: FIRST })
      const cursor = 'before' in edge ? edge.before : (await asked).next
      if (cursor === null) throw new Error('The answer has no cursor to continue from.')
      const [before, after] = await Promise.all([asked, this.#page({ after: cursor, size: FIRST })])
      seq = before.content.length
      const ends = { older: before.prev, newer: after.next ?? cursor }
      this.#set([...before.content, ...after.content], ends, [{ seq, cursor }])
      this.atEnd = after.content.length === 0
    })
    return seq
  }

  async loadOlder(): Promise<void> {
    if (this.loading !== null || this.older === null || this.full) return
    await this.#load('older', async () => {
      const page = await this.#page({ before: this.older!, size: this.#pageSize })
      this.#pageSize = Math.min(this.#pageSize * 2, 2 * 1024 * 1024)
      this.older = page.prev
      this.#prepend(page.content)
    })
  }

  async loadNewer(): Promise<void> {
    if (this.loading !== null || this.newer === null || this.full || this.#follower !== null) return
    await this.#load('newer', async () => {
      const page = await this.#page({ after: this.newer!, size: this.#pageSize })
      this.newer = page.next ?? this.newer
      this.atEnd = page.content.length === 0
      this.#append(page.content)
    })
  }

  async follow(): Promise<void> {
    if (this.#follower !== null || this.newer === null) return
    const follower = new AbortController()
    const { signal } = follower
    this.#follower = follower
    this.live = 'connecting'
    this.#events.status()
    // What a fleet has shipped, and what is missing, changes while nothing arrives, too.
    const settle = async () => {
      await this.#lines({ after: this.newer!, size: 0 }).catch(() => {})
      this.#events.status()
    }
    const timer = this.query.node === undefined ? undefined : setInterval(settle, SETTLE_MS)
    try {
      await this.#receive(signal)
    } catch (error) {
      if (!signal.aborted) this.failure = error as Error
    } finally {
      clearInterval(timer)
      if (this.#follower === follower) this.unfollow()
    }
  }

  /** Shows what arrives within a moment together. */
  async #receive(signal: AbortSignal): Promise<void> {
    let batch: Item[] = []
    let cursor = this.newer
    let timer: ReturnType<typeof setTimeout> | undefined
    const flush = () => {
      clearTimeout(timer)
      timer = undefined
      if (signal.aborted) return
      this.newer = cursor
      this.#append(batch)
      batch = []
    }
    try {
      for await (const event of this.#client.follow(this.query, { lastId: cursor, json: 'text', signal })) {
        if (event.type === 'open' || event.type === 'lost') {
          this.live = event.type === 'open' ? 'live' : 'lost'
          if (event.type === 'lost')
            this.lost =
              event.error instanceof ProblemError ? event.error.message : 'connection lost, trying again'
          this.failure = null
          this.#events.status()
        } else {
          cursor = event.id ?? cursor
          batch.push(event.type === 'record' ? event.data : { kind: event.type, text: event.data })
          timer ??= setTimeout(flush, GATHER_MS)
        }
      }
    } finally {
      flush()
    }
  }

  unfollow(): void {
    this.#follower?.abort()
    this.#follower = null
    this.live = 'off'
    this.#events.status()
  }

  /** How to name a record in a link: a number of records after (or before) a cursor. */
  place(seq: number): { cursor: string; offset: number } | null {
    let best = this.#marks[0]
    for (const mark of this.#marks) if (mark.seq <= seq) best = mark
    return best === undefined ? null : { cursor: best.cursor, offset: seq - best.seq }
  }

  /**
   * A page. A scan that found nothing within its budget continues where it stopped, until it finds something or reaches
   * the log's start or end. Going back, `next` stays where the first scan began.
   */
  async #page(page: Page): Promise<View<string[]>> {
    const isForward = page.after !== undefined || page.first !== undefined
    const began = await this.#lines(page)
    let found = began
    while (found.content.length === 0) {
      const onward = isForward ? !found.complete && found.next : found.prev
      if (!onward) break
      this.scanned = true
      this.#events.status()
      const edge = isForward ? { after: onward } : { before: onward }
      found = await this.#lines({ ...edge, size: page.size })
    }
    return isForward ? found : { ...found, next: began.next }
  }

  async #lines(page: Page): Promise<View<string[]>> {
    const { signal } = this.#abort
    const { size, ...rest } = page
    const few = rest.first === undefined ? { lines: FEW } : { first: FEW }
    const amount = this.#capped ? {} : this.#long ? { size: LONGEST, ...few } : { size }
    try {
      const found = await this.#client.lines({ ...this.query, ...rest, ...amount }, { signal })
      this.missing = found.missing
      this.notes = found.notes
      const settled = found.settled === null ? null : Date.parse(found.settled)
      if (settled !== this.settled) {
        this.settled = settled
        this.#events.settled()
      }
      const [first] = found.content
      // A record that is longer than the page comes in pieces: ask for whole records instead.
      const cut = found.content.length === 1 && first!.length > size / 4
      if (cut && !this.#long && !this.#capped) {
        this.#long = true
        return await this.#lines(page)
      }
      if (this.#long && found.content.length === FEW && weigh(found.content) < size) this.#long = false
      return found
    } catch (error) {
      // An operator may allow only small pages; without a size the node returns as much as it may.
      const refused =
        error instanceof ProblemError && error.code === 'bad-parameter' && /\bsize\b/.test(error.message)
      if (!refused || this.#capped) throw error
      this.#capped = true
      return this.#lines(page)
    }
  }

  async #load(kind: 'open' | 'older' | 'newer', work: () => Promise<void>) {
    const { signal } = this.#abort
    this.loading = kind
    this.failure = null
    this.scanned = false
    this.#events.status()
    try {
      await work()
    } catch (error) {
      if (signal.aborted) return
      this.failure = error as Error
      // What the cursor pointed into is gone: retrying would not bring it back.
      if (kind === 'older' && error instanceof ProblemError && error.status === 410) this.older = null
    } finally {
      if (!signal.aborted) {
        this.loading = null
        this.#events.status()
      }
    }
  }

  #set(items: Item[], { older, newer }: Ends, marks: Mark[] = []): void {
    this.items = items
    this.firstSeq = 0
    this.older = older
    this.newer = newer
    this.#chars = weigh(items)
    this.#marks = marks
    if (older !== null) marks.unshift({ seq: 0, cursor: older })
    else if (newer !== null) marks.push({ seq: items.length, cursor: newer })
    this.#events.reset()
  }

  #prepend(all: Item[]): void {
    const items = this.#placed(all)
    if (items.length === 0) return
    this.items = items.concat(this.items)
    this.firstSeq -= items.length
    this.#chars += weigh(items)
    if (this.older !== null) this.#marks.unshift({ seq: this.firstSeq, cursor: this.older })
    this.#events.spliced(0, 0, items.length)
  }

  #append(all: Item[]): void {
    const items = this.#placed(all)
    if (items.length === 0) return
    for (const item of items) this.items.push(item)
    this.#chars += weigh(items)
    const last = this.#marks.at(-1)
    if (this.newer !== null && (last === undefined || this.endSeq - last.seq >= 1000)) {
      this.#marks.push({ seq: this.endSeq, cursor: this.newer })
    }
    this.#events.spliced(this.items.length - items.length, 0, items.length)
    if (this.full && this.#follower !== null) this.#dropOldest()
  }

  /** Puts records that come late where they belong; returns the others. */
  #placed(items: Item[]): Item[] {
    if (this.items.length === 0) return items
    return items.filter((item) => {
      const time = isLate(item) ? Date.parse(timeIn(item) ?? '') : Number.NaN
      if (Number.isNaN(time)) return true
      const index = this.items.findLastIndex((each) => Date.parse(timeIn(each) ?? '') <= time) + 1
      this.items.splice(index, 0, item)
      this.#chars += weigh([item])
      if (index === 0) this.firstSeq--
      else for (const mark of this.#marks) if (mark.seq >= this.firstSeq + index) mark.seq++
      this.#events.spliced(index, 0, 1)
      return false
    })
  }

  /** Drops about a quarter of the records, up to a mark from which they can be loaded again. */
  #dropOldest(): void {
    const goal = this.firstSeq + this.items.length / 4
    const mark = this.#marks.find(({ seq }) => seq >= goal && seq < this.endSeq)
    if (mark === undefined) return
    const dropped = this.items.splice(0, mark.seq - this.firstSeq)
    this.#chars -= weigh(dropped)
    this.#marks = this.#marks.filter(({ seq }) => seq >= mark.seq)
    this.firstSeq = mark.seq
    this.older = mark.cursor
    this.#events.spliced(0, dropped.length, 0)
  }
}

type Ends = Pick<LogWindow, 'older' | 'newer'>
type Mark = { seq: number; cursor: string }

interface Page {
  size: number
  first?: number
  before?: string
  after?: string
  until?: string
}

/** Bytes of the page that a reader sees first, and records where a log is read from its start. */
const FIRST = 128 * 1024
const START = 1000
/** Records of a page where single records are longer than pages, and bytes that hold them: a node splits records at 8 MiB. */
const FEW = 4
const LONGEST = 64 * 1024 * 1024
/** How often a fleet that is followed is asked up to when it is complete. */
const SETTLE_MS = 10_000
const GATHER_MS = 60
export const MAX_ITEMS = 100_000
/** Characters held in memory; log text is mostly Latin-1, one byte each. */
const MAX_CHARS = 200_000_000

function weigh(items: Item[]): number {
  let sum = 0
  for (const item of items) sum += typeof item === 'string' ? item.length : item.text.length
  return sum
}

/** The time of the first record that has one, on the way from one seq to another. */
function timeBetween(window: LogWindow, from: number, to: number): string | null {
  const by = from < to ? 1 : -1
  for (let seq = from; seq !== to + by; seq += by) {
    const time = timeIn(window.item(seq))
    if (time !== null) return time
  }
  return null
}

/** The moments of the first and the last record with a time between two seqs. */
export function momentsOf(window: LogWindow, first: number, last: number): [number, number] | null {
  const [from, to] = [timeBetween(window, first, last), timeBetween(window, last, first)]
  return from === null || to === null ? null : [Date.parse(from), Date.parse(to)]
}

/** Minutes east of UTC, as the newest of the loaded records has it; null where none has a time. */
export function zoneIn(window: LogWindow): number | null {
  const time = timeBetween(window, window.endSeq - 1, window.endSeq - 50)
  return time === null ? null : zoneOf(time)
}

/** The time of a record; one without a time has that of the nearest record before it, or else after it. */
export function timeNear(window: LogWindow, seq: number): string | null {
  return timeBetween(window, seq, seq - 1000) ?? timeBetween(window, seq, seq + 1000)
}

/** Whether a record is the first one after the moment up to which every source has shipped all it had. */
export function isUnsettled(window: LogWindow, seq: number): boolean {
  if (window.settled === null || seq === window.firstSeq) return false
  const [before, own] = [timeNear(window, seq - 1), timeIn(window.item(seq))]
  return Date.parse(before ?? '') <= window.settled && Date.parse(own ?? '') > window.settled
}
