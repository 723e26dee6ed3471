import { BoundedMap } from '../kit/limits/bounded-map.ts'
import type { Lease } from '../kit/limits/memory-budget.ts'
import { LogError } from '../log/error.ts'
import { perFiles } from '../log/files/files.ts'
import type { LineFormat } from '../log/format/detect.ts'
import { openingOf } from '../log/histogram/histogram.ts'
import type { LanePlace } from '../log/merge/cursor.ts'
import type { LaneRead, MergeLane } from '../log/merge/lane.ts'
import type { LaneElsewhere } from '../log/merge/reader.ts'
import type { LaneRecord } from '../log/merge/records/items.ts'
import { LONGEST } from '../log/merge/records/long.ts'
import type { Source } from '../log/merge/source.ts'
import { noMemory } from '../log/search/sink.ts'
import { EVERY_RECORD } from '../log/selection.ts'
import type { Note } from '../log/view/answer.ts'
import type { ViewContext } from '../log/view/context.ts'
import { inSession } from '../log/view/session.ts'
import { type LanePage, parseLane, placeOf, placeText, type ThereRecord } from '../routes/merged/wire.ts'

/** Asks a peer for a page of its log; null if it must be read here. */
export type AskPeer = (asked: LaneAsked, signal?: AbortSignal) => Promise<LaneAnswer | null>

interface LaneAsked {
  /** The query of `view`. */
  query: string
  /** How many bytes of records may come. */
  most: number
  /** How long a search may take. */
  millis: number
  /** Called before bytes are held; throws if there is no memory for them. */
  grow(bytes: number): void
}

/** What the node says of a page, and the bytes of its records. */
interface LaneAnswer {
  head: unknown
  body: Uint8Array
}

interface FarOptions extends LaneElsewhere {
  ask: AskPeer
}

/** A page that is longer than asked by more than this has long records, which are read one by one. */
const BEYOND = 64 * 1024

/**
 * One log of a timeline that is read where it is: its own node searches it and places its records, and what arrives is
 * what a `Lane` here would have found, with the same places. Where the node cannot do that, the rest is read here.
 */
export class RemoteLane implements MergeLane {
  readonly source: Source
  readonly notes = new Set<Note>()
  next = 0
  found = 0
  falls = false
  readonly lead = 0
  readonly given = 0
  readonly #options: FarOptions
  #records: ThereRecord[] = []
  #page: LanePage | null = null
  /** The first page that was read. */
  #first: LanePage | null = null
  #format: LineFormat | null = null
  #here: MergeLane | null = null
  #isCut = false
  #start = Number.NaN
  #bytes = 0
  #lease: Lease | null = null
  #isReleased = false

  constructor(source: Source, options: FarOptions) {
    this.source = source
    this.#options = options
  }

  get isElsewhere(): boolean {
    return this.#here === null
  }

  get hasHead(): boolean {
    return this.next < this.#records.length || this.#here?.hasHead === true
  }

  get head(): LaneRecord | null {
    return this.hasHead ? this.recordAt(this.index) : null
  }

  get index(): number {
    return this.next < this.#records.length ? this.next : this.next + (this.#here?.index ?? 0)
  }

