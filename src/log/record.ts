import { type LineFormat, PLAIN } from './format/format.ts'
import { lines24 } from './format/lines24.ts'

export { type LineFormat, PLAIN, type RecordFields } from './format/format.ts'
export { LEVELS, type LevelName, parseLevel } from './level.ts'

export interface DetectOptions {
  /** An instant near the file's last record, such as its modified time: glog lines have no year. @default now */
  reference?: number | undefined
}

/**
 * The format of a file, judged by the lines of its head and, where given, of its tail. `more` may begin inside a
 * line. PLAIN when none fits.
 */
export function detectFormat(
  sample: Uint8Array,
  more?: Uint8Array,
  _options: DetectOptions = {},
): LineFormat {
  const lines = [...linesOf(sample, false), ...(more ? linesOf(more, true) : [])]
  const found = lines.filter(([bytes, from, to]) => lines24.starts(bytes, from, to)).length
  return found > 0 && found * 50 >= lines.length ? lines24 : PLAIN
}

type Line = [bytes: Uint8Array, from: number, to: number]

function linesOf(bytes: Uint8Array, cut: boolean): Line[] {
  const lines: Line[] = []
  let from = 0
  if (cut) from = bytes.indexOf(0x0a) + 1
  while (from < bytes.length && lines.length < 1000) {
    const lf = bytes.indexOf(0x0a, from)
    const to = lf < 0 ? bytes.length : lf
    if (to > from) lines.push([bytes, from, to])
    from = to + 1
  }
  return lines
}
