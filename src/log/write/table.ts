import { CANONICAL, canonicalEnd } from './bytes/json-value.ts'
import { plainEnd } from './bytes/words.ts'
import { MESSAGE, NEXT_TAG, type RecordOut, TAGS, TAGS_END } from './record.ts'

/** How the value of a member is written. */
export const TEXT = 0
/** The inside of a JSON string, exactly as JSON.stringify writes it. */
export const QUOTED = 1
/** A number, true, false or null, exactly as JSON.stringify writes it. */
export const SCALAR = 2
/** Any other JSON: an object, an array, or a number such as 1.50. */
export const NESTED = 3
/** An object whose members are in the table, too: those that have places of their own are not written with it. */
export const PARENT = 4

/** The parent of the members of the line itself. */
export const NONE = -1

/** The place of a tag. */
const TAG = 2

/** Lines with more members are left to `fields`. */
const MOST = 64

/** The members of a line: where their keys and values are. One table is reused. */
export class MemberTable {
  size = 0
  readonly keyFrom = new Int32Array(MOST)
  readonly keyTo = new Int32Array(MOST)
  readonly from = new Int32Array(MOST)
  readonly to = new Int32Array(MOST)
  readonly kind = new Uint8Array(MOST)
  /** 0 for a member of the context, 1 for one with a place of its own, `TAG` for a tag. */
  readonly place = new Uint8Array(MOST)
  /** Which member is the object that holds a member; `NONE` for the line itself. */
  readonly parent = new Int8Array(MOST)
  /** Which member is the message and which the source; -1 if there is none. */
  message = -1
  source = -1

  clear(): void {
    this.size = 0
    this.message = -1
    this.source = -1
  }

  /** Adds a member; returns its index, or -1 if `fields` must read the line: a key occurs twice, or like a number goes first. */
  add(bytes: Uint8Array, keyFrom: number, keyTo: number, parent = NONE): number {
    const first = bytes[keyFrom]!
    if (this.size === MOST || keyFrom === keyTo || (first >= 0x30 && first <= 0x39)) return -1
    for (let i = 0; i < this.size; i++) {
      const start = this.keyFrom[i]!
      if (this.keyTo[i]! - start !== keyTo - keyFrom || this.parent[i] !== parent) continue
      let at = keyFrom
      while (at < keyTo && bytes[at] === bytes[start + at - keyFrom]) at++
      if (at === keyTo) return -1
    }
    this.keyFrom[this.size] = keyFrom
    this.keyTo[this.size] = keyTo
    this.place[this.size] = 0
    this.parent[this.size] = parent
    return this.size++
  }

  /** Gives a text its place. False if it is not written as it stands there. */
  putText(bytes: Uint8Array, role: 'message' | 'source' | 'tag', i: number): boolean {
    const from = this.from[i]!
    const to = this.to[i]!
    if (role === 'tag') this.place[i] = TAG
    else if (this[role] < 0) {
      const isFound = role === 'message' ? 1 : sourceIn(bytes, from, to)
      if (isFound < 1) return isFound === 0
      this[role] = i
      this.place[i] = 1
    }
    return role === 'source' || from < to
  }

  /** Writes a record of these members. */
  write(record: RecordOut, epoch: number, level: number): boolean {
    if (!record.time(epoch)) return false
    record.level(level)
    if (this.source >= 0) record.sourceAt(this.from[this.source]!, this.to[this.source]!)
    this.#writeTags(record)
    record.put(MESSAGE)
    if (this.message >= 0) this.#writeText(record, this.message)
    record.endMessage()
    for (let i = 0; i < this.size; i++) {
      if (this.place[i] !== 0 || this.parent[i] !== NONE) continue
      if (this.kind[i] === PARENT && !this.#hasMembers(i)) continue
      record.key(this.keyFrom[i]!, this.keyTo[i]!)
      this.#writeValue(record, i)
    }
    record.end()
    return true
  }

  /** Whether a member of an object is written with it. */
  #hasMembers(parent: number): boolean {
    for (let i = parent + 1; i < this.size; i++)
      if (this.parent[i] === parent && this.place[i] === 0) return true
    return false
  }

  #writeMembers(record: RecordOut, parent: number): void {
    const { out } = record
    let mark = 0x7b
    for (let i = parent + 1; i < this.size; i++) {
      if (this.parent[i] !== parent || this.place[i] !== 0) continue
      out[record.at++] = mark
      mark = 0x2c
      out[record.at++] = 0x22
      record.escaped(this.keyFrom[i]!, this.keyTo[i]!)
      out[record.at++] = 0x22
      out[record.at++] = 0x3a
      this.#writeValue(record, i)
    }
    out[record.at++] = 0x7d
  }

  #writeValue(record: RecordOut, i: number): void {
    const { out } = record
    const kind = this.kind[i]!
    if (kind === PARENT) this.#writeMembers(record, i)
    else if (kind === SCALAR) record.raw(this.from[i]!, this.to[i]!)
    else if (kind === NESTED) this.#writeNested(record, this.from[i]!, this.to[i]!)
    else {
      out[record.at++] = 0x22
      this.#writeText(record, i)
      out[record.at++] = 0x22
    }
  }

  #writeNested(record: RecordOut, from: number, to: number): void {
    if (canonicalEnd(record.copy.view, from, to) === to) record.raw(from, to)
    else record.json(JSON.stringify(JSON.parse(record.text(from, to))))
  }

  #writeText(record: RecordOut, i: number): void {
    if (this.kind[i] === QUOTED) record.raw(this.from[i]!, this.to[i]!)
    else record.escaped(this.from[i]!, this.to[i]!)
  }

  #writeTags(record: RecordOut): void {
    let count = 0
    for (let i = 0; i < this.size; i++) {
      if (this.place[i] !== TAG) continue
      record.put(count++ === 0 ? TAGS : NEXT_TAG)
      this.#writeText(record, i)
    }
    if (count > 0) record.put(TAGS_END)
  }
}

/** Whether bytes[from, to) are `file:123`: 1 if so, 0 if not, -1 if that is not written as it stands there. */
function sourceIn(bytes: Uint8Array, from: number, to: number): number {
  let at = to
  while (at > from && bytes[at - 1]! >= 0x30 && bytes[at - 1]! <= 0x39) at--
  const digits = to - at
  for (let i = from; i < at; i++) if (bytes[i] === 0x5c || bytes[i]! >= 0x80) return -1
  if (digits < 1 || digits > 9 || at - 2 < from || bytes[at - 1] !== 0x3a) return 0
  const before = bytes[at - 2]!
  if (before === 0x3a || before <= 0x20) return 0
  return digits > 1 && bytes[at] === 0x30 ? -1 : 1
}

/** Where the inside of a string ends, if its escapes are those that JSON.stringify writes; else -1. */
export function quotedEnd({ bytes, copy: { view } }: RecordOut, from: number, to: number): number {
  for (let at = from; ; at += 2) {
    at = plainEnd(view, at, to)
    if (at >= to) return -1
    if (bytes[at] === 0x22) return at
    if (bytes[at] !== 0x5c || CANONICAL[bytes[at + 1]!] !== 1) return -1
  }
}
