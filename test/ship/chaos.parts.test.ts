import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../../src/app.ts'
import { stemOf } from '../../src/log/files/names.ts'
import { s3Store } from '../../src/store/s3.ts'
import { segmentStore } from '../../src/store/segments.ts'
import { bucketWriter } from '../support/bucket.ts'
import { type Fault, startFaultProxy } from '../support/fault-proxy.ts'
import { type Flare, startMiniflare } from '../support/miniflare.ts'
import { lacking, part } from '../support/parts.ts'
import { fractions } from '../support/random.mjs'
import { ChaoticLog, chaos } from './chaos.ts'
import { livesOf } from './home.ts'

/** Kills for each of the six: a few in every run, a hundred in all where there is time for them. */
const KILLS = process.env.NODESTATE_TEST_LONG ? 17 : 4

interface Place {
  endpoint: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  region: string
}

const needs = (['miniflare', 'node', 'workerd'] as const).map((name) => part(name).missing).find(Boolean)
describe.skipIf(needs)(`on Miniflare${needs ? ` (${needs})` : ''}`, () => {
  let flare: Flare
  beforeAll(async () => {
    flare = await startMiniflare()
  })
  afterAll(() => flare?.stop())
  suite(() => ({ ...flare, endpoint: flare.s3, region: 'us-east-1' }))
})

const ceph = process.env.NODESTATE_TEST_RADOSGW?.replace(/^.*AWS_ENDPOINT_URL=(\S+).*$/s, '$1')
const noCeph = ceph
  ? null
  : lacking('NODESTATE_TEST_RADOSGW does not name an endpoint: see test/support/radosgw.sh')
describe.skipIf(noCeph)(`on Ceph's radosgw${noCeph ? ` (${noCeph})` : ''}`, () => {
  const place = {
    endpoint: ceph ?? '',
    bucket: `chaos-${Date.now().toString(36)}`,
    accessKeyId: 'testkey',
    secretAccessKey: 'testsecret',
    region: 'default',
  }
  beforeAll(() => bucketWriter(place).create())
  suite(() => place)
})

function suite(place: () => Place): void {
  it.each([
    ['one shipper', 1, 1, false],
    ['two shippers', 2, 2, false],
    ['one shipper behind a proxy that fails', 3, 1, true],
  ])(
    '%s, killed again and again, loses and doubles nothing',
    { timeout: 400_000 },
    async (_, seed, shippers, faulty) => {
      const root = mkdtempSync(join(tmpdir(), 'nodestate-chaos-'))
      const logs = join(root, 'logs')
      mkdirSync(logs)
      const { endpoint, bucket, accessKeyId, secretAccessKey, region } = place()
      const proxy = await startFaultProxy(endpoint)
      const random = fractions(seed)
      if (faulty) proxy.each((method) => faultOf(method, random()))
      try {
        const log = new ChaoticLog(logs, seed)
        const prefix = `chaos-${seed}`
        const env = {
          AWS_ENDPOINT_URL: proxy.endpoint,
          AWS_ACCESS_KEY_ID: accessKeyId,
          AWS_SECRET_ACCESS_KEY: secretAccessKey,
          AWS_REGION: region,
        }
        await chaos(log, { logs, target: `s3://${bucket}/${prefix}`, env }, { kills: KILLS, shippers })
        proxy.each(() => ({ kind: 'pass' }))

        const home = s3Store({ ...place(), prefix })
        const mirror = s3Store({ ...place(), prefix: `${prefix}/logs` })
        const app = createApp({
          logs: segmentStore(home, mirror, { stemOf }),
          config: '',
        })
        const answer = await app.request('/api/v1/log/view?file=broker.log&rotated=true&size=1000000000')
        expect(answer.headers.get('X-Nodestate-Note')).toBeNull()
        const text = await answer.text()
        expect(text.length).toBe(log.text.length)
        expect(text === log.text).toBe(true)
        if (shippers > 1) return
        const objects = new Map<string, Uint8Array>()
        for await (const { key } of home.list()) {
          const read = await home.read(key)
          objects.set(key, new Uint8Array(await new Response(read!.body).arrayBuffer()))
        }
        for (const { life, text, plain, ends } of livesOf(objects, 'broker.log'))
          if (ends.length > 0) expect(plain.equals(text!), `life ${life}`).toBe(true)
      } finally {
        await proxy.close()
        rmSync(root, { recursive: true, force: true })
      }
    },
  )
}

/** 500s, cut connections, cut bodies, and answers that are lost after the PUT has landed. */
function faultOf(method: string, chance: number): Fault {
  if (chance < 0.06) return { kind: 'answer', status: 500 }
  if (chance < 0.09) return { kind: 'drop' }
  if (chance < 0.16 && method === 'PUT') return { kind: 'lose' }
  if (chance < 0.12) return { kind: 'truncate', after: 20 }
  return { kind: 'pass' }
}
