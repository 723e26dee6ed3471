import { gunzipSync } from 'fflate'
import type { Disk } from './disk/disk.ts'
import { LEVELS, type Level, type Log, numbered } from './logs.ts'

/** A record as the plainest reader finds it. */
export interface Found {
  /** The number in its first line. */
  id: string
  /** Its bytes as text, with the ends of its lines. */
  text: string
  time: number | null
  level: Level | null
}

/** What to choose records by. */
export interface Choice {
  level: Level | null
  q: string | null
  since: number | null
  until: number | null
  /** Names and values of further filters. */
  filters: readonly (readonly [name: string, value: string])[]
}

/**
 * Reads whole files from the disk, and knows nothing of how nodestate reads them. What it says of a log at rest is what
 * every resource must say.
 */
export class Reference {
  readonly #files: Files

  constructor(files: Files) {
    this.#files = files
  }

  /** The files of the log, oldest first. */
  family(): string[] {
    return this.#files.names()
  }

  /** The text of the newest file, or of the log with all its files; null when there is none under the log's name. */
  text(rotated: boolean): string | null {
    const names = this.family()
    const { own } = this.#files
    if (!names.includes(own)) return null
    return (rotated ? names : [own]).map((name) => this.textOf(name)).join('')
  }

  /** All records, in the order in which they were written. Without a single time, each line is one. */
  records(rotated: boolean): Found[] {
    const records: Found[] = []
    const lines = (this.text(rotated) ?? '').match(/[^\n]*\n|[^\n]+$/g) ?? []
    const isPlain = !lines.some(parse)
    for (const line of lines) {
      const found = parse(line)
      const last = records.at(-1)
      if (found !== null || !last || isPlain)
        records.push(found ?? { id: '', text: line, time: null, level: null })
      else last.text += line
    }
    return records
  }

  /** The records that a choice keeps. */
  chosen(rotated: boolean, { level, q, since, until, filters }: Choice): Found[] {
    const least = level === null ? -1 : LEVELS.indexOf(level)
    return this.records(rotated).filter((record) => {
      if (level !== null && (record.level === null || LEVELS.indexOf(record.level) < least)) return false
      if (q !== null && !has(record.text, q)) return false
      if (!filters.every(([name, value]) => passes(record, name, value))) return false
      if (since !== null && (record.time === null || record.time < since)) return false
      return until === null || record.time === null || record.time < until
    })
  }

  /** Whether the times of the log never fall. */
  isInOrder(rotated: boolean): boolean {
    let last = Number.NEGATIVE_INFINITY
    return this.records(rotated).every(({ time }) => {
      const isLater = time === null || time >= last
      last = time ?? last
      return isLater
    })
  }

  /** The text of one of its files. */
  textOf(name: string): string {
    return this.#files.textOf(name)
  }
}

/** Where the files of a log are. */
export interface Files {
  /** The name of the newest one. */
  readonly own: string
  /** All names, oldest first. */
  names(): string[]
  textOf(name: string): string
}

/** The files of a log on the disk. */
export function onDisk(disk: Disk, { name, settings }: Log): Files {
  return {
    own: name,
    names() {
      const { all } = disk
      const rotated =
        settings.rotation === 'tai64n'
          ? /^@4[0-9a-f]{23}\.s$/
          : new RegExp(`^${name.replace('.', '\\.')}-\\d+(\\.gz)?$`)
      const dated = all.filter((other) => rotated.test(other))
      const base = all.includes(name) ? [name] : []
      const falling = numbered(all, name).map((file) => file.name)
      return [...dated.sort(), ...(settings.rising ? falling.reverse() : falling), ...base]
    },
    textOf(file) {
      const bytes = disk.bytesOf(file)!
      return new TextDecoder().decode(file.endsWith('.gz') ? gunzipSync(bytes) : bytes)
    },
  }
}

/** The lives of a log in a home, as its files. Those without text are none. */
export function inHome(lives: readonly { number: number; text: string }[]): Files {
  const full = lives.filter(({ text }) => text !== '')
  return {
    own: String(full.at(-1)?.number),
    names: () => full.map(({ number }) => String(number)),
    textOf: (name) => full.find(({ number }) => String(number) === name)!.text,
  }
}

/** The case of a text counts if it has a capital letter. */
function has(text: string, part: string): boolean {
  return (/\p{Lu}/u.test(part) ? text : text.toLowerCase()).includes(part)
}

function passes(record: Found, name: string, value: string): boolean {
  if (name === 'not') return !has(record.text, value)
  if (name === 'regex') return new RegExp(value).test(record.text)
  if (name === 'notregex') return !new RegExp(value).test(record.text)
  const [, not, field, operator, wanted] = /^(!?)(\w+)([:>])(.*)$/.exec(value) as unknown as string[]
  const actual = field === 'level' ? record.level : (/ shard=(\d+)\r?\n?$/.exec(record.text)?.[1] ?? null)
  if (operator === '>') return actual !== null && Number(actual) > Number(wanted)
  return (wanted === '*' ? actual !== null : actual === wanted) === (not === '')
}

const LINDB = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d\.\d{3})\t([A-Z]+)\t[^\t]*\t.*?<(\d+-\d+)>/
// One that lost its end, so that the next one follows in the same line, has its time and level still.
const JSON_LINE = /^\{"time":"([^"]+)","level":"(\w+)","msg":"<(\d+-\d+)>.*\}\r?\n?$/
const LOGFMT = /^time=(\S+) level=(\w+) msg="<(\d+-\d+)>/

/** The beginning of a record; null for a line that continues the one before. */
function parse(line: string): Found | null {
  const lindb = LINDB.exec(line)
  if (lindb) {
    const [, date, clock, level, id] = lindb as unknown as string[]
    return found(line, id!, `${date}T${clock}Z`, level!.toLowerCase())
  }
  const logfmt = LOGFMT.exec(line)
  if (logfmt) return found(line, logfmt[3]!, logfmt[1]!, logfmt[2]!)
  const json = JSON_LINE.exec(line)
  return json && found(line, json[3]!, json[1]!, json[2]!)
}

function found(text: string, id: string, time: string, level: string): Found {
  return { id, text, time: Date.parse(time), level: level as Level }
}
