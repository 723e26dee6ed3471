import { expect, test } from 'vitest'
import { PROGRAMS, SYSLOG } from '../../../src/log/format/stamped/programs.ts'
import { type Beginning, beginnings, decide, KnownHeads, open } from '../../../src/log/write/heads.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const RUNS = { by: 'runs', isEnd: false } as const
const learn = <T>(heads: KnownHeads<T>, text: string, how: Omit<Beginning, 'text'>, value: T) =>
  heads.learn(bytes(text), 0, { text, ...how }, value)
const DIGITS = { by: 'digits', isEnd: false } as const

test('KnownHeads: lines that differ in digits begin in the same way, and places say where', () => {
  const heads = new KnownHeads<string>()
  learn(heads, 'db-4 sshd[12]: ', RUNS, 'ssh')
  const line = bytes('xdb-17 sshd[12345]: hello')
  expect(heads.find(line, 1, line.length)).toBe('ssh')
  expect([...heads.places.subarray(0, 6)]).toEqual([1, 2, 3, 4, 6, 7])
  expect(heads.find(bytes('db-4 sshd[1234567890]: x'), 0, 24)).toBeUndefined()
  expect(heads.find(bytes('db-4 sshd[]: x'), 0, 14)).toBeUndefined()
  expect(heads.find(bytes('db-4 sshd[12]: '), 0, 14)).toBeUndefined()
})

test('KnownHeads: by digits, there must be as many; at the end, the line ends there', () => {
  const heads = new KnownHeads<string>()
  learn(heads, 'a12', { ...DIGITS, isEnd: true }, 'end')
  expect(heads.find(bytes('a99'), 0, 3)).toBe('end')
  expect(heads.find(bytes('a9'), 0, 2)).toBeUndefined()
  expect(heads.find(bytes('a999'), 0, 4)).toBeUndefined()
})

test('KnownHeads: when there is no more space, all is learnt again', () => {
  const heads = new KnownHeads<number>()
  const line = (i: number) =>
    `${String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26))}${'x'.repeat(98)}`
  for (let i = 0; i < 100; i++) learn(heads, line(i), RUNS, i)
  expect(heads.find(bytes(line(99)), 0, 100)).toBe(99)
  expect(heads.find(bytes(line(0)), 0, 100)).toBeUndefined()
})

test('KnownHeads: learning is paid for by lines that are found', () => {
  const heads = new KnownHeads<string>()
  let learnt = 0
  while (heads.mayLearn()) learnt++
  expect(learnt).toBe(64)
  learn(heads, 'a', RUNS, 'a')
  for (let i = 0; i < 31; i++) heads.find(bytes('a'), 0, 1)
  expect(heads.mayLearn()).toBe(false)
  heads.find(bytes('a'), 0, 1)
  expect(heads.mayLearn()).toBe(true)
})

const candidate = (source: string) => ({ pattern: new RegExp(source), open: open(source) })
const decided = (sources: string[], index: number, line: string, head: number) => {
  for (const beginning of beginnings(line, head)) {
    const decision = decide(sources.map(candidate), index, beginning)
    if (decision) return { beginning, decision }
  }
  return null
}

test('decide: as much of a line as no other pattern fits, whatever follows', () => {
  const sources = [String.raw`^\[(\d{1,20})\] LOG (?=[CS]-\dx)`, String.raw`^\[(\d{1,20})\] (LOG) `]
  const { beginning, decision } = decided(sources, 1, '[12] LOG Cold start', 9)!
  expect(beginning).toEqual({ text: '[12] LOG Co', by: 'runs', isEnd: false })
  expect(decision.groups).toEqual([
    [0, 8],
    [1, 2],
    [4, 7],
  ])
})

test('decide: an optional part that may follow is not missing', () => {
  const source = String.raw`^(\d{1,20}) \[(\w{1,20})\] (?:\[(MY-\d{1,10})\] )?`
  expect(decided([source], 0, '0 [Note] [MYx', 9)!.beginning.text).toBe('0 [Note] [MYx')
  expect(decided([source], 0, '0 [Note] ready', 9)!.beginning.text).toBe('0 [Note] r')
})

test('decide: where the number of digits matters, it stays the same', () => {
  expect(decided([String.raw`^([A-Z]{3,5}\d?) `], 0, 'LOG7 x', 5)!.beginning.by).toBe('digits')
})

test('programs tell no digits apart, nor how many there must be, so that lines may differ in them', () => {
  for (const { head } of [...PROGRAMS, ...SYSLOG]) {
    const source = head.source.replaceAll('0-9', String.raw`\d`)
    expect(source.replace(/\{\d+(?:,\d*)?\}/g, '')).not.toMatch(/\d/)
    // At least two of something that may be a digit.
    expect(source).not.toMatch(
      /(?:\\[dwS]|\[[^\]]*\\[dwS][^\]]*\]|\[\^(?:\\.|[^\]\\])*\]|\.)\{(?:[2-9]|\d\d)/,
    )
    expect(head.source).not.toMatch(/\(\?<?!/)
  }
})

test('the pattern inside a message fits only where its character is', () => {
  for (const { inside = [], holds } of PROGRAMS) {
    for (const pattern of inside) expect(pattern.source.replaceAll('\\', '')).toContain(holds)
  }
})