  recordAt(index: number): LaneRecord {
    const record = this.#records[index]
    if (!record) return this.#here!.recordAt(index - this.#records.length)
    const { bytes, time, placed } = record
    return { bytes, isLoaded: true, length: bytes.length, format: this.#format!, time, placed }
  }

  get frontier(): number {
    const here = this.#here?.hasHead ? this.#here.frontier : this.bound
    return this.#records[this.next]?.placed ?? here
  }

  get bound(): number {
    const { forward } = this.#options
    const unknown = forward ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
    const reached = this.#page?.frontier ?? unknown
    const here = this.#here?.bound ?? reached
    return Number.isFinite(here) ? here : reached
  }

  get start(): number {
    return Number.isNaN(this.#start) ? (this.#here?.start ?? this.bound) : this.#start
  }

  get isDone(): boolean {
    if (this.#here) return this.#here.isDone
    const { place, forward } = this.#options
    return this.#page ? this.#page.isDone : place?.kind === 'start' && !forward
  }

  get isCut(): boolean {
    return this.#here ? this.#here.isCut : this.#isCut
  }

  get isOpen(): boolean {
    return !this.isDone && !this.isCut
  }

  get state(): string {
    return `${this.#first?.state ?? ''}${this.#here?.state ?? ''}`
  }

  get average(): number {
    return this.found === 0 ? (this.#here?.average ?? 256) : Math.ceil(this.#bytes / this.found)
  }

  get distance(): number {
    return this.#here?.distance ?? 0
  }

  advance(): void {
    if (this.next < this.#records.length) this.next++
    else this.#here?.advance()
  }

  async read(wanted: LaneRead, context = this.source.context, signal?: AbortSignal): Promise<void> {
    if (!this.#here) {
      const page = await this.#ask(wanted, context, signal)
      if (page) return this.#take(page)
      this.#here = this.#options.here(this.#place)
      if (this.#isReleased) this.#here.release()
    }
    await this.#here.read(wanted, context, signal)
    for (const note of this.#here.notes) this.notes.add(note)
    this.falls ||= this.#here.falls
  }

  get #place(): LanePlace | null {
    return this.#page?.onward ?? this.#options.place
  }

  #take(page: LanePage): void {
    this.#first ??= page
    this.#page = page
    this.#isCut = page.isCut && !this.#options.all
    for (const note of page.notes) this.notes.add(note)
    for (const record of page.records) {
      if (Number.isNaN(this.#start)) this.#start = record.placed
      this.#records.push(record)
      this.#bytes += record.bytes.length
      this.found++
    }
  }

  /** The next page; null if it has to be read here. */
  async #ask(wanted: LaneRead, context: ViewContext, signal?: AbortSignal): Promise<LanePage | null> {
    const { ask, all, forward } = this.#options
    for (let place = this.#place; ; ) {
      this.#lease ??= context.memory?.lease(0) ?? null
      const lease = this.#lease
      let held = 0
      const asked = {
        query: this.#query(wanted, place),
        most: 2 * wanted.size + BEYOND + LONGEST / wanted.count,
        millis: context.limits.scanMillis,
        grow(bytes: number) {
          if (lease?.grow(bytes) === false) throw noMemory()
          held += bytes
        },
      }
      const answer = await ask(asked, signal)
      const page = answer && tryParse(() => parseLane(answer.head, answer.body, this.source, forward))
      lease?.shrink(held - (page ? answer!.body.length : 0))
      if (!page) return null
      if (page.records.length > 0) this.#format ??= await formatOf(this.source, page.format, context, signal)
      if (!all || page.records.length > 0 || page.isDone) return page
      // Without a record, the node's own budget has ended: it is asked to go on.
      const text = placeText(page.onward, this.source)
      if (place && text === placeText(place, this.source))
        throw new LogError('too-busy', 'A log could not be read to its end; export again.')
      place = page.onward
    }
  }

  #query({ size, lines }: LaneRead, place: LanePlace | null): string {
    const { filters, forward } = this.#options
    const most = lines ?? Math.max(1, size)
    const name = forward && place === null ? 'first' : 'lines'
    const at = place && `${forward ? 'after' : 'before'}=${placeText(place, this.source)}`
    const file = `file=${encodeURIComponent(this.source.file)}`
    return [file, 'lane=true', `size=${size}`, `${name}=${most}`, at, filters].filter(Boolean).join('&')
  }

  async onward(next = this.next): Promise<LanePlace> {
    const record = this.#records[next]
    // An invalid place affects only this log, which goes on at the time of the record.
    if (record)
      return tryParse(() => placeOf(record.place, this.source)) ?? { kind: 'time', time: record.placed }
    return this.#here?.onward() ?? this.#place ?? { kind: 'start' }
  }

  async backward(next: number | null = null): Promise<LanePlace> {
    // Reading back, a page that has a record first begins after it.
    if (next !== null && next < this.#records.length) return this.onward(next)
    if (next !== null) return this.#here?.backward(next - this.#records.length) ?? this.onward(next)
    return this.#first?.backward ?? this.#here?.backward() ?? this.#options.place ?? { kind: 'start' }
  }

  async load(...args: Parameters<MergeLane['load']>): Promise<void> {
    await this.#here?.load(...args)
  }

  drop(): void {
    for (const { bytes } of this.#records.slice(0, this.next)) this.#lease?.shrink(bytes.length)
    this.#records = this.#records.slice(this.next)
    this.next = 0
    this.#isCut = false
    if (this.#records.length === 0) this.#here?.drop()
  }

  release(): void {
    this.#isReleased = true
    this.#lease?.release()
    this.#here?.release()
  }
}

const NOTHING = { size: 0, lines: null }

/** How long a format is taken for that of a log whose node names the same one. */
const FORMAT_MS = 60_000
const formatsOf = perFiles(() => new BoundedMap<string, { key: string; format: LineFormat; at: number }>(64))

/**
 * The format of the log, by which its records are written here: it is found by what the log begins and ends with, and
 * remembered for a minute. To find it for every page would take longer than the page.
 */
async function formatOf(
  { file, rotated = true, log, context: { files } }: Source,
  key: string,
  context: ViewContext,
  signal?: AbortSignal,
): Promise<LineFormat> {
  const known = formatsOf(files).get(log)
  const now = context.clock.elapsed()
  if (known?.key === key && now - known.at < FORMAT_MS) return known.format
  const request = { selection: EVERY_RECORD, file, rotated, cursor: null, fit: NOTHING, records: true }
  const opening = openingOf(context, request, signal)
  const format = (await inSession(context, opening, (session) => session.format()))!
  formatsOf(files).set(log, { key, format, at: now })
  return format
}

function tryParse<T>(parse: () => T): T | null {
  try {
    return parse()
  } catch {
    return null
  }
}
