import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDuration, parseInstant } from '../../src/log/instant.ts'
import { parseZone, UTC } from '../../src/log/time.ts'
import { clockOf, dayOf } from '../../src/log/wall-clock.ts'

const berlin = parseZone('Europe/Berlin')!
const NOW = Date.UTC(2026, 10, 15, 3, 0, 0)

describe('parseZone', () => {
  test.each(['UTC', 'Z', 'utc', 'GMT', '+00:00'])('%s is UTC', (name) => {
    expect(parseZone(name)).toBe(UTC)
  })
  test.each([
    ['+02:00', 120],
    ['-0730', -450],
    ['+2', 120],
    ['UTC+01:00', 60],
    ['Asia/Kolkata', 330],
    ['America/New_York', -300],
  ])('%s is %i minutes east', (name, minutes) => {
    expect(parseZone(name)?.offsetAt(NOW)).toBe(minutes * 60_000)
  })
  test('local is the zone of the system', () => {
    expect(parseZone('local')!.offsetAt(NOW)).toBe(new Date(NOW).getTimezoneOffset() * -60_000 + 0)
  })
  test.each(['', 'Mars/Olympus', '+99:00', '+02:75', '../etc', 'Europe/Berlin; x', 'x'.repeat(100)])(
    '%j is no zone',
    (name) => {
      expect(parseZone(name)).toBeNull()
    },
  )
})

