import { isWordByte } from './words.ts'

/** The zone abbreviations that mean one offset only, by minutes east of UTC. */
const OFFSETS: readonly [minutes: number, words: string][] = [
  [-600, 'HST'],
  [-540, 'AKST'],
  [-480, 'AKDT'],
  [-420, 'PDT'],
  [-360, 'MDT'],
  [-300, 'EST'],
  [-240, 'EDT'],
  [-210, 'NST'],
  [-180, 'ADT BRT'],
  [-150, 'NDT'],
  [0, 'UTC GMT WET'],
  [60, 'WEST CET MEZ WAT'],
  [120, 'CEST MESZ EET SAST CAT'],
  [180, 'EEST MSK EAT'],
  [300, 'PKT'],
  [420, 'WIB'],
  [480, 'WITA HKT SGT AWST'],
  [540, 'JST KST'],
  [570, 'ACST'],
  [600, 'AEST'],
  [630, 'ACDT'],
  [660, 'AEDT'],
  [720, 'NZST'],
  [780, 'NZDT'],
]

/** Abbreviations of several zones: China or Chicago, India or Israel or Ireland. */
const AMBIGUOUS = 'CST CDT IST BST PST AST MST AMT SST GST WST ECT'

/** A zone that a line names. */
export interface ZoneName {
  word: string
  /** Ms east of UTC; null when the name alone does not say. */
  offset: number | null
}

/** The zone abbreviation at bytes[at], three to five capitals and then no letter or digit; else null. */
export function zoneNameAt(bytes: Uint8Array, at: number, to: number): ZoneName | null {
  let key = 0
  let end = at
  for (; end < to && end - at < 6 && bytes[end]! >= 0x41 && bytes[end]! <= 0x5a; end++)
    key = key * 32 + bytes[end]! - 0x40
  return end < to && isWordByte(bytes[end]!) ? null : (KNOWN.get(key) ?? null)
}

// By number: most lines have a level word there, and a string for each would cost more than the rest of the line.
const KNOWN = new Map<number, ZoneName>()
const keyOf = (word: string) => [...word].reduce((key, char) => key * 32 + char.charCodeAt(0) - 0x40, 0)
for (const [minutes, words] of OFFSETS)
  for (const word of words.split(' ')) KNOWN.set(keyOf(word), { word, offset: minutes * 60_000 })
for (const word of AMBIGUOUS.split(' ')) KNOWN.set(keyOf(word), { word, offset: null })

/** The same of text that is nothing else. */
export function zoneName(word: string): ZoneName | null {
  return /^[A-Z]{3,5}$/.test(word) ? (KNOWN.get(keyOf(word)) ?? null) : null
}
