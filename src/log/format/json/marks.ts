import { wordMarks } from '../read/level.ts'
import { severityMarks } from '../read/severities.ts'

/** How the keys of levels end (keys.ts). */
const KEYS = ['[vb]el', 'lvl', '"@?l', 'ity', 'name', 'text', '"s']

/** The numbers of this level or a higher one (values.ts): how they begin. */
const NUMBERS: Record<number, readonly string[]> = {
  2: ['[04-9]', '[1-3][^0-9]', '[1-3][0-9][0-9][0-9]'],
  3: ['[05-9]', '[1-3][^0-9]', '[1-4][0-9][0-9][0-9]'],
  4: ['[06-9]', '[12][^0-9]', '[1-5][0-9][0-9][0-9]'],
}
/** OpenTelemetry's. */
const OTEL: Record<number, readonly string[]> = {
  2: ['0', '1[3-9]', '2'],
  3: ['0', '1[7-9]', '2'],
  4: ['0', '2'],
}

/** Spaces and controls that few programs write; they may hide a member. */
const SPACES = ['" [ :]', '":  ', '[\\x00-\\x09\\x0b\\x0c\\x0e-\\x1f]', '\\r[^\\n]']

/** What a JSON line of this level or a higher one holds: a word, a letter or a number. */
export function jsonMarks(level: number): RegExp[] | null {
  const words = wordMarks(level, '"')
  if (!words) return null
  const letters = level === 4 ? 'f' : level === 3 ? 'ef' : 'wef'
  const latin = severityMarks(level)!.filter((word) => word < '\x7f')
  return [
    ...words,
    ...latin.map((word) => new RegExp(`"${word}"`)),
    // A severity in another script.
    /"[\x80-\xff]/,
    new RegExp(`[: ]"[${letters}].?"`, 'i'),
    new RegExp(`[: ]"[0-${6 - level}]"`),
    ...KEYS.flatMap((key) => valueMarks(key, NUMBERS[level]!)),
    ...valueMarks('ty_?number', OTEL[level]!),
    ...SPACES.map((spaces) => new RegExp(spaces)),
  ]
}

/** What a member is written as whose key ends and whose value begins in one of these ways. */
export function valueMarks(key: string, values: readonly string[]): RegExp[] {
  return values.map((value) => new RegExp(`${key}": ?${value}`, 'i'))
}