describe('toEpoch', () => {
  test('summer and winter differ by the offset of the day', () => {
    expect(berlin.toEpoch(dayOf(2026, 7, 1), clockOf(12, 0, 0, 0))).toBe(Date.UTC(2026, 6, 1, 10))
    expect(berlin.toEpoch(dayOf(2026, 11, 15), clockOf(12, 0, 0, 5))).toBe(
      Date.UTC(2026, 10, 15, 11, 0, 0, 5),
    )
  })
  test('a wall clock that happens twice is the first of the two', () => {
    expect(berlin.toEpoch(dayOf(2026, 10, 25), clockOf(2, 30, 0, 0))).toBe(Date.UTC(2026, 9, 25, 0, 30))
    expect(berlin.toEpoch(dayOf(2026, 10, 25), clockOf(3, 0, 0, 0))).toBe(Date.UTC(2026, 9, 25, 2))
    expect(berlin.toEpoch(dayOf(2026, 10, 25), clockOf(1, 59, 59, 999))).toBe(
      Date.UTC(2026, 9, 24, 23, 59, 59, 999),
    )
  })
  test('a wall clock that never happens counts from before the gap', () => {
    expect(berlin.toEpoch(dayOf(2026, 3, 29), clockOf(2, 30, 0, 0))).toBe(Date.UTC(2026, 2, 29, 1, 30))
    expect(berlin.toEpoch(dayOf(2026, 3, 29), clockOf(3, 0, 0, 0))).toBe(Date.UTC(2026, 2, 29, 1, 0))
  })
  test('a change of half an hour', () => {
    const howe = parseZone('Australia/Lord_Howe')!
    expect(howe.toEpoch(dayOf(2026, 4, 5), clockOf(1, 45, 0, 0))).toBe(Date.UTC(2026, 3, 4, 14, 45))
    expect(howe.toEpoch(dayOf(2026, 4, 5), clockOf(2, 0, 0, 0))).toBe(Date.UTC(2026, 3, 4, 15, 30))
  })
  test.each([
    [2026, 2, 30, 0, 0, 0],
    [2025, 2, 29, 0, 0, 0],
    [2026, 13, 1, 0, 0, 0],
    [2026, 0, 1, 0, 0, 0],
    [2026, 1, 0, 0, 0, 0],
    [2026, 1, 1, 24, 0, 0],
    [2026, 1, 1, 0, 60, 0],
    [2026, 1, 1, 0, 0, 61],
  ])('%i-%i-%i %i:%i:%i is in no calendar', (year, month, day, ...clock) => {
    for (const zone of [UTC, berlin]) {
      expect(
        zone.toEpoch(dayOf(year!, month!, day!), clockOf(...(clock as [number, number, number]), 0)),
      ).toBeNaN()
      expect(zone.toEpoch(dayOf(2026, 1, 1), clockOf(0, 0, 0, 0))).not.toBeNaN()
    }
  })
  test('property: an instant formatted in a zone and read back is the same, except the second time around', () => {
    const zones = [
      'UTC',
      'Europe/Berlin',
      'America/St_Johns',
      'Australia/Lord_Howe',
      '-07:00',
      'Asia/Kolkata',
    ]
    fc.assert(
      fc.property(
        fc.constantFrom(...zones.map((name) => parseZone(name)!)),
        fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2040, 0) }),
        (zone, epoch) => {
          expect(parseInstant(zone.format(epoch), { zone: UTC, now: 0 })).toBe(epoch)
          const wall = new Date(epoch + zone.offsetAt(epoch))
          const back = zone.toEpoch(
            dayOf(wall.getUTCFullYear(), wall.getUTCMonth() + 1, wall.getUTCDate()),
            clockOf(
              wall.getUTCHours(),
              wall.getUTCMinutes(),
              wall.getUTCSeconds(),
              wall.getUTCMilliseconds(),
            ),
          )
          if (back !== epoch) {
            // The same wall clock, one change of offset earlier.
            expect(back).toBeLessThan(epoch)
            expect(back + zone.offsetAt(back)).toBe(epoch + zone.offsetAt(epoch))
          }
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('format', () => {
  test('UTC ends in Z, others in their offset, microseconds are kept', () => {
    expect(UTC.format(NOW + 7)).toBe('2026-11-15T03:00:00.007Z')
    expect(berlin.format(NOW)).toBe('2026-11-15T04:00:00.000+01:00')
    expect(parseZone('-03:30')!.format(NOW)).toBe('2026-11-14T23:30:00.000-03:30')
    expect(UTC.format(NOW + 123.456)).toBe('2026-11-15T03:00:00.123456Z')
  })
})

describe('parseInstant', () => {
  const at = (text: string, zone = UTC) => parseInstant(text, { zone, now: NOW })
  test.each([
    ['2026-11-15T02:10:00Z', '2026-11-15T02:10:00.000Z'],
    ['2026-11-15T02:10:00z', '2026-11-15T02:10:00.000Z'],
    ['2026-11-15t02:10:00+02:00', '2026-11-15T00:10:00.000Z'],
    ['2026-11-15T02:10:00 02:00', '2026-11-15T00:10:00.000Z'],
    ['2026-11-15T02:10:00-0230', '2026-11-15T04:40:00.000Z'],
    ['2026-11-15 02:10:00 +02', '2026-11-15T00:10:00.000Z'],
    ['2026-11-15T02:10Z', '2026-11-15T02:10:00.000Z'],
    ['2026-11-15T02:10:00.5Z', '2026-11-15T02:10:00.500Z'],
    ['2026-11-15T02:10:00.123000000000Z', '2026-11-15T02:10:00.123Z'],
    ['2026-11-15 02:10:00.123', '2026-11-15T02:10:00.123Z'],
    ['2026-11-15 02:10:00,123', '2026-11-15T02:10:00.123Z'],
    ['2026-11-15 02:10', '2026-11-15T02:10:00.000Z'],
    ['2026-11-15', '2026-11-15T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['02:10', '2026-11-15T02:10:00.000Z'],
    ['2:10', '2026-11-15T02:10:00.000Z'],
    ['03:00', '2026-11-15T03:00:00.000Z'],
    ['03:01', '2026-11-14T03:01:00.000Z'],
    ['23:59:59.5', '2026-11-14T23:59:59.500Z'],
    ['15m', '2026-11-15T02:45:00.000Z'],
    ['2h', '2026-11-15T01:00:00.000Z'],
    ['90s', '2026-11-15T02:58:30.000Z'],
    ['1d', '2026-11-14T03:00:00.000Z'],
    ['1h30m', '2026-11-15T01:30:00.000Z'],
    ['1.5h', '2026-11-15T01:30:00.000Z'],
    ['250ms', '2026-11-15T02:59:59.750Z'],
    ['0s', '2026-11-15T03:00:00.000Z'],
    ['now', '2026-11-15T03:00:00.000Z'],
    ['7d ago', '2026-11-08T03:00:00.000Z'],
    ['-2h', '2026-11-15T01:00:00.000Z'],
    ['-15m', '2026-11-15T02:45:00.000Z'],
    ['now-1h30m', '2026-11-15T01:30:00.000Z'],
    ['now - 2h', '2026-11-15T01:00:00.000Z'],
    ['2 hours ago', '2026-11-15T01:00:00.000Z'],
    ['1 Day ago', '2026-11-14T03:00:00.000Z'],
    ['30 minutes', '2026-11-15T02:30:00.000Z'],
    ['1 hour, 30 mins ago', '2026-11-15T01:30:00.000Z'],
    ['1.5 hrs ago', '2026-11-15T01:30:00.000Z'],
    ['250 milliseconds ago', '2026-11-15T02:59:59.750Z'],
    ['today', '2026-11-15T00:00:00.000Z'],
    ['yesterday', '2026-11-14T00:00:00.000Z'],
    ['yesterday 14:00', '2026-11-14T14:00:00.000Z'],
    ['Yesterday at 2:30:15.5', '2026-11-14T02:30:15.500Z'],
    ['today, 14:00', '2026-11-15T14:00:00.000Z'],
    ['1794711600000', '2026-11-15T03:00:00.000Z'],
    ['1794711600', '2026-11-15T03:00:00.000Z'],
    ['1794711600.25', '2026-11-15T03:00:00.250Z'],
  ])('%s is %s', (text, iso) => {
    expect(at(text)).toBe(Date.parse(iso))
  })
  test('without a zone, the zone of the log holds', () => {
    expect(at('2026-11-15 02:10:00', berlin)).toBe(Date.UTC(2026, 10, 15, 1, 10))
    // 04:00 on the wall in Berlin: 03:30 was today, 04:30 was yesterday.
    expect(at('03:30', berlin)).toBe(Date.UTC(2026, 10, 15, 2, 30))
    expect(at('04:30', berlin)).toBe(Date.UTC(2026, 10, 14, 3, 30))
    expect(at('yesterday 14:00', berlin)).toBe(Date.UTC(2026, 10, 14, 13, 0))
  })
  test('yesterday is a day of the wall clock, 25 hours long when clocks are set back', () => {
    const now = Date.parse('2026-10-26T00:30:00+01:00')
    expect(parseInstant('yesterday', { zone: berlin, now })).toBe(Date.parse('2026-10-25T00:00:00+02:00'))
    expect(parseInstant('today', { zone: berlin, now })).toBe(Date.parse('2026-10-26T00:00:00+01:00'))
  })
  test('the end of a window is the first such time of day after its start', () => {
    const end = (text: string, after: string) => {
      const at = parseInstant(text, { zone: UTC, now: NOW, after: Date.parse(after) })
      return at === null ? null : new Date(at).toISOString()
    }
    expect(end('02:15', '2026-11-15T02:10:00Z')).toBe('2026-11-15T02:15:00.000Z')
    expect(end('04:00', '2026-11-15T02:10:00Z')).toBe('2026-11-15T04:00:00.000Z')
    expect(end('23:55', '2026-11-14T23:50:00Z')).toBe('2026-11-14T23:55:00.000Z')
    expect(end('00:05', '2026-11-14T23:50:00Z')).toBe('2026-11-15T00:05:00.000Z')
    expect(end('15m', '2026-11-14T23:50:00Z')).toBe('2026-11-15T02:45:00.000Z')
    expect(end('25:00', '2026-11-14T23:50:00Z')).toBeNull()
  })
  test('microseconds are a fraction of a millisecond', () => {
    expect(at('2026-11-15T02:10:00.123456Z')).toBe(Date.UTC(2026, 10, 15, 2, 10, 0) + 123.456)
  })
  test.each([
    '',
    '   ',
    'yesterday 25:00',
    'yesterday 14',
    'yesterday 2026-11-14',
    'tomorrow',
    'ago',
    'd ago',
    '-2h ago',
    '--2h',
    'now-',
    'now+1h',
    '2 months ago',
    '2026-02-30',
    '2026-02-30T00:00:00Z',
    '2026-13-01',
    '2026-11-15T24:00:00Z',
    '2026-11-15T02:60Z',
    '2026-11-15T02:10:00+99:00',
    '25:00',
    '02:60',
    '15',
    '15x',
    'm',
    '1h1h',
    '1m1min',
    '1M',
    '2H',
    '12345',
    '999999999w',
    '2026-11-15T02:10:00Z; drop',
    'x'.repeat(1000),
  ])('%j is no time', (text) => {
    expect(at(text)).toBeNull()
  })
  test('property: never throws, and gives a number a Date can hold or null', () => {
    const near = fc.stringMatching(/^[0-9TZ:. +\-hmsd,]{0,30}$/)
    fc.assert(
      fc.property(fc.oneof(fc.string(), near), (text) => {
        const epoch = at(text, berlin)
        if (epoch !== null) expect(Number.isNaN(new Date(epoch).getTime())).toBe(false)
      }),
      { numRuns: 5000 },
    )
  })
})

test('parseDuration', () => {
  expect(parseDuration('1w2d')).toBe(9 * 86_400_000)
  expect(parseDuration('10min')).toBe(600_000)
  expect(parseDuration('')).toBeNull()
  expect(parseDuration('h')).toBeNull()
})
