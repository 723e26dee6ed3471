import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createConfigReader } from '../../../src/core/node/config.ts'
import { directoryBucket } from '../../../src/entry/ship/directory.ts'
import type { Bucket } from '../../../src/ship/bucket.ts'
import { crc32 } from '../../../src/store/codec/crc32.ts'
import { parseVersion } from '../../../src/store/segment/configs.ts'
import { readClock } from '../../support/manual-clock.ts'
import { objectsIn } from '../home.ts'
import { useLocal } from '../local.ts'

const local = useLocal()

/** Ships once with a configuration, at a time. */
function ship(toml: string, time: number, bucket?: Bucket) {
  const config = async () => (await createConfigReader(toml).read()).text
  const options = bucket ? { bucket } : {}
  return local.once({
    ...options,
    nodeFiles: { node: async () => null, config },
    clock: readClock(() => time),
  })
}

/** The versions in the bucket, newest first, as time and text. */
function versions(): [time: number, text: string][] {
  const found = [...objectsIn(local.home)].filter(([key]) => key.startsWith('configs/')).sort()
  return found.map(([key, bytes]) => {
    const { time, crc } = parseVersion(key)!
    expect(crc).toBe(crc32(bytes))
    return [time, new TextDecoder().decode(bytes)]
  })
}

describe('the versions of a configuration', () => {
  it('are kept once each, under the documented name', async () => {
    await ship('a = 1\n', 1_794_708_600_000)
    const text = new TextEncoder().encode('a = 1\n')
    const name = `configs/998205291399999-${crc32(text).toString(16).padStart(8, '0')}.toml`
    expect([...objectsIn(local.home).keys()]).toContain(name)
    await ship('a = 2\n', 1_794_708_700_000)
    expect(versions()).toEqual([
      [1_794_708_700_000, 'a = 2\n'],
      [1_794_708_600_000, 'a = 1\n'],
    ])
    expect(readFileSync(join(local.home, 'config.toml'), 'utf8')).toBe('a = 2\n')
  })

  it('are not repeated by a restart, but by a version that comes back', async () => {
    for (const [i, toml] of ['a = 1', 'a = 1', 'a = 2', 'a = 2', 'a = 1'].entries())
      await ship(toml, 1000 + i)
    expect(versions()).toEqual([
      [1004, 'a = 1'],
      [1002, 'a = 2'],
      [1000, 'a = 1'],
    ])
  })

  it('are in order even if the clock is set back', async () => {
    await ship('a = 1', 5000)
    await ship('a = 2', 4000)
    await ship('a = 3', 4000)
    expect(versions()).toEqual([
      [5002, 'a = 3'],
      [5001, 'a = 2'],
      [5000, 'a = 1'],
    ])
  })

  it('are masked, and a new secret is no new version', async () => {
    await ship('password = "first-secret"\n', 1000)
    await ship('password = "other-secret"\n', 2000)
    expect(versions()).toEqual([[1000, 'password = "********"\n']])
    for (const bytes of objectsIn(local.home).values())
      expect(new TextDecoder().decode(bytes)).not.toMatch(/(first|other)-secret/)
  })

  it('do not include what cannot be masked', async () => {
    await ship('a = 1', 1000)
    await ship('a = ', 2000)
    expect(versions()).toEqual([[1000, 'a = 1']])
    expect(local.reports.join()).toContain('The configuration is not shipped')
  })

  it('are written once even if a crash comes right after', async () => {
    const real = directoryBucket(local.home)
    const put: Bucket['put'] = async (key, ...rest) => {
      if (key === 'config.toml') throw new Error('crashed')
      return real.put(key, ...rest)
    }
    const crashed = local.shipper({
      bucket: { ...real, put },
      nodeFiles: { node: async () => null, config: async () => 'a = 1' },
      clock: readClock(() => 1000),
      stopMs: 300,
    })
    crashed.stop()
    await crashed.run()
    expect(versions()).toEqual([[1000, 'a = 1']])
    await ship('a = 1', 2000)
    expect(versions()).toEqual([[1000, 'a = 1']])
    expect(readFileSync(join(local.home, 'config.toml'), 'utf8')).toBe('a = 1')
  })

  it('ignore what else is in the folder', async () => {
    await ship('a = 1', 1000)
    writeFileSync(join(local.home, 'configs', '000-notes.txt'), 'x')
    await ship('a = 1', 2000)
    await ship('a = 2', 3000)
    const known = [...objectsIn(local.home).keys()].filter((key) => parseVersion(key))
    expect(known).toHaveLength(2)
  })
})
