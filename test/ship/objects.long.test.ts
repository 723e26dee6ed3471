import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { nodeDisk } from '../../src/entry/ship/disk.ts'
import { readClock } from '../support/manual-clock.ts'
import { livesOf, objectsIn } from './home.ts'
import { useLocal } from './local.ts'

const local = useLocal()
const MIB = 1024 * 1024

/** The bounds that docs/shipping.md gives, for a day: objects and bytes. */
const documented = readFileSync('docs/shipping.md', 'utf8')

/** Lines that differ as those of a log do. */
function linesOf(seconds: number, bytesPerSecond: number, from: number): string {
  const lines: string[] = []
  for (let size = 0, i = from; size < seconds * bytesPerSecond; i++) {
    const line = `2026-11-14 02:10:${String(i % 60).padStart(2, '0')}.${(i * 7919) % 1000}\tINFO\tshard.go:${i % 400}\t[Storage] [Shard${i % 17}]: flush of family ${(i * 2654435761) % 100_003} took ${(i * 48271) % 9973} us\n`
    lines.push(line)
    size += line.length
  }
  return lines.join('')
}

/** Ships a log that is written for some hours of the shipper's clock, and rotated once; all objects and their bytes. */
async function hoursOf(hours: number, bytesPerSecond: number) {
  const file = local.at('broker.log')
  writeFileSync(file, linesOf(1, bytesPerSecond, 0))
  const disk = nodeDisk(local.logs, () => {})
  let seconds = 0
  let isRotated = false
  // Time passes when the shipper looks, and only then.
  const list = () => {
    seconds += 10
    if (seconds > hours * 3600) shipper.stop()
    else {
      if (seconds > hours * 1800 && !isRotated) {
        isRotated = true
        renameSync(file, local.at('broker.log.1'))
      }
      appendFileSync(file, linesOf(10, bytesPerSecond, seconds * 1000))
    }
    return disk.list()
  }
  const shipper = local.shipper({
    disk: { ...disk, list },
    once: false,
    lookMs: 0,
    clock: readClock(() => seconds * 1000),
    rules: { segmentBytes: 8 * MIB, segmentAgeMs: 3_600_000, flushMs: 10_000, lineAgeMs: 60_000 },
  })
  expect(await shipper.run()).toBe('done')
  const text = readFileSync(local.at('broker.log.1'), 'utf8') + readFileSync(file, 'utf8')
  const objects = objectsIn(local.home)
  const lives = livesOf(objects, 'broker.log')
  expect(lives.map((life) => life.text?.toString()).join('') === text).toBe(true)
  const ofLog = [...objects].filter(([key]) => key.includes('/broker.log/'))
  const bytes = ofLog.reduce((sum, [, { length }]) => sum + length, 0)
  return { objects: ofLog.length, bytes, text: Buffer.byteLength(text), packed: gzipSync(text).length }
}

it.each([
  ['one line a second', 8, 90],
  ['26 KB a second', 0.5, 26_000],
])('leaves as few objects and bytes as docs/shipping.md says: %s', async (_, hours, rate) => {
  const { objects, bytes, text, packed } = await hoursOf(hours, rate)
  expect(documented).toContain('| objects | 24 + 3 for each time it is rotated + its text / 8 MiB |')
  // The file that is written now has a `~`, too.
  expect(objects).toBeLessThanOrEqual(hours + 3 + 1 + text / (8 * MIB))
  expect(documented).toContain('| bytes | its text as gzip makes it, and 10 % |')
  expect(bytes).toBeLessThanOrEqual(packed * 1.1)
})
