import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { nativeOf, nodeDisk } from '../../src/entry/ship/disk.ts'
import type { Bucket } from '../../src/ship/bucket.ts'
import type { Disk, Native } from '../../src/ship/files/disk.ts'
import { ShipMetrics } from '../../src/ship/metrics.ts'
import { s3Bucket } from '../../src/ship/s3.ts'
import { Shipper } from '../../src/ship/shipper.ts'
import { cleanUp, temporaryDirectory } from '../program.ts'
import { readClock } from '../support/manual-clock.ts'
import { type Flare, placeOf, startMiniflare } from '../support/miniflare.ts'
import { part } from '../support/parts.ts'

const SECONDS_A_MONTH = 30 * 24 * 3600
const LINE = '2026-11-14 02:10:00.000\tINFO\ta.go:1\t[A] [B]: a line of a log, as long as many are of it\n'

/** The rows of the table in docs/shipping.md, with what is shipped, and for how long. */
const ROWS: { row: string; seconds: number; lines: number; flushMs: number }[] = [
  { row: 'quiet logs', seconds: 1200, lines: 0, flushMs: 10_000 },
  { row: 'one log with a line every second', seconds: 600, lines: 1, flushMs: 10_000 },
  { row: 'the same with `--flush 60s`', seconds: 1200, lines: 1, flushMs: 60_000 },
  { row: 'one log with 1 MB a second', seconds: 180, lines: 1e6 / LINE.length, flushMs: 10_000 },
]

/** What the table says: PUT, GET and dollars a month. */
function documented(row: string): number[] {
  const line = readFileSync('docs/shipping.md', 'utf8')
    .split('\n')
    .find((line) => line.startsWith(`| ${row}`))!
  const cells = line.split('|').slice(2, 5)
  return cells.map((cell) => Number(cell.replaceAll(',', '').trim()))
}

const needs = (['miniflare', 'node', 'workerd'] as const).map((name) => part(name).missing).find(Boolean)
describe.skipIf(needs)(`requests of a shipper${needs ? ` (${needs})` : ''}`, () => {
  let flare: Flare
  beforeAll(async () => {
    flare = await startMiniflare()
  })
  afterEach(cleanUp)
  afterAll(() => flare?.stop())

  it.each(ROWS)('are as many as docs/shipping.md says: $row', { timeout: 120_000 }, async (asked) => {
    const counted = await count(flare, asked)
    const month = (requests: number) => (requests * SECONDS_A_MONTH) / asked.seconds
    const [put, get, dollars] = documented(asked.row) as [number, number, number]
    expect(counted.list).toBe(0)
    // One request more or less where the counting begins and ends.
    expect(Math.abs(month(counted.put) / put - 1), `${month(counted.put)} PUT`).toBeLessThan(0.1)
    expect(Math.abs(month(counted.get) / get - 1), `${month(counted.get)} GET`).toBeLessThan(0.1)
    expect(dollars).toBeCloseTo((put * 5 + get * 0.4) / 1e6, 2)
  })
})

/** Runs a shipper whose clock ticks once per check, and counts its requests once it has settled. */
async function count(flare: Flare, { row, seconds, lines, flushMs }: (typeof ROWS)[number]) {
  const logs = join(temporaryDirectory(), 'logs')
  mkdirSync(logs)
  const file = join(logs, 'broker.log')
  writeFileSync(file, LINE)
  const counted = { put: 0, get: 0, list: 0 }
  let isCounting = false
  const bucket = s3Bucket({
    ...placeOf(flare),
    prefix: `requests-${ROWS.findIndex((other) => other.row === row)}`,
    onRequest: (op) => {
      if (isCounting) counted[op]++
    },
  })
  const disk = nodeDisk(logs, () => {})
  const { idle, watched } = watch({ bucket, disk, native: nativeOf() })
  let ticks = 0
  const settled = 240
  const shipper = new Shipper({
    disk: {
      ...watched.disk,
      async list() {
        // Time stands still while there is work.
        await idle()
        ticks++
        isCounting = ticks > settled && ticks <= settled + seconds
        if (ticks > settled + seconds) shipper.stop()
        else appendFileSync(file, LINE.repeat(Math.round(lines)))
        return disk.list()
      },
    },
    bucket: watched.bucket,
    native: watched.native,
    nodeFiles: { node: async () => null, config: async () => null },
    metrics: new ShipMetrics(),
    host: 'db-4',
    run: 'run',
    rules: { segmentBytes: 8 * 1024 * 1024, segmentAgeMs: 3_600_000, flushMs, lineAgeMs: 60_000 },
    holdMs: 60_000,
    once: false,
    lookMs: 0,
    clock: readClock(() => ticks * 1000),
    report: () => {},
  })
  expect(await shipper.run()).toBe('done')
  return counted
}

interface World {
  bucket: Bucket
  disk: Disk
  native: Native
}

/** What a shipper works with, and how to wait until nothing of it is under way. */
function watch({ bucket, disk, native }: World): { watched: World; idle(): Promise<void> } {
  const running = new Set<Promise<unknown>>()
  const follow = <T>(work: Promise<T>): Promise<T> => {
    running.add(work)
    const done = () => void running.delete(work)
    work.then(done, done)
    return work
  }
  const opened: Disk['open'] = async (name) => {
    const file = await disk.open(name)
    if (!file) return null
    const { id } = file
    return {
      id,
      stat: () => follow(file.stat()),
      read: (...asked) => follow(file.read(...asked)),
      inflate: (kind) => file.inflate(kind),
      close: () => follow(file.close()),
    }
  }
  return {
    watched: {
      bucket: {
        names: (...asked) => follow(bucket.names(...asked)),
        get: (...asked) => follow(bucket.get(...asked)),
        put: (...asked) => follow(bucket.put(...asked)),
      },
      disk: { ...disk, open: (name) => follow(opened(name)) },
      native: { ...native, gzip: (...asked) => follow(native.gzip(...asked)) },
    },
    async idle() {
      // What follows on an operation begins within the same turn of the event loop.
      for (let turns = 0; turns < 3; turns++) {
        if (running.size > 0) turns = 0
        await Promise.allSettled([...running])
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}
