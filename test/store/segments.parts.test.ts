import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { s3Store } from '../../src/store/s3.ts'
import { segmentStore } from '../../src/store/segments.ts'
import { createApp } from '../support/app.ts'
import { bucketWriter } from '../support/bucket.ts'
import { type Flare, placeOf, startMiniflare } from '../support/miniflare.ts'
import { lacking, part } from '../support/parts.ts'
import { putEnd, putSegment } from '../support/segments.ts'

interface Place {
  endpoint: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  region: string
}

/** A list has three pages of them; the counts are the same with more. */
const SEGMENTS = 2_500
/** Short lines, so that the segments are quick to write; requests depend on names alone. */
const LENGTH = 64

const needs = (['miniflare', 'node', 'workerd'] as const).map((name) => part(name).missing).find(Boolean)
describe.skipIf(needs)(`${SEGMENTS} segments on Miniflare${needs ? ` (${needs})` : ''}`, () => {
  let flare: Flare
  beforeAll(async () => {
    flare = await startMiniflare()
  })
  afterAll(() => flare?.stop())
  suite(() => ({ ...placeOf(flare), region: 'us-east-1' }))
})

const ceph = process.env.NODESTATE_TEST_RADOSGW?.replace(/^.*AWS_ENDPOINT_URL=(\S+).*$/s, '$1')
const noCeph = ceph
  ? null
  : lacking('NODESTATE_TEST_RADOSGW does not name an endpoint: see test/support/radosgw.sh')
describe.skipIf(noCeph)(`${SEGMENTS} segments on Ceph's radosgw${noCeph ? ` (${noCeph})` : ''}`, () => {
  const place = {
    endpoint: ceph ?? '',
    bucket: `segments-${Date.now().toString(36)}`,
    accessKeyId: 'testkey',
    secretAccessKey: 'testsecret',
    region: 'default',
  }
  beforeAll(() => bucketWriter(place).create())
  suite(() => place)
})

function suite(place: () => Place): void {
  const text = new TextEncoder().encode(
    Array.from({ length: SEGMENTS }, (_, i) => `line ${String(i).padStart(LENGTH - 6, '0')}\n`).join(''),
  )

  /** A cold instance in front of the bucket, and what it asks. */
  function instance() {
    const asked: string[] = []
    let retries = 0
    const open = (prefix: string) =>
      s3Store({
        ...place(),
        prefix,
        onRetry: () => {
          retries++
        },
        fetch: (url, init) => {
          asked.push(`${init.method} ${url}`)
          return fetch(url, init)
        },
      })
    const logs = segmentStore(open('home'), open('home/logs'))
    // Not counted: retries on a machine that is too busy, and the rest of a page that the bucket cut short, as radosgw
    // does now and then.
    const lists = () =>
      asked.filter((line) => line.includes('list-type=2') && !line.includes('continuation-token')).length -
      retries
    return { logs, asked, lists, app: createApp({ logs, config: '' }) }
  }

  beforeAll(async () => {
    const writer = bucketWriter(place())
    const put = (key: string, bytes: Uint8Array | string) => writer.put(`home/${key}`, bytes)
    const jobs: (() => Promise<unknown>)[] = []
    for (let i = 0; i < SEGMENTS; i++)
      jobs.push(() => putSegment(put, text, [i * LENGTH, (i + 1) * LENGTH], { log: 'broker.log' }))
    for (let log = 0; log < 50; log++) {
      const name = `log-${String(log).padStart(2, '0')}.log`
      for (let life = 1; life <= 20; life++)
        jobs.push(() => putEnd(put, text.subarray(0, 64), { log: name, life }))
      jobs.push(() => putSegment(put, text, [0, 64], { log: name, life: 21 }))
    }
    const work = async () => {
      for (let job = jobs.shift(); job; job = jobs.shift()) await job()
    }
    await Promise.all(Array.from({ length: 24 }, work))
  }, 300_000)

  it('cost one LIST and one GET for the size', async () => {
    const { logs, asked, lists } = instance()
    await logs.stat('broker.log')
    expect(lists()).toBe(1)
    asked.length = 0
    expect((await logs.stat('broker.log'))?.size).toBe(text.length)
    expect(asked).toHaveLength(2)
    expect(lists()).toBe(1)
  })

  it('cost at most 5 requests for a tail on a cold instance', async () => {
    const { app, asked } = instance()
    const answer = await app.request(`/api/v1/log/view?file=broker.log&size=${LENGTH}`)
    expect(await answer.text()).toBe(new TextDecoder().decode(text.subarray(-LENGTH)))
    // A second try after a broken connection is the same request; the rest of a page that was cut short is not counted.
    const requests = new Set(asked.filter((line) => !line.includes('continuation-token')))
    expect(requests.size).toBeLessThanOrEqual(5)
  })

  it('cost at most 2 LISTs and the segments it touches for any range', async () => {
    for (const index of [0, 17, SEGMENTS / 2, SEGMENTS - 21, SEGMENTS - 10]) {
      const { logs, asked, lists } = instance()
      const offset = index * LENGTH + 3
      const read = await logs.read('broker.log', { offset, length: 2 * LENGTH })
      expect(
        Buffer.compare(
          new Uint8Array(await new Response(read!.body).arrayBuffer()),
          text.subarray(offset, offset + 2 * LENGTH),
        ),
      ).toBe(0)
      expect(lists(), String(index)).toBeLessThanOrEqual(2)
      // The name of a segment is also in the token for the rest of a page.
      const segments = new Set(
        asked.filter((line) => line.includes('.log.gz') && !line.includes('list-type=2')),
      )
      expect(segments.size, String(index)).toBe(3)
    }
  })

  it('cost 4 requests for the list of 50 logs with 1,000 finished lives while the heartbeat is fresh', async () => {
    const collect = async () => {
      const { logs, asked } = instance()
      const names: string[] = []
      for await (const { key } of logs.list('', { shallow: true })) names.push(key)
      return { names, asked }
    }
    const without = await collect()
    expect(without.names).toHaveLength(50 * 21 + 1)
    // A LIST and a GET more for each of the 51 logs, and one that finds no heartbeat.
    expect(without.asked.length).toBeLessThanOrEqual(4 + 2 * 51 + 1)
    const shipped = (life: number, size: number) => ({ life, size, lagBytes: 0, lagSeconds: 0 })
    const entries = Array.from({ length: 50 }, (_, i) => [
      `log-${String(i).padStart(2, '0')}.log`,
      shipped(21, 64),
    ])
    const logs = { ...Object.fromEntries(entries), 'broker.log': shipped(1, text.length) }
    const beat = { host: 'h', run: 'r', version: '1', node: null, logs, error: null }
    await bucketWriter(place()).put('home/ship.json', JSON.stringify(beat))
    const { names, asked } = await collect()
    expect(names).toEqual(without.names)
    expect(asked).toHaveLength(4)
  })

  it('cost one LIST in two seconds for all followers', async () => {
    const { app, lists } = instance()
    const start = Date.now()
    const follow = () => app.request('/api/v1/log/view?file=log-00.log&follow=true&lines=1')
    const answers = await Promise.all(Array.from({ length: 10 }, follow))
    await new Promise((resolve) => setTimeout(resolve, 4500))
    for (const answer of answers) await answer.body?.cancel()
    expect(lists()).toBeLessThanOrEqual(Math.ceil((Date.now() - start) / 2000) + 1)
  })
}
