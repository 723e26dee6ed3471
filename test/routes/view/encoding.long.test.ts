import { expect, it } from 'vitest'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'
import { wholes } from '../../support/random.mjs'

const START = Date.UTC(2026, 10, 15)

/** Lines of a log; those for Latin-1 have no other characters. */
function logOf(seed: number, isLatin: boolean): string {
  const random = wholes(seed)
  const words = [
    'café',
    'naïve',
    'x',
    'ÿþ',
    'plain words',
    'größe=7',
    ...(isLatin ? [] : ['日本', '😀', '\ufeffx']),
  ]
  const word = () => words[random(words.length)]!
  let text = ''
  for (let i = 0; i < 30 + random(60); i++) {
    const time = new Date(START + i * 61_000).toISOString().replace('T', ' ').slice(0, 23)
    const level = ['INFO', 'WARN', 'ERROR'][random(3)]
    text += `${time}\t${level}\ta.go:1\t[A]: ${word()} ${word()}\t{"shard":${random(4)}}\n`
    if (random(5) === 0) text += `\tat ${word()}\n`
  }
  return random(3) === 0 ? text.slice(0, -1) : text
}

const wide = (text: string, isBig: boolean) => {
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
  return isBig ? bytes.swap16() : bytes
}

const QUERIES = [
  'lines=7',
  'first=5',
  'q=caf%C3%A9',
  'level=warn&lines=4',
  'where=shard:2&format=ndjson',
  'format=ndjson&lines=3',
  'format=csv&columns=time,message',
  'since=2026-11-15T00:10:00Z&until=2026-11-15T00:20:00Z',
  'q=na%C3%AFve&download=true',
]

it('answers as for the same log in UTF-8: pages in both directions, records, tables, filters, times and exports', async () => {
  for (let seed = 1; seed <= 3; seed++) {
    const [latin, all] = [logOf(seed, true), logOf(seed, false)]
    const files: Record<string, Uint8Array | string> = {
      'latin-utf8.log': latin,
      'all-utf8.log': all,
      'latin.log': Buffer.from(latin, 'latin1'),
      'le.log': wide(all, false),
      'be.log': wide(all, true),
      'bare.log': wide(all, false).subarray(2),
    }
    const app = createApp({ config: () => '', logs: memoryStore(files) })
    const pages = async (first: string, rel: string) => {
      const bodies: string[] = []
      for (let url: string | null = `/api/v1/log/view?${first}`; url !== null && bodies.length < 40; ) {
        const response: Response = await app.request(url)
        expect([url, response.status]).toEqual([url, 200])
        bodies.push(await response.text())
        const link: string | undefined = new RegExp(`<([^>]*)>; rel="${rel}"`).exec(
          response.headers.get('Link') ?? '',
        )?.[1]
        const isLast = rel === 'next' && bodies.at(-1) === ''
        url = link === undefined || isLast ? null : new URL(link, `http://x${url}`).href.slice(8)
      }
      return bodies
    }
    const logs = [
      ['latin.log&encoding=latin1', 'latin-utf8.log'],
      ['le.log', 'all-utf8.log'],
      ['be.log', 'all-utf8.log'],
      ['bare.log&encoding=utf-16le', 'all-utf8.log'],
    ] as const
    for (const [name, same] of logs) {
      for (const query of QUERIES)
        for (const rel of query.startsWith('first') ? ['next'] : ['prev'])
          expect(await pages(`file=${name}&${query}`, rel), `${name} ${query}`).toEqual(
            await pages(`file=${same}&${query}`, rel),
          )
      for (const path of ['histogram?', 'histogram?level=error&', 'fields?', 'groups?by=shard&']) {
        const [one, other] = await Promise.all(
          [name, same].map(async (file) => (await app.request(`/api/v1/log/${path}file=${file}`)).json()),
        )
        expect(one, `${name} ${path}`).toEqual(other)
      }
    }
  }
})

it('leaves the plain tail and downloads as they are stored, and says where bytes are no UTF-8', async () => {
  const text = logOf(3, true)
  const le = wide(text, false)
  const files = { 'le.log': le, 'latin.log': Buffer.from(`${text}café\n`, 'latin1'), 'a.log': text }
  const app = createApp({ config: () => '', logs: memoryStore(files) })
  const get = (path: string) => app.request(`/api/v1/log/${path}`)
  for (const path of [
    'view?file=le.log&size=100000',
    'view?file=le.log&size=100000&encoding=utf-16le',
    'download?file=le.log',
  ])
    expect(Buffer.compare(Buffer.from(await (await get(path)).arrayBuffer()), le), path).toBe(0)
  const note = async (path: string) => (await get(path)).headers.get('X-Nodestate-Note')
  expect(await note('view?file=latin.log&lines=5')).toBe('encoding')
  expect(await note('view?file=latin.log&lines=5&encoding=latin1')).toBe(null)
  expect(await note('view?file=latin.log&lines=5&encoding=utf-8')).toBe(null)
  expect(await note('view?file=a.log&lines=5')).toBe(null)
  expect(await note('view?file=le.log&lines=5')).toBe(null)
  for (const path of ['view?file=a.log&encoding=utf-7', 'view?file=a.log&follow=true&encoding=latin1'])
    expect((await get(path)).status, path).toBe(400)
})

it('several logs are merged, each as it is written', async () => {
  const text = logOf(7, false)
  const other = text.replaceAll('\t[A]', '\t[B]')
  const files = { 'a.log': text, 'b.log': wide(other, true), 'c.log': other }
  const app = createApp({ config: () => '', logs: memoryStore(files) })
  const body = async (...names: string[]) => {
    const query = names.map((name) => `file=${name}`).join('&')
    const response = await app.request(`/api/v1/log/view?${query}&level=warn&format=ndjson`)
    return (await response.text()).replaceAll('"file":"c.log"', '"file":"b.log"')
  }
  expect(await body('a.log', 'b.log')).toBe(await body('a.log', 'c.log'))
})

it('halves of characters become U+FFFD', async () => {
  const bytes = Buffer.concat([wide('a\n', false), Buffer.from([0x3d, 0xd8, 0x62, 0, 0x0a, 0, 0x41])])
  const app = createApp({ config: () => '', logs: memoryStore({ 'x.log': bytes }) })
  const response = await app.request('/api/v1/log/view?file=x.log&lines=9')
  expect(await response.text()).toBe('a\n\ufffdb\n\ufffd')
})
