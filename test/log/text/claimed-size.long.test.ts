import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeCursor } from '../../../src/log/text/cursor.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'

const line = (i: number) =>
  `2026-11-15 ${String(Math.floor(i / 3600)).padStart(2, '0')}:${String(Math.floor(i / 60) % 60).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}.000\t${i % 10 ? 'INFO' : 'ERROR'}\tx.go:1\t[A]: line ${i} ${(i * 2654435761) % 2 ** 32}\n`
const lines = Array.from({ length: 8000 }, (_, i) => line(i))
const textOf = (from: number, to: number) => lines.slice(from, to).join('')

const WINDOW = 5000
/** A node that has not seen its logs yet. */
const nodeWith = (files: Record<string, Uint8Array | string>, windowBytes: number) => {
  const store = memoryStore(files)
  const read = { bytes: 0 }
  const counted: typeof store = {
    ...store,
    async read(...args) {
      const got = await store.read(...args)
      if (args[0].endsWith('.gz')) read.bytes += got?.length ?? 0
      return got
    },
  }
  const app = createApp({ logs: counted, config: '', limits: { windowBytes } })
  return { read, get: (query: string) => app.request(`/api/v1/log/view?${query}`) }
}

/** Everything a client sees that pages back through a search: the text, the notes, and whether an answer was cut. */
async function seen(node: ReturnType<typeof nodeWith>, query: string) {
  const pages: string[] = []
  const notes = new Set<string | null>()
  const statuses = new Set<number>()
  let cuts = 0
  let next: string | undefined
  for (let at: string | undefined = query; at && pages.length < 3; ) {
    const response = await node.get(at)
    statuses.add(response.status)
    notes.add(response.headers.get('X-Nodestate-Note'))
    const reader = response.body!.getReader()
    let text = ''
    try {
      for (let got = await reader.read(); !got.done; got = await reader.read())
        text += Buffer.from(got.value).toString()
    } catch {
      cuts++
    }
    pages.unshift(text)
    const link = response.headers.get('Link') ?? ''
    next ??= /[?&]after=([^&>]*)/.exec(link)?.[1]
    at = /<\?([^>]*)>; rel="prev"/.exec(link)?.[1]
  }
  // Which bytes prove a place depends on what was read; the place does not.
  const { print: _, ...place } = next ? decodeCursor(next, 'after') : { print: null }
  return { text: pages.join(''), notes: [...notes], statuses: [...statuses], cuts, place }
}

/** The same by a node that may use what an archive claims, and by one whose window holds all of it. */
const bothWays = (files: Parameters<typeof nodeWith>[0], query: string) =>
  Promise.all([WINDOW, 64 << 20].map((window) => seen(nodeWith(files, window), query)))

describe('the first search of an archive', () => {
  it('reads it once', async () => {
    const archive = gzipSync(textOf(0, 8000))
    const node = nodeWith({ 'a.log.gz': archive }, WINDOW)
    const answer = await seen(node, 'file=a.log.gz&q=line%2017%20')
    expect(answer.text).toBe(line(17))
    expect(node.read.bytes).toBeLessThan(1.1 * archive.length)
  })

  it('reads the archives of a rotated log once, but for the end of the newest', async () => {
    const files = {
      'a.log': textOf(6000, 8000),
      'a.log.1.gz': gzipSync(textOf(3000, 6000)),
      'a.log.2.gz': gzipSync(textOf(0, 3000)),
    }
    const stored = files['a.log.1.gz'].length + files['a.log.2.gz'].length
    const node = nodeWith(files, WINDOW)
    // The beginning of each is read for the order of the files.
    await node.get('file=a.log&rotated=true&lines=1')
    node.read.bytes = 0
    const answer = await seen(node, 'file=a.log&rotated=true&level=error&size=10000000')
    expect(answer.text).toBe(lines.filter((_, i) => i % 10 === 0).join(''))
    // The end of the newest is read first: its last record may continue in the file after it.
    expect(node.read.bytes).toBeLessThan(1.1 * (stored + files['a.log.1.gz'].length))
  })
})

/** Archives whose last bytes do not say how long their text is. */
const MISLEADING: Record<string, Buffer> = {
  'two members': Buffer.concat([gzipSync(textOf(0, 2000)), gzipSync(textOf(2000, 8000))]),
  'a long member before a short one': Buffer.concat([
    gzipSync(textOf(0, 7500)),
    gzipSync(textOf(7500, 8000)),
  ]),
  'an empty member at the end': Buffer.concat([gzipSync(textOf(0, 8000)), gzipSync('')]),
  'one that was cut short': gzipSync(textOf(0, 8000)).subarray(0, -3000),
  'one with a forged length': forged(gzipSync(textOf(0, 8000)), 150_000),
  'one that claims too much': forged(gzipSync(textOf(0, 8000)), 40_000_000),
  'garbage that claims a length': forged(
    Buffer.concat([gzipSync(textOf(0, 8000)), Buffer.alloc(64, 7)]),
    300_000,
  ),
  'one that claims the length of its first member': forged(
    Buffer.concat([gzipSync(textOf(0, 5000)), gzipSync(textOf(5000, 8000))]),
    textOf(0, 5000).length,
  ),
}

function forged(archive: Buffer, length: number): Buffer {
  archive.writeUInt32LE(length, archive.length - 4)
  return archive
}

const QUERIES = [
  'q=line%2017%20',
  'q=line%207999%20',
  'q=9',
  'level=error&size=2000',
  'level=error&lines=3',
  'level=error&until=2026-11-15T00:30:00Z',
  'q=17&since=2026-11-15T01:30:00Z',
]

describe('an archive that misleads about its length', () => {
  it.each(Object.keys(MISLEADING))('%s: is answered as if it claimed nothing', async (name) => {
    const archive = MISLEADING[name]!
    for (const query of QUERIES) {
      const [once, twice] = await bothWays({ 'a.log.gz': archive }, `file=a.log.gz&${query}`)
      expect(once, query).toEqual(twice)
      expect(once!.statuses, query).toEqual([200])
    }
  })

  it('property: answers the same in a rotated log, wherever members end and whatever is claimed', async () => {
    const member = fc.record({ lines: fc.nat(800), claim: fc.option(fc.nat(200_000)), cut: fc.nat(40) })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(member, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
        fc.constantFrom(...QUERIES),
        async (archives, query) => {
          let at = 0
          const files: Record<string, Uint8Array | string> = {}
          for (const [i, members] of archives.entries()) {
            const parts = members.map(({ lines, claim }) => {
              const part = gzipSync(textOf(at, at + lines))
              at += lines
              return claim === null ? part : forged(part, claim)
            })
            // Every other archive ends where its last member does; only the newest may be cut.
            const whole = Buffer.concat(parts)
            const cut = i === archives.length - 1 ? members[0]!.cut : 0
            files[`a.log.${archives.length - i}.gz`] = whole.subarray(0, Math.max(20, whole.length - cut))
          }
          files['a.log'] = textOf(at, at + 50)
          for (const file of ['a.log&rotated=true', 'a.log.1.gz']) {
            const [once, twice] = await bothWays(files, `file=${file}&${query}`)
            expect(once).toEqual(twice)
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})
