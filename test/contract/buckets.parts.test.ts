import { join } from 'node:path'
import * as vitest from 'vitest'
import { all, codeOf } from '../../src/store/contract/assert.ts'
import { storeContract } from '../../src/store/contract.ts'
import { s3Store } from '../../src/store/s3.ts'
import { bucketWriter } from '../support/bucket.ts'
import { type Flare, placeOf, startMiniflare } from '../support/miniflare.ts'
import { lacking, part } from '../support/parts.ts'
import { remoteStore } from './remote.ts'

const { afterAll, beforeAll, describe, expect, it } = vitest

const needs = (['miniflare', 'node', 'workerd'] as const).map((name) => part(name).missing).find(Boolean)

describe.skipIf(needs)(`Miniflare${needs ? ` (${needs})` : ''}`, () => {
  let flare: Flare
  beforeAll(async () => {
    flare = await startMiniflare({ main: join(import.meta.dirname, 'r2-worker.ts') })
  })
  afterAll(() => flare?.stop())
  const place = () => placeOf(flare)

  storeContract(vitest, 'R2, in workerd,', async () => remoteStore(flare.url), {
    alwaysThere: 'a binding names a bucket that exists: the deployment fails otherwise',
  })

  storeContract(vitest, 'S3, on the endpoint of Miniflare,', async () => {
    const writer = bucketWriter(place())
    return {
      store: s3Store({ ...place(), prefix: 's3/home' }),
      put: (key, bytes) => writer.put(`s3/home/${key}`, bytes),
      remove: (key) => writer.remove(`s3/home/${key}`),
      nowhere: s3Store({ ...place(), bucket: 'nowhere' }),
    }
  })

  describe('S3, on the endpoint of Miniflare,', () => {
    it('is denied to a wrong secret and to nobody at all', async () => {
      const wrong = s3Store({ ...place(), secretAccessKey: 'wrong' })
      const { accessKeyId: _, secretAccessKey: __, ...nobody } = place()
      for (const store of [wrong, s3Store(nobody)]) {
        expect(await codeOf(all(store.list()))).toBe('denied')
        expect(await codeOf(store.stat('x'))).toBe('denied')
        expect(await codeOf(store.read('x'))).toBe('denied')
      }
    })
  })
})

const ceph = process.env.NODESTATE_TEST_RADOSGW
const noCeph = ceph
  ? null
  : lacking('NODESTATE_TEST_RADOSGW does not name an endpoint: see test/support/radosgw.sh')

describe.skipIf(noCeph)(`Ceph's radosgw${noCeph ? ` (${noCeph})` : ''}`, () => {
  const place = {
    endpoint: ceph ?? '',
    bucket: `contract-${Date.now().toString(36)}`,
    accessKeyId: 'testkey',
    secretAccessKey: 'testsecret',
    region: 'default',
  }
  storeContract(vitest, "S3, on Ceph's radosgw,", async () => {
    const writer = bucketWriter(place)
    await writer.create()
    return {
      store: s3Store({ ...place, prefix: 'home/logs' }),
      put: (key, bytes) => writer.put(`home/logs/${key}`, bytes),
      remove: (key) => writer.remove(`home/logs/${key}`),
      nowhere: s3Store({ ...place, bucket: 'nowhere' }),
    }
  })

  it('gives an object stored with a Content-Encoding as it lies there', async () => {
    const writer = bucketWriter(place)
    const bytes = new Uint8Array([
      0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 75, 4, 0, 67, 190, 183, 232, 1, 0, 0, 0,
    ])
    await writer.put('packed.gz', bytes, { 'Content-Encoding': 'gzip' })
    let requests = 0
    const store = s3Store({
      ...place,
      fetch: (url, init) => {
        requests++
        return fetch(url, init)
      },
    })
    const read = await store.read('packed.gz')
    expect(read?.body).toEqual(bytes)
    expect(read?.entry.encoding).toBe('gzip')
    expect(requests).toBe(2)
    const tail = await store.read('packed.gz', { suffix: 4 })
    expect(tail?.body).toEqual(bytes.subarray(-4))
    expect(tail?.entry).toEqual(await store.stat('packed.gz'))
    expect(requests).toBe(4)
    await writer.put('packed.gz', 'plain')
    expect((await store.stat('packed.gz'))?.encoding).toBeUndefined()
    expect((await s3Store(place).read('packed.gz', { suffix: 4 }))?.entry.encoding).toBeUndefined()
  })
})
