import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decodeCursor } from '../../../src/log/text/cursor.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'
import { wholes } from '../../support/random.mjs'

const START = Date.UTC(2026, 10, 15)
const LINES = 20_000

/** Lines of a format by their time and number. */
const FORMATS: Record<string, (time: string, i: number) => string> = {
  lindb: (time, i) => `${time}\t${i % 7 ? 'INFO' : 'ERROR'}\tx.go:1\t[A] [B]: request ${i}`,
  json: (time, i) => `{"time":"${time.replace(' ', 'T')}Z","level":"info","msg":"request ${i}"}`,
}

/** A log of several blocks, with all that makes times hard to tell. */
function logOf(line: (time: string, i: number) => string, seed: number): Buffer {
  const random = wholes(seed)
  let clock = START
  const lines: Buffer[] = []
  for (let i = 0; i < LINES; i++) {
    const luck = random(1000)
    // The clock steps back and forth, within a block and beyond; most blocks are in order.
    if (luck === 0 && random(6) === 0) clock += random(60_000) - 30_000
    clock += luck < 600 ? 0 : random(100)
    const time = new Date(clock).toISOString().slice(0, 23).replace('T', ' ')
    const text = `${line(time, i)}${luck === 1 ? '\r' : ''}`
    lines.push(Buffer.from(luck < 20 ? text.slice(5) : text), Buffer.from(' '.repeat(random(600))))
    if (luck === 2) lines.push(Buffer.from([0, 0xff, 10, 10, 9, 0xc3]))
    if (luck === 3 && random(8) === 0) lines.push(Buffer.alloc(1_200_000, 'long '))
    lines.push(Buffer.from('\n'))
  }
  return Buffer.concat(lines)
}

/** A node with one archive that is longer than what is kept of it. */
function nodeWith(archive: Buffer) {
  const app = createApp({
    logs: memoryStore({ 'a.log.gz': archive }),
    config: '',
    limits: { windowBytes: 64 * 1024 },
  })
  return async (query: string) => {
    const response = await app.request(`/api/v1/log/view?file=a.log.gz&${query}`)
    const { status, headers } = response
    return {
      status,
      text: await response.text(),
      note: headers.get('X-Nodestate-Note'),
      places: ['prev', 'next'].map((rel) => placeOf(headers.get('Link') ?? '', rel)),
      prev: () => /<\?file=a.log.gz&([^>]*)>; rel="prev"/.exec(headers.get('Link') ?? '')?.[1],
    }
  }
}

/** The place of a cursor. The bytes by which it recognizes the archive are whatever was read of it. */
function placeOf(link: string, rel: string) {
  const cursor = new RegExp(`(?:before|after)=([^&>]*)>; rel="${rel}"`).exec(link)?.[1]
  if (cursor === undefined) return null
  const { name, offset, splitsRecord } = decodeCursor(cursor, rel)
  return { name, offset, splitsRecord }
}

const instant = (ms: number) => new Date(ms).toISOString()

describe.each(Object.keys(FORMATS))('the known blocks of an archive in %s', (name) => {
  it('change no answer', async () => {
    const seed = name.length
    const log = logOf(FORMATS[name]!, seed)
    const archive = gzipSync(log, { level: 1 })
    const learning = nodeWith(archive)
    const random = wholes(seed + 100)
    await learning(`until=${instant(START + 1)}`)
    for (let round = 0; round < 6; round++) {
      const since = START + random(400_000)
      const until = random(3) === 0 ? '' : `&until=${instant(since + random(30_000))}`
      const more = ['', '&lines=20', '&level=error', '&q=request+1', '&format=ndjson'][random(5)]!
      // Without the size, an answer is the end of the period, and what is missing before it would not show.
      const query = `since=${instant(since)}${until}&size=20000000${more}`
      for (let page: string | undefined = query, pages = 0; page && pages < 2; pages++) {
        const { prev, ...answer } = await learning(page)
        const { prev: _prev, ...expected } = await nodeWith(archive)(page)
        expect(answer, page).toEqual(expected)
        page = prev()
      }
    }
  })
})

describe('a period that is asked again', () => {
  it('is decompressed no further than it reaches', async () => {
    const log = Array.from(
      { length: 60_000 },
      (_, i) =>
        `${new Date(START + i * 100).toISOString().slice(0, 23).replace('T', ' ')}\tINFO\tx.go:1\t[A]: line ${i} ${(i * 2654435761) % 2 ** 32} ${(i * 40503) % 65521}\n`,
    ).join('')
    const store = memoryStore({ 'a.log.gz': gzipSync(log, { level: 1 }) })
    let read = 0
    const app = createApp({
      logs: {
        ...store,
        async read(...args) {
          const got = await store.read(...args)
          read += got?.length ?? 0
          return got
        },
      },
      config: '',
      limits: { windowBytes: 64 * 1024 },
    })
    const ask = async () => {
      read = 0
      const period = `since=${instant(START + 1000)}&until=${instant(START + 3000)}`
      const response = await app.request(`/api/v1/log/view?file=a.log.gz&${period}`)
      return { lines: (await response.text()).split('\n').length - 1, read }
    }
    const first = await ask()
    const again = await ask()
    expect([first.lines, again.lines]).toEqual([20, 20])
    expect(again.read).toBeLessThan(first.read / 2)
  })
})
