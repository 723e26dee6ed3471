import type { Span } from './known.ts'
import type { Setting } from './pairs.ts'
import { readName } from './secret.ts'

/** Where a repeated value is masked: `1` only where a value is expected, `2` as a whole word, `3` anywhere. */
type Weight = 1 | 2 | 3

interface Searched {
  readonly text: string
  readonly setting: Setting
}

/** By how many of their first characters long secrets are looked up. Shorter ones are looked for in comments only. */
const ANCHOR = 8
/** Something begins like this; something begins with exactly this. */
const BEGINS = 1
const ANCHORS = 2
/** Characters that may be compared for each one that is searched: hostile secrets all begin alike. */
const MOST_WORK = 16
/** Secrets that are looked at in one go. */
const MANY = 2048
/** Places that are searched in one go. */
const STRETCH = 16 * 1024

/** Masked values, and where they occur again: one pass over each text, however many secrets there are. */
export class RepeatedSecrets {
  /** Whether each was the value of a setting; otherwise it is from a comment. */
  readonly #secrets = new Map<string, boolean>()
  #index: Index | null = null
  /** Secrets of several lines, whose lines are not remembered yet. */
  readonly #long: { text: string; fromComment: boolean }[] = []

  get isEmpty(): boolean {
    return this.#secrets.size === 0
  }

  /** Remembers a masked value. One from a comment may be an example, so values are not searched for it. */
  add(secret: string, fromComment = false): void {
    const known = this.#secrets.get(secret)
    if (known !== undefined && (known || fromComment)) return
    this.#remember(secret, fromComment)
    const trimmed = secret.trim()
    if (trimmed !== secret) this.#remember(trimmed, fromComment)
    if (trimmed.includes('\n')) this.#long.push({ text: trimmed, fromComment })
  }

  /** Makes it ready to be searched for. Nothing may be added after that. */
  *prepare(): Generator<void> {
    for (const { text, fromComment } of this.#long) {
      for (let from = 0, count = 0; from < text.length; count++) {
        if (count % MANY === MANY - 1) yield
        const eol = text.indexOf('\n', from)
        const form = text.slice(from, eol === -1 ? text.length : eol).trim()
        if (form.length >= ANCHOR) this.#remember(form, fromComment)
        from = eol === -1 ? text.length : eol + 1
      }
    }
    this.#index = yield* indexOf(this.#secrets.keys())
  }

  #remember(form: string, fromComment: boolean): void {
    if (isRun(form)) return
    if (!fromComment) this.#secrets.set(form, true)
    else if (!this.#secrets.has(form)) this.#secrets.set(form, false)
  }

  /**
   * Finds masked values in a comment, or in another value: there only those that can't be a plain word. Searches a
   * stretch of the text from a place on, and returns where the next one begins, or -1.
   */
  find({ text, setting: { inComment } }: Searched, from: number, spans: Span[]): number {
    const stop = Math.min(text.length, from + STRETCH)
    this.#findLong(text, { from, stop, inComment }, spans)
    if (inComment && this.#index!.short.size > 0) this.#findShort(text, { from, stop, inComment }, spans)
    return stop < text.length ? stop : -1
  }

  /** A hash of the next characters is carried along: most places cost one look into a table. */
  #findLong(text: string, { from, stop, inComment }: Stretch, spans: Span[]): void {
    const { long, bits, shift } = this.#index!
    if (long.size === 0) return
    const last = Math.min(stop, text.length - ANCHOR + 1)
    const work = workFor(from, stop)
    let hash = 0
    for (let at = from; at < from + ANCHOR - 1; at++) hash = (Math.imul(hash, BASE) + text.charCodeAt(at)) | 0
    for (let start = from; start < last; start++) {
      hash = (Math.imul(hash, BASE) + text.charCodeAt(start + ANCHOR - 1)) | 0
      const bit = Math.imul(hash, SPREAD) >>> shift
      if ((bits[bit >>> 5]! & (1 << (bit & 31))) !== 0) {
        const known = long.get(text.slice(start, start + ANCHOR))
        const end = known === undefined ? -1 : this.#endOf(text, start, known, { inComment, work })
        if (end !== -1) spans.push({ start, end })
      }
      hash = (hash - Math.imul(text.charCodeAt(start), HIGHEST)) | 0
    }
  }

