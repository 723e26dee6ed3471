import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { s3Store } from '../../src/store/s3.ts'
import { parseKey } from '../../src/store/segment/names.ts'
import { bucketWriter } from '../support/bucket.ts'
import { noFaketime } from '../support/faketime.ts'
import { type Fault, startFaultProxy } from '../support/fault-proxy.ts'
import { type Flare, placeOf, startMiniflare } from '../support/miniflare.ts'
import { lacking, part } from '../support/parts.ts'
import { fractions } from '../support/random.mjs'
import { ChaoticLog, chaos, verifyShipped } from './chaos.ts'
import { livesOf, objectsIn, objectsOf } from './home.ts'

interface Place {
  endpoint: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  region: string
}

const credentials = ({ endpoint, accessKeyId, secretAccessKey, region }: Place) => ({
  AWS_ENDPOINT_URL: endpoint,
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: secretAccessKey,
  AWS_REGION: region,
})

/** Where the homes are in the bucket: the worker serves them as a fleet. */
const FLEET = 'chaos'
const WORKER = { main: 'dist/entry/service/cloudflare.js' }

interface Kind {
  name: string
  seed: number
  shippers: number
  faulty?: boolean
  clock?: boolean
  /** Where it is tried. */
  on: ('directory' | 'miniflare' | 'radosgw')[]
}

/**
 * A few runs that show what only real processes, files and stores can. The worlds kill shippers at any await, with every
 * way of rotating and naming and every fault of a bucket: see test/world.
 */
const KINDS: Kind[] = [
  { name: 'one shipper', seed: 1, shippers: 1, on: ['directory', 'miniflare'] },
  { name: 'two shippers', seed: 2, shippers: 2, on: ['directory', 'radosgw'] },
  { name: 'one shipper behind a proxy that fails', seed: 3, shippers: 1, faulty: true, on: ['radosgw'] },
  { name: 'one shipper whose clock is a year behind', seed: 4, shippers: 1, clock: true, on: ['miniflare'] },
]
const kindsOn = (place: Kind['on'][number]) => KINDS.filter(({ on }) => on.includes(place))

const needs = (['miniflare', 'node', 'workerd'] as const).map((name) => part(name).missing).find(Boolean)
describe.skipIf(needs)(`on Miniflare${needs ? ` (${needs})` : ''}`, () => {
  let flare: Flare
  beforeAll(async () => {
    flare = await startMiniflare({ ...WORKER, bindings: { NODESTATE_FLEET: FLEET, NODESTATE_INSECURE: '1' } })
  })
  afterAll(() => flare?.stop())
  suite(kindsOn('miniflare'), () => ({
    ...placeOf(flare),
    region: 'us-east-1',
    worker: flare.url,
  }))
})

const ceph = process.env.NODESTATE_TEST_RADOSGW?.replace(/^.*AWS_ENDPOINT_URL=(\S+).*$/s, '$1')
const KILLS = 5
const noCeph = ceph
  ? needs
  : lacking('NODESTATE_TEST_RADOSGW does not name an endpoint: see test/support/radosgw.sh')
describe.skipIf(noCeph)(`on Ceph's radosgw${noCeph ? ` (${noCeph})` : ''}`, () => {
  const place = {
    endpoint: ceph ?? '',
    bucket: `chaos-${Date.now().toString(36)}`,
    accessKeyId: 'testkey',
    secretAccessKey: 'testsecret',
    region: 'default',
  }
  let flare: Flare
  beforeAll(async () => {
    await bucketWriter(place).create()
    const bindings = { NODESTATE_FLEET: `s3://${place.bucket}/${FLEET}`, NODESTATE_INSECURE: '1' }
    flare = await startMiniflare({ ...WORKER, bindings: { ...bindings, ...credentials(place) } })
  })
  afterAll(() => flare?.stop())
  suite(kindsOn('radosgw'), () => ({ ...place, worker: flare.url }))
})

describe('in a directory', () => {
  for (const kind of kindsOn('directory')) {
    it(titleOf(kind), { timeout: 400_000 }, async () => {
      const root = mkdtempSync(join(tmpdir(), 'nodestate-chaos-'))
      const logs = join(root, 'logs')
      const home = join(root, 'home')
      mkdirSync(logs)
      try {
        const log = new ChaoticLog(logs, kind.seed + 100)
        const command = { logs, target: home, env: {} }
        await chaos(log, command, { kills: KILLS, shippers: kind.shippers })
        expectEveryFile(log, objectsIn(home), logs)
        expect(await verifyShipped(command)).toBe(0)
      } finally {
        rmSync(root, { recursive: true, force: true })
      }
    })
  }
})

