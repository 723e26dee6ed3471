import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { directoryBucket } from '../../src/entry/ship/directory.ts'
import { nativeOf, nodeDisk } from '../../src/entry/ship/disk.ts'
import { ShipMetrics } from '../../src/ship/metrics.ts'
import { type Outcome, Shipper, type ShipperOptions } from '../../src/ship/shipper.ts'
import { livesOf, objectsIn } from './home.ts'

/** A log directory and a home beside it, made anew for each test. */
export interface Local {
  logs: string
  home: string
  reports: string[]
  at(name: string): string
  shipper(options?: Partial<ShipperOptions>): Shipper
  once(options?: Partial<ShipperOptions>): Promise<Outcome>
  /** The texts of a log's lives, by their numbers. */
  texts(log?: string): Map<number, string | undefined>
}

/** Sets up a log directory and a home for each test of a file. */
export function useLocal(): Local {
  let root = ''
  const local: Local = {
    logs: '',
    home: '',
    reports: [],
    at: (name) => join(local.logs, name),
    shipper: (options = {}) =>
      new Shipper({
        disk: nodeDisk(local.logs, (line) => local.reports.push(line)),
        bucket: directoryBucket(local.home),
        native: nativeOf(),
        nodeFiles: { node: async () => null, config: async () => null },
        metrics: new ShipMetrics(),
        host: 'db-4',
        run: String(Math.random()),
        rules: { segmentBytes: 1024 * 1024, segmentAgeMs: 3_600_000, flushMs: 20, lineAgeMs: 60_000 },
        holdMs: 60_000,
        once: true,
        lookMs: 2,
        report: (line) => local.reports.push(line),
        ...options,
      }),
    once: (options) => local.shipper(options).run(),
    texts: (log = 'broker.log') =>
      new Map(livesOf(objectsIn(local.home), log).map(({ life, text }) => [life, text?.toString()])),
  }
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'nodestate-ship-'))
    Object.assign(local, { logs: join(root, 'logs'), home: join(root, 'home'), reports: [] })
    mkdirSync(local.logs)
    mkdirSync(local.home)
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))
  return local
}

/** Waits for something to happen; if it never does, the test's own timeout ends it. */
export async function until(isReached: () => boolean): Promise<void> {
  while (!isReached()) await new Promise((resolve) => setTimeout(resolve, 5))
}
