import { describe, expect, test } from 'vitest'
import { COMMON, FORMATS } from '../../../src/log/format/candidates.ts'
import { detectFormat, type LineFormat, LEVELS as NAMES, PLAIN } from '../../../src/log/format/detect.ts'
import { parseZone, UTC } from '../../../src/log/time.ts'
import { FIXTURES, linesOf } from './fixtures.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const LEVELS: readonly string[] = NAMES

/** What a format says of one line. */
function look(format: LineFormat, line: string, zone = UTC) {
  const all = bytes(`before\n${line}\nafter`)
  const from = 7
  const to = from + bytes(line).length
  const time = format.time(all, from, to, zone)
  return {
    starts: format.starts(all, from, to),
    time: Number.isNaN(time) ? null : new Date(time).toISOString(),
    level: format.level(all, from, to),
  }
}

const LINE =
  '2026-11-15 02:10:00.123\tINFO\tbroker/runtime.go:123\t[Broker] [Runtime]: started\t{"port":9000}'
const format = detectFormat(bytes(`${LINE}\n`))

describe('lindb', () => {
  test('is found', () => {
    expect(format.name).toBe('lindb')
    expect(format.timed && format.leveled).toBe(true)
  })
  test.each([
    [LINE, true, '2026-11-15T02:10:00.123Z', 1],
    [`${LINE}\r`, true, '2026-11-15T02:10:00.123Z', 1],
    ['2026-11-15 02:10:00.123\tWARN\ta.go:1\tx', true, '2026-11-15T02:10:00.123Z', 2],
    ['2026-11-15 02:10:00.123\twarning\ta.go:1\tx', true, '2026-11-15T02:10:00.123Z', 2],
    ['2026-11-15 02:10:00.123\tERROR', true, '2026-11-15T02:10:00.123Z', 3],
    ['2026-11-15 02:10:00.123\tDPANIC\tx', true, '2026-11-15T02:10:00.123Z', 4],
    ['2026-11-15 02:10:00.123\tTRACE\tx', true, '2026-11-15T02:10:00.123Z', 0],
    ['2026-11-15 02:10:00.123\t\x1b[31mERROR\x1b[0m\ta.go:1\tx', true, '2026-11-15T02:10:00.123Z', 3],
    ['\x1b[2m2026-11-15 02:10:00.123\x1b[0m\tINFO\tx', true, '2026-11-15T02:10:00.123Z', 1],
    ['2026-11-15 02:10:00.123\tINFORMED\tx', true, '2026-11-15T02:10:00.123Z', -1],
    ['2026-11-15 02:10:00\tINFO\ta.go:1\tx', true, '2026-11-15T02:10:00.000Z', 1],
    ['2026-11-15 02:10:00.123 INFO a.go:1 x', true, '2026-11-15T02:10:00.123Z', 1],
    ['2026-02-30 02:10:00.123\tINFO\ta.go:1\tx', true, null, 1],
    ['2026-11-15 02:10:00.123 was the time', false, null, -1],
    ['\tat com.example.Main(Main.java:12)', false, null, -1],
    ['goroutine 1 [running]:', false, null, -1],
    ['cost 12ms, sql: select 1', false, null, -1],
    ['', false, null, -1],
    ['2026-11-15 02:10', false, null, -1],
  ])('%j', (line, starts, time, level) => {
    expect(look(format, line)).toEqual({ starts, time, level })
  })
  test('the zone is a setting', () => {
    expect(look(format, LINE, parseZone('Europe/Berlin')!).time).toBe('2026-11-15T01:10:00.123Z')
  })
})

/** What filters see in a line is what its record says. */
describe('a line and its record agree', () => {
  test.each([
    ['a date with slashes', '2026/11/15 02:10:00.123\tERROR\thttp.log.error\tbad\t{"status":502}', 'error'],
    ['broken JSON', '{"level":"error","ts":1794708600.123,"msg":"a\ttab"}', 'error'],
    [
      'seconds of Google Cloud',
      '{"severity":"ERROR","timestampSeconds":1794708600,"timestampNanos":123}',
      'error',
    ],
    ['CloudTrail', '{"eventTime":"2026-11-15T02:10:00.123Z","eventName":"GetObject"}', undefined],
  ])('%s', (_, line, level) => {
    const format = detectFormat(bytes(`${line}\n${line}\n`))
    const fields = format.fields(line, UTC)
    const seen = look(format, line)
    expect(fields).toMatchObject({ time: seen.time, ...(level && { level }) })
    expect(seen.time).toMatch(/^2026-11-15T02:10:00/)
    expect(seen.level).toBe(level ? LEVELS.indexOf(level) : -1)
  })
})

