import { once } from 'node:events'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConfigVersion, NodeConfig } from '../../src/doors/client.ts'
import { s3Store } from '../../src/store/s3.ts'
import { parseVersion } from '../../src/store/segment/configs.ts'
import { cleanUp, launch, type Program, serve, temporaryDirectory } from '../program.ts'
import { type Flare, placeOf, startMiniflare } from '../support/miniflare.ts'
import { part } from '../support/parts.ts'
import { objectsOf } from './home.ts'

const CONFIGS = [
  '[query]\nmax-workers = 30\npassword = "first-secret"\n',
  '[query]\nmax-workers = 64\npassword = "second-secret"\n',
  '# back\n[query]\nmax-workers = 30\npassword = "third-secret"\n[new]\nx = inf\n',
]
const CHANGES = [
  [
    { key: 'new.x', after: 'inf' },
    { key: 'query.max-workers', before: '64', after: '30' },
  ],
  [{ key: 'query.max-workers', before: '30', after: '64' }],
  [],
]

const masked = (toml: string) => toml.replace(/\w+-secret/, '********')

const needs = (['miniflare', 'node', 'workerd'] as const).map((name) => part(name).missing).find(Boolean)
describe.skipIf(needs)(`versions of a configuration in a bucket${needs ? ` (${needs})` : ''}`, () => {
  let flare: Flare
  let node: Program
  /** When each version was written, and when the shipper is known to have seen it. */
  const written: [from: number, to: number][] = []

  beforeAll(async () => {
    const bindings = { NODESTATE_HOME: 'prod/db-4', NODESTATE_INSECURE: '1' }
    flare = await startMiniflare({ main: 'dist/entry/service/cloudflare.js', bindings })
    const env = {
      AWS_ACCESS_KEY_ID: flare.accessKeyId,
      AWS_SECRET_ACCESS_KEY: flare.secretAccessKey,
      AWS_ENDPOINT_URL: flare.s3,
    }
    const root = temporaryDirectory()
    const logs = join(root, 'logs')
    const config = join(root, 'broker.toml')
    mkdirSync(logs)
    let line = 0
    const writer = setInterval(() => {
      appendFileSync(join(logs, 'broker.log'), `2026-11-14 02:10:00.000\tINFO\tline ${line++}\n`)
    }, 5)
    for (const [i, toml] of CONFIGS.entries()) {
      const from = Date.now()
      writeFileSync(config, toml)
      // Killed as soon as the version is there, and started again to finish what was under way.
      for (const isFirst of [true, false]) {
        const args = ['--logs', logs, '--config', config, '--flush', '100ms', `s3://logs/prod/db-4`]
        const shipper = launch(['ship', ...args], { env })
        while (!(isFirst ? (await versionKeys()).length > i : await isPresent(toml))) await sleep(20)
        if (isFirst) written.push([from, Date.now()])
        shipper.child.kill('SIGKILL')
        await once(shipper.child, 'close').catch(() => {})
      }
    }
    clearInterval(writer)
    node = await serve(['--port=0', '--home', 's3://logs/prod/db-4'], { env })
  }, 180_000)
  afterAll(async () => {
    await flare?.stop()
    await cleanUp()
  })

  const store = () => s3Store({ ...placeOf(flare), prefix: 'prod/db-4' })
  async function isPresent(toml: string): Promise<boolean> {
    const read = await store().read('config.toml')
    return read !== null && (await new Response(read.body).text()) === masked(toml)
  }
  async function versionKeys(): Promise<string[]> {
    const keys: string[] = []
    for await (const { key } of store().list('configs/')) keys.push(key)
    return keys
  }

  it('are there once each, and masked', async () => {
    const objects = await objectsOf(store())
    const keys = [...objects.keys()].filter((key) => parseVersion(key))
    expect(keys).toHaveLength(3)
    for (const bytes of objects.values())
      expect(new TextDecoder().decode(bytes)).not.toMatch(/(first|second|third)-secret/)
  })

  it.each(['Node', 'workerd'])('are read on %s, at their times', async (where) => {
    const base = where === 'Node' ? node.url : flare.url.replace(/\/$/, '')
    const get = async (path: string) => (await fetch(`${base}/api/v1/config${path}`)).json()
    const history = (await get('/history')) as ConfigVersion[]
    expect(history.map(({ changes }) => changes)).toEqual(CHANGES)
    for (const [i, { time, size }] of history.toReversed().entries()) {
      const text = masked(CONFIGS[i]!)
      expect(size).toBe(text.length)
      const [from, to] = written[i]!
      expect(time).toBeGreaterThanOrEqual(from)
      expect(time).toBeLessThanOrEqual(to)
      expect(((await get(`?at=${time}`)) as NodeConfig).config).toBe(text)
    }
    const first = history.at(-1)!.time
    expect(await get(`?at=${first - 1}`)).toMatchObject({ type: '/problems/no-version' })
    expect(((await get('')) as NodeConfig).config).toContain('# back')
  })
})
