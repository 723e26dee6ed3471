import type { Handle, Inode } from './disk/disk.ts'
import type { Random } from './kernel/random.ts'

export const FORMATS = ['lindb', 'json', 'logfmt'] as const
export type FormatName = (typeof FORMATS)[number]

export const ROTATIONS = ['none', 'numbers', 'dated', 'copytruncate'] as const
/** `tai64n` is multilog's way, which has one log in a directory: `current`. */
export type Rotation = (typeof ROTATIONS)[number] | 'tai64n'

/** A log of a world. */
export interface LogSettings {
  name: string
  format: FormatName
  rotation: Rotation
  /** How many rotated files are kept. */
  keep: number
  /** Whether a rotated file is compressed: when it is made, at the next rotation, or never. */
  compress: 'at-once' | 'later' | 'never'
  crlf: boolean
  /** Whether the numbers of rotated files rise, as with Log4j: the highest is the newest. @default false */
  rising?: boolean
  /** Whether some records have a byte that is not UTF-8. @default false */
  broken?: boolean
  /** Whether an archive has the time at which it was made, and not that of its file. @default false */
  touched?: boolean
  /** The length of one very long record, in characters. @default it has none */
  longest?: number
  /** The line that all of its files begin with. @default they have none */
  header?: string
}

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type Level = (typeof LEVELS)[number]

const MIB = 1024 * 1024
const VERY_LONG = 0.001
/** The share of logs with a header, of those that can have one. */
const HEADED = 0.5

const NAMES = ['broker.log', 'storage.log', 'query.log']
/** The log that multilog writes, and the share of worlds that have one. */
export const CURRENT = 'current'
const WITH_CURRENT = 0.06

export function drawLogs(random: Random): LogSettings[] {
  const count = random.small(1, 3)
  const current = random.split(CURRENT)
  const names = NAMES.slice(0, count)
  if (current.chance(WITH_CURRENT)) names[current.between(0, count - 1)] = CURRENT
  return names.map((name) => {
    const stream = random.split(name)
    const settings: LogSettings = {
      name,
      format: stream.pick(FORMATS),
      rotation: stream.pick(ROTATIONS),
      keep: stream.between(2, 5),
      compress: stream.pick(['never', 'at-once', 'later']),
      crlf: stream.chance(0.15),
      ...(name === CURRENT && { rotation: 'tai64n', compress: 'never' }),
    }
    const isNumbered = settings.rotation === 'numbers' || settings.rotation === 'copytruncate'
    const header = canHaveHeader(settings) && drawHeader(stream.split('header'), name)
    // Without records, nothing shows that numbers rise.
    const rising = stream.chance(0.3) && isNumbered && !header
    const broken = stream.chance(0.15)
    const touched = stream.chance(0.25)
    const longest = drawLongest(stream.split('longest'))
    return { ...settings, rising, broken, touched, ...(longest && { longest }), ...(header && { header }) }
  })
}

/** Patterns that match these logs, and none of their rotated files. */
export function patternsOf(logs: readonly { name: string }[]): string[] {
  return [...new Set(logs.map(({ name }) => (name === CURRENT ? name.replace(/.$/, '?') : '*.log')))]
}

/** Often longer than what proves the place of a follower. */
function drawHeader(random: Random, name: string): string | null {
  return random.chance(HEADED) ? `# version 1.2 of ${name}`.padEnd(random.between(40, 200), '.') : null
}

/** Who truncates a log writes no header. A line that is not JSON is a record of its own in a log of JSON. */
function canHaveHeader({ format, rotation }: LogSettings): boolean {
  return format === 'lindb' && rotation !== 'copytruncate'
}

/** One log in a thousand has a record of some MiB. JSON of more than 4 MiB is not parsed. */
function drawLongest(random: Random): number | null {
  return random.chance(VERY_LONG) ? random.between(MIB, 3 * MIB) : null
}

/** A line that was written: the truth. */
export interface Line {
  /** The text without its end. No two lines of a world are the same: each has a number. */
  text: string
  /** Its place among all lines of its log. */
  place: number
  record: Written
  /** When its last byte was written; null before. */
  written: number | null
}

/** A record that was written, whatever became of it. */
export interface Written {
  /** `2-17`: the seventeenth record of the third log. */
  id: string
  number: number
  time: number
  level: Level
  lines: Line[]
  /** When its bytes left the disk with a removed file; null while they are there. */
  gone: number | null
  /** Whether its bytes were destroyed before anybody could be expected to see them, by a copy that came too early. */
  lost: boolean
}