test.each([
  [
    'Spring with a logger in brackets',
    '2026-11-15 02:10:00.123 ERROR 1 --- [nio-8080-exec-1] o.a.c.c.C.[.[.[/].[dispatcherServlet]    : Servlet.service() threw',
    { tags: ['o.a.c.c.C.[.[.[/].[dispatcherServlet]'], message: 'Servlet.service() threw' },
  ],
  [
    'dmesg -T',
    '[Sun Nov 15 02:10:07 2026] EXT4-fs error (device sda1): inode #2',
    { time: '2026-11-15T02:10:07.000Z', message: 'EXT4-fs error (device sda1): inode #2' },
  ],
  [
    'the kernel through rsyslog',
    '2026-11-15T02:10:00.123456+00:00 db-4 kernel: [  12.345678] Out of memory: Killed process 1',
    { tags: ['kernel'], context: { host: 'db-4' } },
  ],
])('%s', (_, line, expected) => {
  expect(detectFormat(bytes(`${line}\n`)).fields(line, UTC)).toMatchObject(expected)
})

test('PLAIN takes each line as a record', () => {
  expect(detectFormat(bytes('hello\nworld\n'))).toBe(PLAIN)
  expect(detectFormat(bytes(''))).toBe(PLAIN)
  expect(look(PLAIN, LINE)).toEqual({ starts: true, time: null, level: -1 })
})

describe('first bytes', () => {
  const lines = FIXTURES.flatMap((fixture) => linesOf(fixture).split('\n'))
    .filter((line) => line !== '')
    .map(bytes)

  test('rule out no line that a format accepts', () => {
    for (const { first, make } of [...FORMATS, ...COMMON]) {
      const { name, starts, owns } = make(() => Date.now())
      for (const line of lines) {
        const accepted = starts(line, 0, line.length) || owns?.(line, 0, line.length) === true
        if (accepted) expect([name, first[line[0]!]]).toEqual([name, 1])
      }
    }
  })

  test('rule out most formats for most lines', () => {
    const tries = lines.map((line) => FORMATS.filter(({ first }) => first[line[0]!] === 1).length)
    const mean = tries.reduce((sum, n) => sum + n, 0) / tries.length
    expect(mean).toBeLessThan(FORMATS.length / 2)
    for (const first of ['{', '[', '<', 'a', ' ', '\t'])
      expect(FORMATS.filter((format) => format.first[first.charCodeAt(0)] === 1).length).toBeLessThan(11)
  })
})

describe('lines inside a wrapper', () => {
  const cri = (tag: string, line: string) => `2026-11-15T02:10:00.123456789Z stdout ${tag} ${line}\n`

  test('are read where they are, blank ones and parts included', () => {
    const head = cri('F', '{"ts":1794708600,"level":"info","msg":"hi"}')
    expect(detectFormat(bytes(head + cri('F', '') + cri('P', '{"ts":17947')))).toMatchObject({
      name: 'cri, json',
      timed: true,
      leveled: true,
    })
  })

  test('may hold line breaks', () => {
    const line = JSON.stringify({
      log: 'start\nts=2026-11-15T02:10:00Z level=info msg=hi\n',
      time: 1794708600,
    })
    expect(detectFormat(bytes(`${line}\n`)).name).toBe('docker, logfmt')
  })

  test('need half of the file to be wrapped', () => {
    const plain = '2026-11-15 02:10:00.123 INFO hi\n'
    expect(detectFormat(bytes(cri('F', 'hi') + plain)).name).toBe('cri')
    expect(detectFormat(bytes(cri('F', 'hi') + plain.repeat(2))).name).toBe('stamped')
  })
})
