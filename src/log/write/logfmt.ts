import type { Role } from '../format/json/keys.ts'
import { isKeyByte, LEVEL, MESSAGE, SEARCHED, SOURCE, TAGS, TIME, timeIn } from '../format/json/logfmt.ts'
import { levelAt } from '../format/read/level.ts'
import { wideBlank, wordOf } from '../format/read/words.ts'
import type { RecordOut } from './record.ts'
import { MemberTable, QUOTED, quotedEnd, TEXT } from './table.ts'

const table = new MemberTable()
/** What a key names. */
const ROLES = new Map<string, Role>()
for (const [role, keys] of Object.entries({
  time: TIME,
  level: LEVEL,
  message: MESSAGE,
  tag: TAGS,
  source: SOURCE,
}))
  for (const key of keys) ROLES.set(key, role as Role)

/** Writes a line of nothing but pairs as `logfmtFields` reads it. */
export function writeLogfmt(record: RecordOut, from: number, limit: number): boolean {
  const to = record.scan(from, limit)
  if (to < 0 || !readPairs(record, from, to)) return false
  const { bytes } = record
  let epoch = Number.NaN
  let level = -1
  for (let i = 0; i < table.size; i++) {
    const start = table.from[i]!
    const end = table.to[i]!
    const role = ROLES.get(wordOf(bytes, table.keyFrom[i]!, table.keyTo[i]!))
    if (role === undefined) continue
    if (role === 'time') {
      if (!Number.isNaN(epoch)) continue
      epoch = i < SEARCHED ? timeIn(bytes, start, end, record.zone) : Number.NaN
      if (Number.isNaN(epoch)) return false
      table.place[i] = 1
    } else if (role === 'level') {
      if (level >= 0) continue
      level = i < SEARCHED ? levelAt(bytes, start, end) : -1
      if (level < 0) return false
      table.place[i] = 1
    } else if (!table.putText(bytes, role, i)) return false
  }
  return !Number.isNaN(epoch) && table.write(record, epoch, level)
}

/** Reads the pairs of bytes[from, to) into the table. */
function readPairs(record: RecordOut, from: number, to: number): boolean {
  const { bytes } = record
  table.clear()
  for (let at = from; at < to; at++) {
    const key = at
    while (at < to && isKeyByte(bytes[at]!)) at++
    // `__proto__` is no field.
    if (at >= to || bytes[at] !== 0x3d || bytes[key] === 0x5f) return false
    const i = table.add(bytes, key, at)
    if (i < 0) return false
    const start = at + 1
    if (bytes[start] === 0x22) {
      at = start + 1
      table.kind[i] = TEXT
      while (at < to && bytes[at] !== 0x22 && bytes[at] !== 0x5c) at++
      if (bytes[at] === 0x5c) {
        table.kind[i] = QUOTED
        at = quotedEnd(record, start + 1, to)
      }
      if (at < 0 || at >= to) return false
      table.from[i] = start + 1
      table.to[i] = at++
    } else {
      at = start
      while (at < to && bytes[at]! > 0x20)
        if (bytes[at++]! >= 0x80 && wideBlank(bytes, at - 1) > 0) return false
      table.kind[i] = TEXT
      table.from[i] = start
      table.to[i] = at
    }
    if (at < to && bytes[at] !== 0x20) return false
  }
  return table.size > 0
}
