import { expect, it } from 'vitest'
import { ShipMetrics } from '../../src/ship/metrics.ts'
import type { LogCounts } from '../../src/store/segment/ship-json.ts'

const START = 29_000_000
const metrics = () => new ShipMetrics(START * 60_000 + 30_000)
const minutes = (counts: Record<number, readonly [number, number]>): LogCounts => ({
  lastLine: null,
  minutes: Object.fromEntries(Object.entries(counts).map(([after, count]) => [START + Number(after), count])),
})
const shown = (metrics: ShipMetrics): string[] =>
  metrics.render(new Map(), { files: 0, bytes: 0, left: [] }).match(/^nodestate_log_records_total.*$/gm) ?? []

it('adds up what is counted by the minute, late records included, and nothing twice', () => {
  const ship = metrics()
  ship.onCounted({ 'a.log': minutes({ 0: [2, 1] }) })
  expect(shown(ship)).toEqual([
    'nodestate_log_records_total{log="a.log",level="error"} 2',
    'nodestate_log_records_total{log="a.log",level="warn"} 1',
  ])
  ship.onCounted({ 'a.log': minutes({ 0: [2, 1] }) })
  ship.onCounted({ 'a.log': minutes({ 0: [3, 1], 1: [0, 5] }) })
  ship.onCounted({ 'a.log': minutes({ 1: [1, 5] }), 'b.log': minutes({}) })
  expect(shown(ship)).toEqual([
    'nodestate_log_records_total{log="a.log",level="error"} 4',
    'nodestate_log_records_total{log="a.log",level="warn"} 6',
    'nodestate_log_records_total{log="b.log",level="error"} 0',
    'nodestate_log_records_total{log="b.log",level="warn"} 0',
  ])
})

it('leaves out what was written before the shipper started, and never counts down', () => {
  const ship = metrics()
  ship.onCounted({ 'a.log': minutes({ [-5]: [100, 100], [-1]: [7, 7], 0: [1, 0] }) })
  ship.onCounted({ 'a.log': minutes({ [-1]: [9, 9], 0: [0, 0] }) })
  expect(shown(ship)[0]).toMatch(/ 1$/)
  ship.onCounted({ 'a.log': minutes({ 0: [1, 0] }) })
  expect(shown(ship)[0]).toMatch(/ 1$/)
})

it('has a bounded number of series, those of the logs that were counted last', () => {
  const ship = metrics()
  for (let round = 0; round < 5; round++)
    for (let n = 0; n < 300; n++) ship.onCounted({ [`${round}-${n}.log`]: minutes({ 0: [1, 0] }) })
  expect(shown(ship)).toHaveLength(600)
  expect(shown(ship)[0]).toContain('log="4-0.log"')
})

it('writes names that cannot break a line', () => {
  const ship = metrics()
  ship.onCounted({ 'a"\\\n.log': minutes({ 0: [1, 0] }) })
  expect(shown(ship)[0]).toBe('nodestate_log_records_total{log="a\\"\\\\\\n.log",level="error"} 1')
})
