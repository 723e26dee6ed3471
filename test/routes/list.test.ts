import { describe, expect, it } from 'vitest'
import { loki } from '../../src/doors/loki.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp } from '../support/app.ts'

const name = (i: number) => `f${String(i).padStart(6, '0')}.log`
const appOf = (count: number) =>
  createApp({
    logs: memoryStore(Object.fromEntries(Array.from({ length: count }, (_, i) => [name(i), 'x\n']))),
    config: '',
    loki,
  })

describe('a list of very many files', () => {
  const count = 100_321
  const app = appOf(count)

  it('is whole, in order and without a tag', async () => {
    const response = await app.request('/api/v1/log/list')
    expect(response.status).toBe(200)
    expect(response.headers.get('ETag')).toBeNull()
    const files = (await response.json()) as { name: string; size: number }[]
    expect(files).toHaveLength(count)
    expect(files.every((file, i) => file.name === name(i) && file.size === 2)).toBe(true)
    expect(Object.keys(files[0]!)).toEqual(['name', 'size'])
  })

  it('is sent in pieces, and ends with its client', async () => {
    const reader = (await app.request('/api/v1/log/list')).body!.getReader()
    const { value } = await reader.read()
    expect(value!.length).toBeLessThan(64 * 1024)
    await reader.cancel()
  })

  it('with details is cut, says so, and leads to the rest', async () => {
    const seen: string[] = []
    let path: string | null = `/api/v1/log/list?detail=true&after=${name(89_999)}`
    for (let parts = 0; path !== null; parts++) {
      const response: Response = await app.request(path)
      const files = (await response.json()) as { name: string }[]
      seen.push(...files.map((file) => file.name))
      const link = response.headers.get('Link')
      expect(response.headers.get('X-Nodestate-Note')?.includes('list-cut') ?? false).toBe(link !== null)
      path = link && `/api/v1/log/list${/<(.*)>; rel="next"/.exec(link)![1]}`
      expect(parts).toBeLessThan(3)
    }
    expect(seen).toEqual(Array.from({ length: count - 90_000 }, (_, i) => name(90_000 + i)))
  })

  it('is cut in Loki, with a warning', async () => {
    const values = await (await app.request('/loki/api/v1/label/file/values')).json()
    expect(values.data).toHaveLength(10_000)
    expect(values.warnings).toEqual(['There are more values than the 10000 here; narrow the selector.'])
    const one = await (await app.request(`/loki/api/v1/label/file/values?query={file="${name(7)}"}`)).json()
    expect(one.data).toEqual([name(7)])
  })
})

describe('a list', () => {
  it('of no files, and after a name, is whole', async () => {
    const list = async (count: number, after: string) =>
      (await appOf(count).request(`/api/v1/log/list?after=${after}`)).json()
    expect(await list(0, 'a')).toEqual([])
    expect(await list(3, name(1))).toEqual([{ name: name(2), size: 2 }])
    expect(await list(3, 'z')).toEqual([])
  })
})
