import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { TaggedLogFile } from '../../src/kit/answers.ts'
import { fsStore } from '../../src/store/fs.ts'
import { memoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { createApp } from '../support/app.ts'

const directory = mkdtempSync(join(tmpdir(), 'nodestate-tagged-'))
afterAll(() => rmSync(directory, { recursive: true }))

const list = async (app: ReturnType<typeof createApp>, query = '') => {
  const response = await app.request(`/api/v1/log/list?etag=true${query}`)
  return { response, files: (await response.json()) as TaggedLogFile[] }
}

describe('a list with etag=true', () => {
  it('has the version of each file, as the directory is now', async () => {
    const app = createApp({ logs: fsStore(directory), config: '', timezone: 'Europe/Berlin' })
    writeFileSync(join(directory, 'a.log'), 'one\n')
    writeFileSync(join(directory, 'b.log'), 'two\n')
    const { files, response } = await list(app)
    expect(files.map(({ name, size }) => [name, size])).toEqual([
      ['a.log', 4],
      ['b.log', 4],
    ])
    expect(response.headers.get('X-Nodestate-Zone')).toBe('Europe/Berlin')
    for (const { name, etag, id, modified } of files) {
      const download = `/api/v1/log/download?file=${name}`
      const { headers } = await app.request(download, { method: 'HEAD' })
      expect(headers.get('ETag')).toBe(etag)
      expect(headers.get('X-Nodestate-File')).toBe(id)
      expect(Date.parse(headers.get('Last-Modified')!)).toBe(Math.floor(Date.parse(modified) / 1000) * 1000)
      // Other nodes need to know more than whole seconds.
      expect(headers.has('X-Nodestate-Modified')).toBe(false)
      const peer = { 'X-Nodestate-Hop': '1' }
      for (const asked of [{ method: 'HEAD' }, {}, { headers: { Range: 'bytes=0-1' } }]) {
        const told = await app.request(download, { ...asked, headers: { ...asked.headers, ...peer } })
        expect(told.headers.get('X-Nodestate-Modified')).toBe(modified)
      }
    }
    for (let i = 0; i < 3; i++) {
      appendFileSync(join(directory, 'a.log'), 'more\n')
      const [grown] = (await list(app)).files
      expect(grown!.size).toBe(4 + 5 * (i + 1))
      expect(grown!.id).toBe(files[0]!.id)
      expect(grown!.etag).not.toBe(files[0]!.etag)
    }
    renameSync(join(directory, 'b.log'), join(directory, 'c.log'))
    expect((await list(app)).files[1]).toMatchObject({ name: 'c.log', id: files[1]!.id })
    expect((await list(app, '&prefix=c')).files.map(({ name }) => name)).toEqual(['c.log'])
  })

  it('reads no file', async () => {
    const store = memoryStore({ 'a.log': 'x\n' })
    const logs: Store = { ...store, read: () => Promise.reject(new Error('a file was read')) }
    expect((await list(createApp({ logs, config: '' }))).files).toHaveLength(1)
  })

  it('leads to the rest of many', async () => {
    const names = Array.from({ length: 4_100 }, (_, i) => `f${String(i).padStart(5, '0')}.log`)
    const app = createApp({
      logs: memoryStore(Object.fromEntries(names.map((name) => [name, 'x\n']))),
      config: '',
    })
    const seen: string[] = []
    let query: string | null = '?etag=true'
    while (query !== null) {
      const response: Response = await app.request(`/api/v1/log/list${query}`)
      const files = (await response.json()) as TaggedLogFile[]
      expect(files.length).toBeLessThanOrEqual(2_000)
      seen.push(...files.map(({ name }) => name))
      query = /<(.*)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1] ?? null
    }
    expect(seen).toEqual(names)
  })

  it.each(['&detail=true', '&etag=false&prefix=a'])('%s is 400', async (query) => {
    const app = createApp({ logs: memoryStore({}), config: '' })
    const url = query.includes('false') ? '/api/v1/log/list?prefix=a' : `/api/v1/log/list?etag=true${query}`
    expect((await app.request(url)).status).toBe(400)
  })
})
