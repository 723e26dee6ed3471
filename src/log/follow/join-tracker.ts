import { byTime, type Member } from '../../join/members.ts'
import { Budget } from '../../limits/budget.ts'
import type { JoinedLog } from '../files/joined.ts'
import type { ArchiveLimits } from '../text/archive.ts'
import { type Cursor, fingerprint, PRINT_READ } from '../text/cursor.ts'
import { MemberText } from '../text/member.ts'
import type { Opener } from '../text/open.ts'
import type { Change } from './tracker.ts'

/** Bytes of text per poll. */
const MAX_POLLED = 4 * 1024 * 1024

/** Follows a joined log: every new object is new lines. */
export class JoinTracker {
  readonly between = false
  readonly #log: JoinedLog
  readonly #opener: Opener
  #last: Member
  #text: MemberText
  #size: number
  /** The last bytes of the last object. */
  #seen: Uint8Array

  private constructor(log: JoinedLog, opener: Opener, last: Member, opened: Opened) {
    this.#log = log
    this.#opener = opener
    this.#last = last
    this.#text = opened.text
    this.#size = opened.size
    this.#seen = opened.seen
  }

  /** Starts after the newest object; null if there is none, because it is then not a joined log. */
  static async open(log: JoinedLog, limits: ArchiveLimits): Promise<JoinTracker | null> {
    const { members } = await log.find({ bytes: 1 })
    const last = members.at(-1)
    if (!last) return null
    const opener = { files: log.files, limits, budget: new Budget() }
    return new JoinTracker(log, opener, last, await openEnd(opener, last))
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
    const { members, newer } = await this.#log.from(this.#last, MAX_POLLED)
    for (const member of members) {
      if (byTime(member, this.#last) <= 0) continue
      if (total >= MAX_POLLED) return { changes, more: true }
      const opened = await openEnd(this.#opener, member)
      const bytes = opened.size > 0 ? await opened.text.read(0, opened.size) : new Uint8Array(0)
      this.#last = member
      if (bytes.length === 0) continue
      this.#text = opened.text
      this.#size = opened.size
      this.#seen = opened.seen
      total += bytes.length
      changes.push({ kind: 'data', name: member.entry.key, id: null, offset: 0, bytes })
    }
    return { changes, more: newer && total > 0 }
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
