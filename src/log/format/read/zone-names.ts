/** Minutes east of UTC of the zone abbreviations that mean one offset only. */
const OFFSETS: Record<string, number> = {
  UTC: 0,
  GMT: 0,
  WET: 0,
  WEST: 60,
  CET: 60,
  CEST: 120,
  MEZ: 60,
  MESZ: 120,
  EET: 120,
  EEST: 180,
  MSK: 180,
  SAST: 120,
  WAT: 60,
  CAT: 120,
  EAT: 180,
  PKT: 300,
  WIB: 420,
  WITA: 480,
  HKT: 480,
  SGT: 480,
  AWST: 480,
  JST: 540,
  KST: 540,
  ACST: 570,
  ACDT: 630,
  AEST: 600,
  AEDT: 660,
  NZST: 720,
  NZDT: 780,
  NST: -210,
  NDT: -150,
  ADT: -180,
  EST: -300,
  EDT: -240,
  MDT: -360,
  PDT: -420,
  AKST: -540,
  AKDT: -480,
  HST: -600,
  BRT: -180,
}

/** Abbreviations of several zones: China or Chicago, India or Israel or Ireland. */
const AMBIGUOUS = new Set([
  'CST',
  'CDT',
  'IST',
  'BST',
  'PST',
  'AST',
  'MST',
  'AMT',
  'SST',
  'GST',
  'WST',
  'ECT',
])

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
for (const [word, minutes] of Object.entries(OFFSETS))
  KNOWN.set(keyOf(word), { word, offset: minutes * 60_000 })
for (const word of AMBIGUOUS) KNOWN.set(keyOf(word), { word, offset: null })

/** The same of text that is nothing else. */
export function zoneName(word: string): ZoneName | null {
  return /^[A-Z]{3,5}$/.test(word) ? (KNOWN.get(keyOf(word)) ?? null) : null
}

function isWordByte(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a)
}