  #findShort(text: string, { from, stop, inComment }: Stretch, spans: Span[]): void {
    const { short, flags } = this.#index!
    const mask = flags.length - 1
    const work = workFor(from, stop)
    for (let start = from; start < stop; start++) {
      const most = Math.min(text.length, start + ANCHOR - 1)
      let hash = 0
      for (let at = start; at < most; at++) {
        hash = mix(hash, text.charCodeAt(at))
        const flag = flags[hash & mask]!
        if (flag === 0) break
        if (flag < ANCHORS) continue
        const known = short.get(text.slice(start, at + 1))
        if (known === undefined) continue
        const end = this.#endOf(text, start, known, { inComment, work })
        if (end !== -1) spans.push({ start, end })
      }
    }
  }

  /** Where the longest secret of these lengths ends that is masked here; -1 if there is none. */
  #endOf(
    text: string,
    start: number,
    lengths: readonly Length[],
    { inComment, work }: { inComment: boolean; work: { left: number } },
  ): number {
    for (let at = countUpTo(lengths, text.length - start) - 1; at >= 0; at--) {
      const { length, lasts } = lengths[at]!
      const end = start + length
      if ((lasts & (1 << (text.charCodeAt(end - 1) & 31))) === 0) continue
      // After too much work, mask in case of doubt.
      work.left -= length
      if (work.left < 0) return end
      const secret = text.slice(start, end)
      const fromValue = this.#secrets.get(secret)
      if (fromValue === undefined) continue
      const weight = weigh(secret, !fromValue)
      if (weight < 3 && !(inComment && isWord(text, start, end))) continue
      if (weight === 1 && !isExpected(text, start, end)) continue
      return end
    }
    return -1
  }
}

/** Nothing, or a run of one character, which is a ruler or a mask. */
function isRun(text: string): boolean {
  if (text.length < 2) return text === ''
  const first = text.charCodeAt(0)
  for (let at = 1; at < text.length; at++) if (text.charCodeAt(at) !== first) return false
  return true
}

function weigh(secret: string, fromComment: boolean): Weight {
  if (secret.length < 4 || readName(secret).isSecret) return 1
  if (fromComment || secret.length < 8) return 2
  return secret.length >= 16 || /\d|[^\w\s./:-]/.test(secret) ? 3 : 2
}

function isWord(text: string, start: number, end: number): boolean {
  return !joins(text, start, -1) && !joins(text, end - 1, 1)
}

/** Reports whether a word continues beyond its edge: directly, or across a dash or a dot. */
function joins(text: string, edge: number, step: 1 | -1): boolean {
  if (!isWordChar(text, edge)) return false
  if (isWordChar(text, edge + step)) return true
  const char = text[edge + step]
  return (char === '-' || char === '.') && isWordChar(text, edge + 2 * step)
}

function isWordChar(text: string, at: number): boolean {
  return /\w/.test(text[at] ?? '')
}

/** Reports whether there is a value here: in quotes, or after a colon or an equals sign. */
function isExpected(text: string, start: number, end: number): boolean {
  const before = text[start - 1]
  if ((before === '"' || before === "'" || before === '`') && text[end] === before) return true
  let at = start - 1
  while (at > start - 8 && (text[at] === ' ' || text[at] === '\t')) at--
  return text[at] === ':' || text[at] === '='
}

/** The part of a text that is searched in one go. */
interface Stretch {
  readonly from: number
  readonly stop: number
  readonly inComment: boolean
}

const workFor = (from: number, stop: number) => ({ left: MOST_WORK * (stop - from) + MOST_WORK * ANCHOR })

