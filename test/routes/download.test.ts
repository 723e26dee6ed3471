import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp } from '../support/app.ts'

const TEXT = '0123456789'
const GZ = gzipSync('hello\n')

function setup() {
  const store = memoryStore({ 'a.log': TEXT, 'empty.log': '', 'old.log.gz': GZ, 'knoten-ü.log': 'x' })
  const app = createApp({ logs: store, config: '' })
  const get = (query: string, headers: Record<string, string> = {}, method = 'GET') =>
    app.request(`/api/v1/log/download?${query}`, { headers, method })
  return { store, get }
}
const { get } = setup()

describe('download', () => {
  test('the whole file, to be saved', async () => {
    const response = await get('file=a.log')
    expect(response.status).toBe(200)
    expect(await response.text()).toBe(TEXT)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '10',
      'content-disposition': 'attachment; filename="a.log"',
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-cache',
      'x-content-type-options': 'nosniff',
    })
    expect(response.headers.get('etag')).toMatch(/^"[^"]+"$/)
    expect(response.headers.has('content-range')).toBe(false)
  })
  test('an archive as it is stored', async () => {
    const response = await get('file=old.log.gz')
    expect(response.headers.get('content-type')).toBe('application/gzip')
    expect(response.headers.has('content-encoding')).toBe(false)
    expect(Buffer.from(await response.arrayBuffer()).equals(GZ)).toBe(true)
  })
  test.each([
    ['bytes=0-0', '0', '0-0'],
    ['bytes=-1', '9', '9-9'],
    ['bytes=3-5', '345', '3-5'],
    ['bytes=7-', '789', '7-9'],
    ['bytes=-100', TEXT, '0-9'],
    ['bytes=5-100', '56789', '5-9'],
    ['bytes=0-9', TEXT, '0-9'],
  ])('%s is 206', async (range, body, content) => {
    const response = await get('file=a.log', { Range: range })
    expect(response.status).toBe(206)
    expect(response.headers.get('content-range')).toBe(`bytes ${content}/10`)
    expect(response.headers.get('content-length')).toBe(String(body.length))
    expect(await response.text()).toBe(body)
  })
  test.each([
    ['a.log', 'bytes=10-', 10],
    ['a.log', 'bytes=10-20', 10],
    ['a.log', 'bytes=-0', 10],
    ['empty.log', 'bytes=0-', 0],
    ['empty.log', 'bytes=0-0', 0],
  ])('%s, %s is 416 and tells the size', async (file, range, size) => {
    const response = await get(`file=${file}`, { Range: range })
    expect(response.status).toBe(416)
    expect(response.headers.get('content-range')).toBe(`bytes */${size}`)
    expect(await response.json()).toMatchObject({ type: '/problems/range-not-satisfiable', status: 416 })
  })
  test.each(['lines=0-1', 'bytes=a-b', 'bytes=5-4', 'bytes=0-1,3-4', 'bytes=', 'nonsense'])(
    '%s is ignored',
    async (range) => {
      const response = await get('file=a.log', { Range: range })
      expect(response.status).toBe(200)
      expect(await response.text()).toBe(TEXT)
    },
  )
  test('the last bytes of an empty file are all of it', async () => {
    const response = await get('file=empty.log', { Range: 'bytes=-5' })
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('')
  })
  test('If-Range: the same strong tag gives the range, all else the whole', async () => {
    const { store, get } = setup()
    const etag = (await get('file=a.log')).headers.get('etag')!
    const ask = (ifRange: string) => get('file=a.log', { Range: 'bytes=0-0', 'If-Range': ifRange })
    expect((await ask(etag)).status).toBe(206)
    for (const other of ['"other"', `W/${etag}`, 'Sun, 15 Nov 2026 02:10:00 GMT', 'junk']) {
      const response = await ask(other)
      expect([response.status, await response.text()]).toEqual([200, TEXT])
    }
    store.put('a.log', `${TEXT}more`)
    const response = await ask(etag)
    expect([response.status, await response.text()]).toEqual([200, `${TEXT}more`])
    const beyond = await get('file=a.log', { Range: 'bytes=99-', 'If-Range': '"other"' })
    expect(beyond.status).toBe(200)
  })
  test('If-None-Match outranks Range', async () => {
    const etag = (await get('file=a.log')).headers.get('etag')!
    for (const tags of [etag, `W/${etag}`, '*', `"x", ${etag}`])
      for (const method of ['GET', 'HEAD']) {
        const response = await get('file=a.log', { Range: 'bytes=0-0', 'If-None-Match': tags }, method)
        expect([response.status, response.headers.get('etag')]).toEqual([304, etag])
      }
    expect((await get('file=a.log', { Range: 'bytes=0-0', 'If-None-Match': '"x"' })).status).toBe(206)
    expect((await get('file=a.log', { Range: 'bytes=0-0', 'If-None-Match': '"x", "y"' })).status).toBe(206)
  })
  test('HEAD tells of the whole, whatever the range', async () => {
    const response = await get('file=a.log', { Range: 'bytes=0-0' }, 'HEAD')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-length')).toBe('10')
    expect(response.headers.get('accept-ranges')).toBe('bytes')
    expect(await response.text()).toBe('')
  })
  test('tells when the file was written', async () => {
    const modified = Date.parse((await get('file=a.log')).headers.get('last-modified')!)
    expect(Math.abs(Date.now() - modified)).toBeLessThan(60_000)
    for (const headers of [{}, { Range: 'bytes=0-0' }] as Record<string, string>[])
      expect(Date.parse((await get('file=a.log', headers)).headers.get('last-modified')!)).toBe(modified)
  })
  test('If-Match reads a range of that version, or none', async () => {
    const { store, get } = setup()
    const etag = (await get('file=a.log', {}, 'HEAD')).headers.get('etag')!
    const asked = { Range: 'bytes=2-3', 'If-Match': etag }
    expect(await (await get('file=a.log', asked)).text()).toBe('23')
    store.put('a.log', new TextEncoder().encode('abcdefghij'))
    for (const headers of [asked, { 'If-Match': etag }, { ...asked, 'If-Match': `${etag}, "x"` }]) {
      const response = await get('file=a.log', headers)
      expect(response.status).toBe(412)
      expect(await response.json()).toMatchObject({ type: '/problems/precondition-failed' })
    }
    expect((await get('file=a.log', { ...asked, 'If-Match': '*' })).status).toBe(206)
    expect((await get('file=a.log', { ...asked, 'If-Match': `W/${etag}` })).status).toBe(412)
  })
  test('a name that is not ASCII', async () => {
    const response = await get(`file=${encodeURIComponent('knoten-ü.log')}`)
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="knoten-_.log"; filename*=UTF-8''knoten-%C3%BC.log`,
    )
  })
  test.each([
    ['', 400],
    ['file=', 400],
    ['file=a.log&file=a.log', 400],
    ['file=none.log', 404],
    ['file=../a.log', 404],
    ['file=%2Fetc%2Fpasswd', 404],
  ])('%j is %i', async (query, status) => {
    const response = await get(query)
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
  })
  test('what is not GET or HEAD is 405', async () => {
    const response = await get('file=a.log', {}, 'POST')
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('If-Match holds for the tag of now, compared strongly, and is 412 for another', async () => {
    const etag = (await get('file=a.log')).headers.get('etag')!
    for (const header of [etag, `"x", ${etag}`, '*'])
      expect((await get('file=a.log', { 'If-Match': header })).status, header).toBe(200)
    for (const header of ['"x"', `W/${etag}`, '"x", "y"']) {
      const response = await get('file=a.log', { 'If-Match': header })
      expect(response.status, header).toBe(412)
      expect((await response.json()).type).toBe('/problems/precondition-failed')
    }
    expect((await get('file=gone.log', { 'If-Match': '*' })).status).toBe(404)
  })
})
