import fc from 'fast-check'
import { test } from 'vitest'
import { linesOf, SHAPES } from '../../../bench/shape-logs.mjs'
import { detectFormat } from '../../../src/log/format/detect.ts'
import { agrees, MESSAGES, often, REFERENCE } from './agree.ts'

/** How a line is changed: somewhere, or at the numbers or words that it has. */
const CHANGES: readonly ((line: string, at: number) => string)[] = [
  (line) => line,
  (line) => line,
  (line, at) => line.slice(0, at),
  (line, at) => line.slice(0, at) + MESSAGES[at % MESSAGES.length]!,
  (line, at) => `${line.slice(0, at)}\x1b[3${at % 8}m${line.slice(at)}\x1b[0m`,
  (line) => `\ufeff${line}`,
  (line, at) => replaced(line, /\d+/g, at, (number) => number.repeat(1 + (at % 7))),
  (line, at) => replaced(line, /\d+/g, at, (number) => `${'0'.repeat(1 + (at % 3))}${number}`),
  (line, at) => replaced(line, /\d+/g, at, () => ''),
  (line, at) => replaced(line, /[a-z]/gi, at, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`),
  (line, at) => replaced(line, /[A-Za-z]+/g, at, () => WORDS[at % WORDS.length]!),
  (line, at) => replaced(line, /[^\w\s]/g, at, () => MARKS[at % MARKS.length]!),
  (line, at) => replaced(line, / /g, at, () => ['', '  ', '\t', ' - ', ' [x] '][at % 5]!),
  (line, at) => `${line} (${['a.b.C', 'a b.C', '17 rows', 'x'][at % 4]})`,
]
const WORDS = ['INFO', 'warn', 'DEBUG1', 'DEBUG9', 'kernel', 'a.b.C', 'AppMain', 'x', 'C-0x1f', 'LOG', '']
const MARKS = [...'[](){}<>:;,.|-=@"\'\\/#*', '--- ']

/** A line with one of the places of a pattern replaced. */
function replaced(line: string, pattern: RegExp, at: number, by: (text: string) => string): string {
  const all = [...line.matchAll(pattern)]
  const found = all[at % all.length]
  return found ? line.slice(0, found.index) + by(found[0]) + line.slice(found.index + found[0].length) : line
}

for (const [format, shapes] of Object.entries(SHAPES))
  for (const [shape, lineOf] of Object.entries(shapes)) {
    const text = [...linesOf(lineOf, 20_000)].join('')
    const lines = text.trimEnd().split('\n')
    const line = fc
      .tuple(
        fc.nat(lines.length - 1),
        fc.array(fc.tuple(often(...CHANGES), fc.nat(1 << 20)), { maxLength: 2 }),
      )
      .map(([i, changes]) =>
        changes.reduce((line, [change, at]) => change(line, at % (line.length + 1)), lines[i]!),
      )
    test(`property: ${format}, ${shape}: bytes to bytes as by way of fields, whatever the bytes`, () => {
      const found = detectFormat(new TextEncoder().encode(text), undefined, { reference: REFERENCE })
      agrees({ format: found, line }, 150)
    })
  }
