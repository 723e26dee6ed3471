import { byTime, costOf, type Member } from '../../join/members.ts'
import { Budget } from '../../limits/budget.ts'
import type { JoinedLog } from '../files/joined.ts'
import type { ArchiveLimits } from '../text/archive.ts'
import { type Cursor, fingerprint, PRINT_READ } from '../text/cursor.ts'
import { MemberText } from '../text/member.ts'
import type { Opener } from '../text/open.ts'
import type { Change } from './tracker.ts'

/** Bytes of text per poll. */
const MAX_POLLED = 4 * 1024 * 1024
/** How far back a late object is noticed, by the time in its key, and among how many. */
const LATE_MILLIS = 10 * 60_000
const MAX_RECENT = 200
const MAX_RECENT_BYTES = 8 * 1024 * 1024

/**
 * Follows a joined log: every new object is new lines. Where several shippers fill one log, an object may arrive after
 * one with a later key; its lines are sent when it arrives, and the place stays after the newest.
 */
export class JoinTracker {
  readonly between = false
  readonly #log: JoinedLog
  readonly #opener: Opener
  /** The members that were sent, from the first after which others may still arrive. */
  #recent: Member[]
  #text: MemberText
  #size: number
  /** The last bytes of the last object. */
  #seen: Uint8Array

  private constructor(log: JoinedLog, opener: Opener, recent: Member[], opened: Opened) {
    this.#log = log
    this.#opener = opener
    this.#recent = recent
    this.#text = opened.text
    this.#size = opened.size
    this.#seen = opened.seen
  }

  /** Starts after the newest object; null if there is none, because it is then not a joined log. */
  static async open(log: JoinedLog, limits: ArchiveLimits): Promise<JoinTracker | null> {
    const newest = (await log.find({ bytes: 1 })).members.at(-1)
    if (!newest) return null
    const since = newest.time - LATE_MILLIS
    const { members } = await log.find({ bytes: MAX_RECENT_BYTES, since })
    const recent = members.length > 0 ? members.slice(-MAX_RECENT) : [newest]
    const opener = { files: log.files, limits, budget: new Budget() }
    return new JoinTracker(log, opener, recent, await openEnd(opener, recent.at(-1)!))
  }

  /** The current place: everything before was sent. */
  get place(): Cursor {
    const print = fingerprint(this.#seen, this.#size - this.#seen.length)
    return { name: this.#text.name, id: null, offset: this.#size, print, inside: false }
  }

  /** The bytes right before the place, at most `length`. */
  async before(length: number): Promise<Uint8Array | null> {
    return this.#text.read(Math.max(0, this.#size - length), this.#size)
  }

  /** Checks for new objects. `more` says that there are more than one poll returns. */
  async poll(): Promise<{ changes: Change[]; more: boolean }> {
    const changes: Change[] = []
    let total = 0
    const known = new Set(this.#recent.map(({ entry }) => entry.key))
    const cost = this.#recent.reduce((sum, member) => sum + costOf(member), 0)
    const { members, newer } = await this.#log.from(this.#recent[0]!, MAX_POLLED + cost)
    for (const member of members) {
      const { key } = member.entry
      if (known.has(key)) continue
      if (total >= MAX_POLLED) return { changes, more: true }
      const opened = await openEnd(this.#opener, member)
      const bytes = opened.size > 0 ? await opened.text.read(0, opened.size) : new Uint8Array(0)
      const isLate = this.#remember(member)
      if (bytes.length === 0) continue
      total += bytes.length
      if (isLate) {
        changes.push({ kind: 'late', bytes })
        continue
      }
      this.#text = opened.text
      this.#size = opened.size
      this.#seen = opened.seen
      changes.push({ kind: 'data', name: key, id: null, offset: 0, bytes })
    }
    return { changes, more: newer && total > 0 }
  }

  /** Counts a member as sent. Returns whether it belongs before one that was sent. */
  #remember(member: Member): boolean {
    const recent = this.#recent
    const isLate = byTime(member, recent.at(-1)!) < 0
    recent.push(member)
    if (isLate) recent.sort(byTime)
    const since = recent.at(-1)!.time - LATE_MILLIS
    const first = recent.findIndex(({ time }) => time >= since)
    recent.splice(0, Math.max(first, recent.length - MAX_RECENT))
    return isLate
  }
}

interface Opened {
  text: MemberText
  size: number
  seen: Uint8Array
}

async function openEnd(opener: Opener, { entry }: Member): Promise<Opened> {
  const text = new MemberText(opener, entry)
  const size = await text.size()
  return { text, size, seen: (await text.read(Math.max(0, size - PRINT_READ), size)).slice() }
}
