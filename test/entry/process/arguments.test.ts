import { describe, expect, it } from 'vitest'
import { has, readArguments } from '../../../src/entry/process/arguments.ts'
import type { Flag } from '../../../src/kit/usage.ts'

const FLAGS: Flag[] = [
  { name: 'follow', short: 'f', help: '' },
  { name: 'lines', short: 'n', value: 'N', help: '' },
  { name: 'grep', value: 'TEXT', list: true, help: '' },
  { name: 'color', value: 'WHEN', choices: ['always', 'never'], bare: 'always', help: '' },
  { name: 'page', value: 'BOOLEAN', bare: 'true', help: '' },
  { name: 'no-page', negates: 'page', help: '' },
]

const read = (...argv: string[]) => {
  const { flags, positional } = readArguments({ flags: FLAGS, help: 'x help' }, argv)
  return [Object.fromEntries(flags), positional]
}

describe('readArguments', () => {
  it.each([
    [['-f', 'a', '-n', '5', 'b'], { follow: ['true'], lines: ['5'] }, ['a', 'b']],
    [['-n5'], { lines: ['5'] }, []],
    [['-fn', '5'], { follow: ['true'], lines: ['5'] }, []],
    [['-fn5'], { follow: ['true'], lines: ['5'] }, []],
    [['--lines=5', '--lines', '6'], { lines: ['6'] }, []],
    [['--lines', '-1'], { lines: ['-1'] }, []],
    [['--grep=a', '--grep', 'b c', '--grep=--x'], { grep: ['a', 'b c', '--x'] }, []],
    [['--grep=a=b'], { grep: ['a=b'] }, []],
    [['--color', 'never'], { color: ['always'] }, ['never']],
    [['--color=never'], { color: ['never'] }, []],
    [['--page', '--no-page'], { page: ['false'] }, []],
    [['--no-page', '--page=on'], { page: ['on'] }, []],
    [['--', '-f', '--', '--lines'], {}, ['-f', '--', '--lines']],
    [['-', ''], {}, ['-', '']],
  ])('%j', (argv, flags, positional) => {
    expect(read(...argv)).toEqual([flags, positional])
  })

  it.each([
    [['--lnies'], 'Unknown flag "--lnies": did you mean --lines?'],
    [['-fx'], 'Unknown flag "-x"; x help shows the flags.'],
    [['--constructor'], 'Unknown flag "--constructor"; x help shows the flags.'],
    [['--__proto__=1'], 'Unknown flag "--__proto__"; x help shows the flags.'],
    [['--lines='], '--lines needs a value: N.'],
    [['--lines', ''], '--lines needs a value: N.'],
    [['--lines', '--follow'], '--lines needs a value: N.'],
    [['--no-page=1'], 'Cannot use "--no-page=1": --no-page takes no value.'],
    [['--color='], '--color needs a value: WHEN.'],
  ])('%j is refused', (argv, message) => {
    expect(() => read(...argv)).toThrow(message)
  })
})

describe('has', () => {
  it.each([
    [['a', '--help'], true],
    [['-h'], true],
    [['--', '--help'], false],
    [['--helpful'], false],
  ])('%j: %s', (argv, expected) => {
    expect(has(argv)).toBe(expected)
  })
})
