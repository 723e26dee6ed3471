import { expect, it } from 'vitest'
import { rowFormat } from '../../../../src/log/format/rows/row.ts'

const CLOCK = String.raw`^(?<h>\d\d):(?<min>\d\d):(?<s>\d\d)`
const LETTERS = { D: 0, I: 1, W: 2, E: 3 }

/** A mark that is not in a line of its level would hide the line from a search for that level. */
it.each([
  [String.raw`${CLOCK} \[(?<level>[DIWE])\] `, '02:10:00 [E] disk: full'],
  [`${CLOCK} (?<level>[DIWE]) `, '02:10:00 E disk: full'],
  [String.raw`${CLOCK} (?<level>[DIWE])\| `, '02:10:00 E| disk: full'],
  [`${CLOCK} <(?<level>[DIWE])>? `, '02:10:00 <E disk: full'],
  [String.raw`${CLOCK}\t(?<level>(?:D|I|W|E))`, '02:10:00\tE\tdisk: full'],
])('%s is marked in %s', (head, line) => {
  const row = { name: 'acme', shape: '00:00:00', head: new RegExp(head), levels: LETTERS }
  const format = rowFormat(row).make(() => 0)
  const bytes = new TextEncoder().encode(line)
  expect(format.level(bytes, 0, bytes.length)).toBe(3)
  for (const level of [2, 3])
    expect(
      format.marks!(level)!.some((mark) => mark.test(line)),
      `from level ${level}`,
    ).toBe(true)
})