type Lengths = ReadonlyMap<string, readonly Length[]>

interface Index {
  /** The lengths of the secrets that begin with an anchor, the longest last. */
  readonly long: Lengths
  /** A bit for each hash of an anchor, of which the highest bits count. */
  readonly bits: Int32Array
  readonly shift: number
  /** Secrets that are shorter than an anchor. */
  readonly short: Lengths
  /** What is known of the beginnings of short secrets, by their hash. */
  readonly flags: Uint8Array
}

interface Length {
  readonly length: number
  /** The last characters of the secrets of this length: a bit for each, by the last five bits of its code. */
  lasts: number
}

function* indexOf(secrets: Iterable<string>): Generator<void, Index> {
  const long = new Map<string, Length[]>()
  const short = new Map<string, Length[]>()
  let count = 0
  for (const secret of secrets) {
    if (++count % MANY === 0) yield
    const { length } = secret
    if (length < ANCHOR) addLength(short, secret, secret)
    else addLength(long, length > ANCHOR ? secret.slice(0, ANCHOR) : secret, secret)
  }
  for (const [anchor, known] of long) if (known.length > 1) long.set(anchor, sortedLengths(known))
  yield
  const size = Math.ceil(Math.log2(Math.max(32, long.size * 16)))
  const bits = new Int32Array(2 ** (size - 5))
  for (const anchor of long.keys()) {
    const bit = Math.imul(hashOf(anchor), SPREAD) >>> (32 - size)
    bits[bit >>> 5]! |= 1 << (bit & 31)
  }
  return { long, bits, shift: 32 - size, short, flags: flagsOf(short) }
}

function addLength(lengths: Map<string, Length[]>, anchor: string, secret: string): void {
  const { length } = secret
  const lasts = 1 << (secret.charCodeAt(length - 1) & 31)
  const known = lengths.get(anchor)
  if (known === undefined) lengths.set(anchor, [{ length, lasts }])
  else if (known.at(-1)!.length === length) known.at(-1)!.lasts |= lasts
  else known.push({ length, lasts })
}

/** What is known of the beginnings of short secrets. */
function flagsOf(short: Lengths): Uint8Array {
  const flags = new Uint8Array(2 ** Math.ceil(Math.log2(Math.max(1, short.size * 4 * ANCHOR))))
  const mask = flags.length - 1
  for (const secret of short.keys()) {
    let hash = 0
    for (let at = 0; at < secret.length; at++) {
      hash = mix(hash, secret.charCodeAt(at))
      flags[hash & mask]! |= BEGINS
    }
    flags[hash & mask]! |= ANCHORS
  }
  return flags
}

/** A polynomial of the characters of an anchor: the next one is made of it by one addition and one subtraction. */
function hashOf(anchor: string): number {
  let hash = 0
  for (let at = 0; at < ANCHOR; at++) hash = (Math.imul(hash, BASE) + anchor.charCodeAt(at)) | 0
  return hash
}

const BASE = 0x01000193
const SPREAD = 0x9e3779b1
/** The factor of the first character. */
const HIGHEST = Array.from({ length: ANCHOR - 1 }).reduce<number>((product) => Math.imul(product, BASE), 1)

/** How many lengths are at most as long as this. */
function countUpTo(lengths: readonly Length[], most: number): number {
  let low = 0
  let high = lengths.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (lengths[middle]!.length <= most) low = middle + 1
    else high = middle
  }
  return low
}

/** Each length once, the longest last. */
function sortedLengths(lengths: readonly Length[]): Length[] {
  const all = new Map<number, number>()
  for (const { length, lasts } of lengths) all.set(length, (all.get(length) ?? 0) | lasts)
  return [...all].sort(([a], [b]) => a - b).map(([length, lasts]) => ({ length, lasts }))
}

function mix(hash: number, code: number): number {
  const mixed = Math.imul(hash ^ code, 0x9e3779b1)
  return mixed ^ (mixed >>> 15)
}
