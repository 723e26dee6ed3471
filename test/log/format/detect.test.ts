import { describe, expect, test } from 'vitest'
import { detectFormat, type LineFormat, PLAIN } from '../../../src/log/format/detect.ts'
import { parseZone, UTC } from '../../../src/log/time.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

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

describe('2.4', () => {
  test('is found', () => {
    expect(format.name).toBe('2.4')
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

test('PLAIN takes each line as a record', () => {
  expect(detectFormat(bytes('hello\nworld\n'))).toBe(PLAIN)
  expect(detectFormat(bytes(''))).toBe(PLAIN)
  expect(look(PLAIN, LINE)).toEqual({ starts: true, time: null, level: -1 })
})
