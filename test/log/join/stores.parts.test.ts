import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fsStore } from '../../../src/store/fs.ts'
import { s3Store } from '../../../src/store/s3.ts'
import type { Store } from '../../../src/store/store.ts'
import { remoteStore } from '../../contract/remote.ts'
import { createApp } from '../../support/app.ts'
import { bucketWriter } from '../../support/bucket.ts'
import { type Flare, placeOf, startMiniflare } from '../../support/miniflare.ts'
import { lacking, part } from '../../support/parts.ts'
import { KEYS, lineAt } from './bucket.ts'

const MINUTE = 60_000
const END = Date.UTC(2026, 10, 15, 10)
const COUNT = 40
const SHIPPERS = ['Vector', 'Fluent Bit', 'Firehose', 'Logstash']

interface Place {
  store: Store
  put(key: string, bytes: Uint8Array): unknown
}

const timeOf = (i: number) => END - (COUNT - i) * 17 * MINUTE
const textOf = (i: number) =>
  lineAt(timeOf(i), `object ${i} a`, i % 10 ? 'info' : 'error') + lineAt(timeOf(i) + MINUTE, `object ${i} b`)
/** Every other object is compressed, whatever its name says. */
const bytesOf = (i: number) => (i % 2 ? gzipSync(textOf(i)) : new TextEncoder().encode(textOf(i)))
const linkOf = (response: Response, rel: string) =>
  new RegExp(`<\\?([^>]*)>; rel="${rel}"`).exec(response.headers.get('Link') ?? '')?.[1]

/** Each shipper's layout is one log, wherever it lies. */
function joinedLogs(open: () => Place): void {
  it.each(SHIPPERS)('shows the objects of %s as one log', async (shipper) => {
    const { store, put } = open()
    const log = shipper.toLowerCase().replace(' ', '-')
    for (let i = 0; i < COUNT; i++) await put(KEYS[shipper]!(log, timeOf(i), i), bytesOf(i))
    const texts = Array.from({ length: COUNT }, (_, i) => textOf(i))
    const app = createApp({ logs: store, config: '', join: true })
    const ask = async (path: string) => {
      const response = await app.request(`/api/v1/log/${path}`)
      const body = await response.text()
      expect(response.status, body).toBe(200)
      return { response, body }
    }
    const list = JSON.parse((await ask('list')).body) as { name: string; size: number }[]
    const size = Array.from({ length: COUNT }, (_, i) => bytesOf(i).length).reduce((a, b) => a + b)
    expect(list.filter(({ name }) => name.startsWith(log))).toEqual([{ name: log, size }])
    expect((await ask(`view?file=${log}`)).body).toBe(texts.join(''))
    expect((await ask(`download?file=${log}`)).body).toBe(texts.join(''))
    const errors = texts.flatMap((text) => text.split('\n').filter((line) => line.includes('\terror\t')))
    expect((await ask(`view?file=${log}&level=error`)).body).toBe(`${errors.join('\n')}\n`)
    const [since, until] = [timeOf(10), timeOf(13)].map((time) => new Date(time).toISOString())
    expect((await ask(`view?file=${log}&since=${since}&until=${until}`)).body).toBe(
      texts.slice(10, 13).join(''),
    )
    let pages = ''
    for (let query: string | undefined = `file=${log}&size=700`; query; ) {
      const { response, body } = await ask(`view?${query}`)
      pages = body + pages
      query = linkOf(response, 'prev')
    }
    expect(pages).toBe(texts.join(''))
    const { response } = await ask(`view?file=${log}&size=1000`)
    const leave = new AbortController()
    const follow = await app.request(`/api/v1/log/view?file=${log}&follow=true&lines=1`, leave)
    await put(KEYS[shipper]!(log, timeOf(COUNT), COUNT), bytesOf(COUNT))
    expect((await ask(`view?${linkOf(response, 'next')}`)).body).toBe(textOf(COUNT))
    const reader = follow.body!.pipeThrough(new TextDecoderStream()).getReader()
    let seen = ''
    while (!seen.includes(textOf(COUNT))) seen += (await reader.read()).value
    expect(seen).toBe(`${texts[COUNT - 1]!.split('\n')[1]}\n${textOf(COUNT)}`)
    leave.abort()
    const [detail] = JSON.parse((await ask('list?detail=true')).body).filter(
      ({ name }: { name: string }) => name === log,
    )
    expect(Date.parse(detail.first)).toBe(timeOf(0))
  })
}

describe('a directory', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nodestate-joined-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const put = (key: string, bytes: Uint8Array) => {
    mkdirSync(dirname(join(folder, key)), { recursive: true })
    writeFileSync(join(folder, '.new'), bytes)
    renameSync(join(folder, '.new'), join(folder, key))
  }
  joinedLogs(() => ({ store: fsStore(folder, { nested: true }), put }))
})

const needs = (['miniflare', 'node', 'workerd'] as const).map((name) => part(name).missing).find(Boolean)

describe.skipIf(needs)(`Miniflare${needs ? ` (${needs})` : ''}`, () => {
  let flare: Flare
  beforeAll(async () => {
    flare = await startMiniflare({ main: join(import.meta.dirname, '../../contract/r2-worker.ts') })
  })
  afterAll(() => flare?.stop())

  describe('R2, in workerd,', () => joinedLogs(() => remoteStore(flare.url)))

  describe('S3, on the endpoint of Miniflare,', () =>
    joinedLogs(() => {
      const place = placeOf(flare)
      const writer = bucketWriter(place)
      return {
        store: s3Store({ ...place, prefix: 's3' }),
        put: (key, bytes) => writer.put(`s3/${key}`, bytes),
      }
    }))
})

const ceph = process.env.NODESTATE_TEST_RADOSGW
const noCeph = ceph
  ? null
  : lacking('NODESTATE_TEST_RADOSGW does not name an endpoint: see test/support/radosgw.sh')

describe.skipIf(noCeph)(`Ceph's radosgw, with Content-Encoding${noCeph ? ` (${noCeph})` : ''}`, () => {
  const place = {
    endpoint: ceph ?? '',
    bucket: `joined-${Date.now().toString(36)}`,
    accessKeyId: 'testkey',
    secretAccessKey: 'testsecret',
    region: 'default',
  }
  beforeAll(() => bucketWriter(place).create())
  // As Fluent Bit does with `compression gzip`.
  const headersOf = (bytes: Uint8Array): Record<string, string> =>
    bytes[0] === 0x1f ? { 'Content-Encoding': 'gzip' } : {}
  joinedLogs(() => ({
    store: s3Store(place),
    put: (key, bytes) => bucketWriter(place).put(key, bytes, headersOf(bytes)),
  }))
})