function titleOf({ name }: Kind, why: string | false | null = null): string {
  return `${name}, killed again and again, loses and doubles nothing${why ? ` (${why})` : ''}`
}

/** Every file is a life, and every life a file. */
function expectEveryFile(log: ChaoticLog, objects: ReadonlyMap<string, Uint8Array>, logs: string): void {
  const shipped = livesOf(objects, 'broker.log')
    .map(({ text }) => text?.toString())
    .filter((text) => text !== '')
  const story = [...storyOf(objects, log), ...readdirSync(logs)].join('\n')
  for (const [i, text] of log.files.entries())
    expect(shipped.filter((other) => other === text).length, `file ${i + 1}\n${story}`).toBe(1)
  expect(shipped.length, story).toBe(log.files.length)
}

function suite(kinds: Kind[], place: () => Place & { worker: string }): void {
  for (const kind of kinds) {
    const { seed, shippers, faulty = false, clock = false } = kind
    const why = clock && noFaketime
    it.skipIf(why)(titleOf(kind, why), { timeout: 400_000 }, async () => {
      const root = mkdtempSync(join(tmpdir(), 'nodestate-chaos-'))
      const logs = join(root, 'logs')
      mkdirSync(logs)
      const { worker, ...bucket } = place()
      const proxy = await startFaultProxy(bucket.endpoint)
      const random = fractions(seed)
      if (faulty) proxy.each((method) => faultOf(method, random()))
      try {
        const log = new ChaoticLog(logs, seed)
        const env = credentials({ ...bucket, endpoint: proxy.endpoint })
        const target = `s3://${bucket.bucket}/${FLEET}/db-${seed}`
        await chaos(log, { logs, target, env, clock }, { kills: KILLS, shippers })
        proxy.each(() => ({ kind: 'pass' }))

        const objects = await objectsOf(s3Store({ ...bucket, prefix: `${FLEET}/db-${seed}` }))
        expectEveryFile(log, objects, logs)
        expect(await verifyShipped({ logs, target, env, clock })).toBe(0)
        const view = async (query: string) => {
          const path = `nodes/db-${seed}/api/v1/log/view?file=broker.log&size=1000000000${query}`
          const answer = await fetch(new URL(path, worker))
          expect(answer.status).toBe(200)
          return { text: await answer.text(), note: answer.headers.get('X-Nodestate-Note') }
        }
        // The log's name shows the active file, and the whole log every file, in order if it does not say otherwise.
        expect((await view('')).text === log.files.at(-1)).toBe(true)
        const whole = await view('&rotated=true')
        expect(whole.text.length).toBe(log.files.join('').length)
        if (whole.note === null) expect(whole.text === log.files.join('')).toBe(true)
        else expect(whole.note).toBe('family-order')
        if (shippers > 1) return
        for (const { life, text, ends } of livesOf(objects, 'broker.log'))
          if (ends.length > 0 && text!.length > 0)
            expect(concatenated(root, objects, life).equals(text!), `life ${life}`).toBe(true)
      } finally {
        await proxy.close()
        rmSync(root, { recursive: true, force: true })
      }
    })
  }
}

/** Which life is which file, to find out why a text is not what was written. */
function* storyOf(objects: ReadonlyMap<string, Uint8Array>, log: ChaoticLog): Generator<string> {
  for (const { life, text, ends } of livesOf(objects, 'broker.log')) {
    const own = text?.toString() ?? ''
    const file = log.files.findIndex((other) => own !== '' && other.startsWith(own)) + 1
    const size = log.files[file - 1]?.length
    yield `life ${life}: ${own.length} bytes, file ${file} of ${size} bytes; ends ${JSON.stringify(ends)}`
  }
}

/** What the shell makes of a life's folder. */
function concatenated(root: string, objects: ReadonlyMap<string, Uint8Array>, life: number): Buffer {
  const cwd = join(root, `life-${life}`)
  mkdirSync(cwd)
  for (const [key, bytes] of objects)
    if (parseKey(key)?.life === life && parseKey(key)?.log === 'broker.log')
      writeFileSync(join(cwd, basename(key)), bytes)
  return execFileSync('sh', ['-c', 'ls -r *.log.gz | xargs zcat'], { cwd, maxBuffer: 2 ** 28 })
}

/** 500s, cut connections, cut bodies, and answers that are lost after the PUT has landed. */
function faultOf(method: string, chance: number): Fault {
  if (chance < 0.06) return { kind: 'answer', status: 500 }
  if (chance < 0.09) return { kind: 'drop' }
  if (chance < 0.16 && method === 'PUT') return { kind: 'lose' }
  if (chance < 0.12) return { kind: 'truncate', after: 20 }
  return { kind: 'pass' }
}
