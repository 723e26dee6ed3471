import { lineEnd, nextStart } from '../format/lines.ts'
import { hashBytes } from '../text/cursor.ts'
import type { Text } from '../text/text.ts'
import type { Zone } from '../time.ts'
import type { ProbeOptions } from './probes.ts'

/** How much of the end of a file must be the same after it has grown. */
const PRINT = 4096
export const HEAD_BYTES = 16 * 1024

/** What shows that the times that are known of a file are still right. */
export interface Print {
  etag: string
  size: number
  first: FirstRecord | null
  /** Of its last bytes. */
  hash: number
  /** Whether its last line is whole. */
  isWhole: boolean
  zone: Zone
}

/** The first record with a time. In some formats the year or the date of a line depends on when the log was changed. */
interface FirstRecord {
  at: number
  line: Uint8Array
  time: number
}

export async function printOf(part: Text, options: ProbeOptions, known: Print | null): Promise<Print> {
  const { etag, size } = part.entry
  const first = known?.first ?? firstRecord(await part.head(HEAD_BYTES), options)
  const end = await part.read(Math.max(0, size - PRINT), size)
  const hash = hashBytes(end, 0, end.length)
  return { etag, size, first, hash, isWhole: end.at(-1) === 10, zone: options.zone }
}

/** Whether a print is of this version of a file, or of one before to which something was appended. */
export async function isStill(print: Print, part: Text, options: ProbeOptions): Promise<boolean> {
  const { format, zone, budget } = options
  const { etag, size } = part.entry
  if (print.zone !== zone || !print.first) return false
  const { line, time } = print.first
  if (format.time(line, 0, line.length, zone) !== time) return false
  if (print.etag === etag) return true
  if (part.entry.id === undefined || size <= print.size || !namesYear(print.first)) return false
  const from = Math.max(0, print.size - PRINT)
  budget.spend(print.size - from)
  const end = await part.read(from, print.size)
  return hashBytes(end, 0, end.length) === print.hash
}

/** What a file is known by. */
export function keyOf({ entry, begin = 0 }: Text, format: string): string {
  return `${entry.id ?? `${entry.etag} ${entry.key}`} ${begin} ${format}`
}

/** Whether a line shows its year, so that its time does not change with the log. */
export function namesYear({ line, time }: FirstRecord): boolean {
  const text = new TextDecoder().decode(line)
  return [-DAY, 0, DAY].some((by) => text.includes(String(new Date(time + by).getUTCFullYear())))
}

const DAY = 86_400_000

export function firstRecord(
  bytes: Uint8Array,
  { format, zone }: Pick<ProbeOptions, 'format' | 'zone'>,
): FirstRecord | null {
  const isFirst = format.starts(bytes, 0, lineEnd(bytes, 0, bytes.length))
  for (let at = isFirst ? 0 : nextStart(format, bytes, 0, bytes.length); at >= 0; ) {
    const end = lineEnd(bytes, at, bytes.length)
    const time = format.time(bytes, at, end, zone)
    if (!Number.isNaN(time)) return { at, line: bytes.slice(at, end), time }
    at = nextStart(format, bytes, end, bytes.length)
  }
  return null
}
