import { Budget } from '../../kit/limits/budget.ts'
import type { Clock } from '../../kit/limits/clock.ts'
import type { Change } from '../follow/change.ts'
import { byTime, type Member } from '../join/member.ts'
import type { ArchiveLimits } from '../text/archive.ts'
import { type Cursor, fingerprint } from '../text/cursor.ts'
import type { Opener } from '../text/open.ts'
import { type TextEnd, textEnd } from '../text/text.ts'
import type { JoinedLog } from './log.ts'
import { fetchMembers, memberText } from './member.ts'

/** Bytes of text per poll. */
const MAX_POLLED = 4 * 1024 * 1024
/** How far back late objects are looked for, by the time in the key, and the most members and bytes remembered. */
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
  /** Members that were sent, as far back as late ones are looked for. */
  #recent: Member[]
  /** The newest of them, its size, and its last bytes. */
  #last: TextEnd

  private constructor(log: JoinedLog, opener: Opener, recent: Member[], last: TextEnd) {
    this.#log = log
    this.#opener = opener
    this.#recent = recent
    this.#last = last
  }

  /** Starts after the newest object; null if there is none, because it is then not a joined log. */
  static async open(log: JoinedLog, limits: ArchiveLimits, clock: Clock): Promise<JoinTracker | null> {
    const newest = (await log.find({ bytes: 1 })).members.at(-1)
    if (!newest) return null
    // In two steps, because only a period bounds how many folders are listed.
    const { members } = await log.find({ bytes: MAX_RECENT_BYTES, since: newest.time - LATE_MILLIS })
    const recent = members.length > 0 ? members.slice(-MAX_RECENT) : [newest]
    const opener = { files: log.files, limits, budget: new Budget({ clock }) }
    return new JoinTracker(log, opener, recent, await textEnd(memberText(opener, recent.at(-1)!.entry)))
  }

  /** The current place: everything before was sent. */
  get place(): Cursor {
    const { text, size, seen } = this.#last
    const print = fingerprint(seen, size - seen.length)
    return { name: text.name, id: null, offset: size, print }
  }

  /** The bytes right before the place, at most `length`. */
  async before(length: number): Promise<Uint8Array | null> {
    const { text, size } = this.#last
    return text.read(Math.max(0, size - length), size)
  }

  /** Adds what new objects hold. Returns whether there is more than one poll returns. */
  async advance(changes: Change[]): Promise<boolean> {
    const known = new Set(this.#recent.map(({ entry }) => entry.key))
    const { members, newer } = await this.#log.from(this.#recent[0]!, MAX_POLLED, { known })
    const fresh = members
      .filter(({ entry }) => !known.has(entry.key))
      .map((member) => ({ member, text: memberText(this.#opener, member.entry) }))
    // A failure shows below, after what comes before it.
    await fetchMembers(fresh.map(({ text }) => text)).catch(() => {})
    let total = 0
    for (const { member, text } of fresh) {
      if (total >= MAX_POLLED) return true
      const sent = await textEnd(text)
      const { size } = sent
      const bytes = size > 0 ? await text.read(0, size) : new Uint8Array(0)
      const isLate = this.#remember(member)
      if (size === 0) continue
      total += size
      if (isLate) {
        changes.push({ kind: 'late', bytes })
        continue
      }
      this.#last = sent
      changes.push({ kind: 'data', name: member.entry.key, id: null, offset: 0, bytes })
    }
    return newer && total > 0
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