/** A log while a world runs: the file that its writer has open, and all that was written to it. */
export class Log {
  readonly settings: LogSettings
  readonly index: number
  readonly records: Written[] = []
  readonly lines: Line[] = []
  handle: Handle | null = null
  /** How far the clock of its writer is from that of the world, in milliseconds. */
  shift = 0
  /** Whether that clock was ever set back. */
  hasStepped = false
  /** Whether a line is half written. */
  isMidLine = false
  /** Whether a truncation waits for the end of a line: the writer begins no other record. Otherwise the copy would miss records that are written meanwhile. */
  isAwaited = false
  /** The file that its writer has written a whole line to, and when it did so first: before that, it has no format. */
  formed: { inode: Inode; at: number } | null = null
  /** The copy that is being made of it, until it is truncated. */
  copy: Inode | null = null
  /** Moments at which files were renamed, copied, truncated or removed. */
  readonly rotations: { from: number; to: number }[] = []
  readonly #byText = new Map<string, Line>()

  constructor(settings: LogSettings, index: number) {
    this.settings = settings
    this.index = index
  }

  get name(): string {
    return this.settings.name
  }

  /** Notes a record before its first byte is written. */
  add(time: number, level: Level, textOf: (id: string) => string[]): Written {
    const number = this.records.length + 1
    const id = `${this.index}-${number}`
    const record: Written = { id, number, time, level, lines: [], gone: null, lost: false }
    for (const text of textOf(id)) {
      const line = { text, place: this.lines.length, record, written: null }
      record.lines.push(line)
      this.lines.push(line)
      this.#byText.set(text, line)
    }
    this.records.push(record)
    return record
  }

  /** The line with this text; undefined if no such line was written. */
  lineOf(text: string): Line | undefined {
    return this.#byText.get(this.#ended(text))
  }

  /** Whether it is the line that all files begin with: it belongs to no record that was written. */
  isHeader(text: string): boolean {
    return this.#ended(text) === this.settings.header
  }

  /** Texts of all lines, and of the header. */
  get texts(): string[] {
    const { header } = this.settings
    return [...(header === undefined ? [] : [header]), ...this.lines.map(({ text }) => text)]
  }

  #ended(text: string): string {
    return this.settings.crlf ? text.replace(/\r$/, '') : text
  }

  /** The records whose numbers are in some text. */
  recordsIn(text: string): Set<Written> {
    const found = new Set<Written>()
    for (const [, index, number] of text.matchAll(/<(\d+)-(\d+)[.>]/g))
      if (Number(index) === this.index) found.add(this.records[Number(number) - 1]!)
    return found
  }

  /** Whether files were being exchanged in this span of time. */
  rotatedIn(from: number, to: number): boolean {
    return this.rotations.some((rotation) => rotation.from <= to && rotation.to >= from)
  }
}

/** The numbered files of a log, the highest number first. */
export function numbered(
  names: readonly string[],
  log: string,
): { name: string; number: number; isPacked: boolean }[] {
  return names
    .flatMap((name) => {
      const [, number, packed] = name.startsWith(`${log}.`)
        ? (/^\.(\d+)(\.gz)?$/.exec(name.slice(log.length)) ?? [])
        : []
      return number === undefined ? [] : [{ name, number: Number(number), isPacked: packed !== undefined }]
    })
    .sort((a, b) => b.number - a.number)
}

const encoder = new TextEncoder()

/** Bytes of a text as it is written: for each U+FFFD, which readers show for it, one that is not UTF-8. */
export function bytesOf(text: string): Uint8Array {
  const bytes = encoder.encode(text)
  if (!text.includes('\uFFFD')) return bytes
  // In UTF-8 it is EF BF BD, and no other character has these bytes.
  let to = 0
  for (let from = 0; from < bytes.length; to++) {
    const isBroken = bytes[from] === 0xef && bytes[from + 1] === 0xbf && bytes[from + 2] === 0xbd
    bytes[to] = isBroken ? 0xff : bytes[from]!
    from += isBroken ? 3 : 1
  }
  return bytes.slice(0, to)
}

/** The lines of a record as a program writes them. */
export function linesOf(
  format: FormatName,
  record: { id: string; time: number; level: Level; words: string; trace: number },
) {
  const { id, level, words } = record
  const iso = new Date(record.time).toISOString()
  const trace = Array.from({ length: record.trace }, (_, i) => `\tat frame <${id}.${i + 1}> of ${words}`)
  if (format === 'json') return [JSON.stringify({ time: iso, level, msg: `<${id}> ${words}` })]
  if (format === 'logfmt')
    return [`time=${iso} level=${level} msg="<${id}> ${words}" shard=${record.time % 7}`]
  const stamp = iso.replace('T', ' ').replace('Z', '')
  return [
    `${stamp}\t${level.toUpperCase()}\tquery/broker.go:12\t[Broker] [Query]: <${id}> ${words}`,
    ...trace,
  ]
}
