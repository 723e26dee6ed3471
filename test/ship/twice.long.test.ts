import { appendFileSync, renameSync, truncateSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { nodeDisk } from '../../src/entry/ship/disk.ts'
import { until, useLocal } from './local.ts'

const local = useLocal()
const { at, once, shipper, texts } = local

let count = 0
const lines = (many: number) =>
  Array.from(
    { length: many },
    () => `2026-11-14 02:10:00.000\tINFO\ta.go:1\t[A] [B]: line ${count++}\n`,
  ).join('')

/** A file that was last changed an hour ago: nobody is writing it. */
function put(name: string, text: string | Uint8Array): void {
  writeFileSync(at(name), text)
  utimesSync(at(name), Date.now() / 1000 - 3600, Date.now() / 1000 - 3600)
}

describe('a file is shipped once, although', () => {
  // As gzip leaves it for a moment: the archive is whole, and the file is not removed yet.
  it.each(['broker.log-1794391260', 'broker.log.1'])(
    'it is compressed as %s before all of it is shipped',
    async (rotated) => {
      const [a, rest, b] = [lines(200), lines(100), lines(3)]
      put('broker.log', a)
      await once()
      appendFileSync(at('broker.log'), rest)
      renameSync(at('broker.log'), at(rotated))
      put(`${rotated}.gz`, gzipSync(a + rest))
      put('broker.log', b)
      expect(await once()).toBe('done')
      expect([...texts()]).toEqual([
        [1, a + rest],
        [2, b],
      ])
    },
  )

  it('it got late lines, and is compressed before they are shipped', async () => {
    const [a, late, b] = [lines(200), lines(2), lines(3)]
    put('broker.log-1794391260', a)
    put('broker.log', b)
    await once()
    appendFileSync(at('broker.log-1794391260'), late)
    put('broker.log-1794391260.gz', gzipSync(a + late))
    expect(await once()).toBe('done')
    expect([...texts()]).toEqual([
      [1, a + late],
      [2, b],
    ])
  })

  it('it gets late lines while the shipper runs, and is compressed then', async () => {
    const [a, late, b] = [lines(200), lines(2), lines(3)]
    put('broker.log.1', a)
    put('broker.log', b)
    const running = shipper({ once: false })
    const done = running.run()
    await until(() => running.status.get('broker.log')?.open.join() === '2')
    appendFileSync(at('broker.log.1'), late)
    await until(() => texts().get(1) === a + late)
    put('broker.log.1.gz', gzipSync(a + late))
    unlinkSync(at('broker.log.1'))
    running.stop()
    await done
    expect([...texts()]).toEqual([
      [1, a + late],
      [2, b],
    ])
  })

  it('its archive was looked at before it was whole', async () => {
    const [a, b] = [lines(3000), lines(3)]
    const packed = gzipSync(a)
    put('broker.log.1', a)
    put('broker.log', b)
    const running = shipper({ once: false })
    const done = running.run()
    await until(() => running.status.get('broker.log')?.open.join() === '2')
    put('broker.log.1.gz', packed.subarray(0, packed.length / 2))
    await until(() => running.waiting.left.length === 1)
    put('broker.log.1.gz', packed)
    unlinkSync(at('broker.log.1'))
    await until(() => running.waiting.left.length === 0)
    running.stop()
    expect(await done).toBe('done')
    expect([...texts()]).toEqual([
      [1, a],
      [2, b],
    ])
  })

  it('its copy is finished, and it is truncated, while the two are compared', async () => {
    const a = lines(20)
    put('broker.log', a)
    const real = nodeDisk(local.logs, (line) => local.reports.push(line))
    let isFinished = false
    const open: typeof real.open = async (name) => {
      const file = await real.open(name)
      if (!file || name !== 'broker.log.1') return file
      const read: typeof file.read = (...asked) => {
        // The disk was full: the copy had one byte at the check.
        if (asked[1] === 1 && !isFinished) {
          isFinished = true
          appendFileSync(at('broker.log.1'), a.slice(1))
          truncateSync(at('broker.log'))
        }
        return file.read(...asked)
      }
      return { ...file, read }
    }
    const running = shipper({ once: false, disk: { ...real, open } })
    const done = running.run()
    await until(() => texts().get(1) === a)
    writeFileSync(at('broker.log.1'), a.slice(0, 1))
    await until(() => isFinished)
    running.stop()
    expect(await done).toBe('done')
    expect([...texts()]).toEqual([[1, a]])
  })

  it('there is an archive of it while it is active', async () => {
    const [a, b] = [lines(200), lines(3)]
    put('broker.log', a)
    put('broker.log.1.gz', gzipSync(a))
    expect(await once()).toBe('done')
    expect([...texts().values()]).toEqual([a])
    // From here on it is another file.
    appendFileSync(at('broker.log'), b)
    expect(await once()).toBe('done')
    expect([...texts().values()].sort()).toEqual([a, a + b])
  })
})

it('ships an archive that begins as a file does that is being shipped, and is another one', async () => {
  const [banner, a, b, c] = [lines(100), lines(100), lines(100), lines(3)]
  put('broker.log', banner)
  await once()
  appendFileSync(at('broker.log'), a)
  renameSync(at('broker.log'), at('broker.log.1'))
  put('broker.log.2.gz', gzipSync(banner + b))
  put('broker.log', c)
  expect(await once()).toBe('done')
  expect([...texts().values()].sort()).toEqual([banner + a, banner + b, c].sort())
})
