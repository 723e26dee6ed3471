import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../../src/app.ts'
import { Budget } from '../../../src/kit/limits/budget.ts'
import { type LogFiles, logFiles } from '../../../src/log/files/files.ts'
import { type ArchiveLimits, ArchiveText } from '../../../src/log/text/archive.ts'
import { Series } from '../../../src/log/text/series.ts'
import { PlainText } from '../../../src/log/text/text.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { type Entry, type Store, StoreError } from '../../../src/store/store.ts'
import { readClock } from '../../support/manual-clock.ts'

const line = (i: number) =>
  `2026-11-15 02:${String(Math.floor(i / 60) % 60).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}.000\t${i % 10 ? 'INFO' : 'ERROR'}\tx.go:1\t[A]: line ${i} ${'x'.repeat(i % 90)}\n`
const lines = Array.from({ length: 3000 }, (_, i) => line(i))
const text = lines.join('')

const openArchive = (files: LogFiles, entry: Entry, limits: ArchiveLimits) =>
  new ArchiveText({ entry, kind: 'gzip' }, { files, limits, budget: new Budget() })

describe('ArchiveText', () => {
  it('has a fingerprint of what it read even after dropping it, when no budget is left to read again', async () => {
    const files = logFiles(memoryStore({ 'a.gz': gzipSync(text) }))
    const entry = await files.stat('a.gz')
    let isSpent = false
    const budget = new Budget({ millis: 1000, clock: readClock(() => (isSpent ? 2000 : 0)) })
    const limits = { archiveBytes: 1 << 20, archiveWindow: 1024 }
    const series = await Series.open([new ArchiveText({ entry, kind: 'gzip' }, { files, limits, budget })])
    await series.read(0, 5000)
    for (const part of series.parts) await part.release!()
    isSpent = true
    expect((await series.cursor(4000)).print.length).toBeGreaterThan(0)
  })

  it.each([['one after the other'], ['at once']])(
    'is whole after a read that failed, asked %s',
    async (order) => {
      const files = logFiles(memoryStore({ 'a.gz': gzipSync(text) }))
      const entry = await files.stat('a.gz')
      const { read } = files
      let fails = true
      files.read = async (...args) => {
        if (!fails) return read(...args)
        throw new StoreError('unavailable', 'The disk fails now and then')
      }
      const limits = { archiveBytes: 1 << 20, archiveWindow: 1 << 20 }
      const archive = openArchive(files, entry, limits)
      const first = archive.head(100)
      const second = order === 'at once' ? archive.size() : null
      await expect(first).rejects.toThrow('now and then')
      // What asks at the same time tries again by itself.
      await second?.catch(() => {})
      fails = false
      expect(await archive.size()).toBe(Buffer.byteLength(text))
      // What is remembered of the archive is true, too.
      expect(await openArchive(files, entry, limits).size()).toBe(Buffer.byteLength(text))
    },
  )

  it('keeps little of its text at rest', async () => {
    const files = logFiles(memoryStore({ 'a.gz': gzipSync(text.repeat(20)) }))
    const limits = { archiveBytes: 1 << 30, archiveWindow: 1024 }
    const archive = openArchive(files, await files.stat('a.gz'), limits)
    const size = await archive.size()
    await archive.read(0, size)
    archive.trim()
    let reads = 0
    const { read } = files
    files.read = (...args) => {
      reads++
      return read(...args)
    }
    await archive.read(size - 1000, size)
    expect(reads).toBe(0)
    await archive.read(0, 1000)
    expect(reads).toBeGreaterThan(0)
  })

  it('gives the bytes of the text, read in any order, whatever its window', async () => {
    const files = logFiles(memoryStore({ 'a.gz': gzipSync(text) }))
    const entry = await files.stat('a.gz')
    const size = Buffer.byteLength(text)
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: size * 2 }),
        fc.array(fc.tuple(fc.nat(size), fc.nat(5000)), { maxLength: 6 }),
        async (archiveWindow, reads) => {
          const archive = openArchive(files, entry, { archiveBytes: size, archiveWindow })
          for (const [from, length] of reads) {
            const to = Math.min(size, from + length)
            expect(Buffer.from(await archive.read(from, to)).toString()).toBe(text.slice(from, to))
          }
          expect(await archive.size()).toBe(size)
          expect(Buffer.from(await archive.head(50)).toString()).toBe(text.slice(0, 50))
        },
      ),
      { numRuns: 60 },
    )
  })
})

it('remembers how much text a version of an archive has', async () => {
  const store = memoryStore({ 'a.gz': gzipSync(text) })
  let reads = 0
  const files = logFiles({
    ...store,
    read(...args) {
      reads++
      return store.read(...args)
    },
  })
  const open = async () =>
    openArchive(files, await files.stat('a.gz'), { archiveBytes: 1e6, archiveWindow: 1000 })
  const size = Buffer.byteLength(text)
  expect(await (await open()).size()).toBe(size)
  reads = 0
  const again = await open()
  expect(await again.size()).toBe(size)
  expect(reads).toBe(0)
  expect(Buffer.from(await again.read(size - 10, size)).toString()).toBe(text.slice(-10))
  store.put('a.gz', gzipSync('another\n'))
  expect(await (await open()).size()).toBe(8)
})

it('gives the same bytes when it is read onward or was let go', async () => {
  const files = logFiles(memoryStore({ 'a.gz': gzipSync(text.repeat(40)) }))
  const entry = await files.stat('a.gz')
  const archive = openArchive(files, entry, { archiveBytes: 1e9, archiveWindow: 32 << 20 })
  const all = Buffer.from(text.repeat(40))
  const size = await archive.size()
  expect(size).toBe(all.length)
  for (const from of [size - 5_000_000, size - 1_000_000, 100]) {
    await archive.onward(from)
    for (let at = from; at < size; at += 500_000) {
      const to = Math.min(size, at + 500_000)
      expect(all.subarray(at, to).equals(await archive.read(at, to))).toBe(true)
    }
    await archive.release()
  }
})

it('is kept in memory two at a time, however many files a log has', async () => {
  const held = new Set<string>()
  const parts = ['c', 'b', 'a'].map((name) => ({
    name,
    entry: { key: name, size: 1, etag: name, modified: 0 },
    compressed: true,
    size: async () => {
      held.add(name)
      return 10
    },
    reaches: async () => true,
    read: async (from: number, to: number) => {
      held.add(name)
      return new Uint8Array(to - from)
    },
    head: async () => new Uint8Array(0),
    known: () => null,
    release: async () => {
      held.delete(name)
    },
  }))
  const series = await Series.open(parts)
  expect(await series.addresses.floor(Number.NEGATIVE_INFINITY)).toBe(-20)
  expect(held.size).toBeLessThanOrEqual(3)
  await series.read(5, 6)
  await series.read(-5, -4)
  await series.read(-15, -14)
  expect([...held].sort()).toEqual(['b', 'c'])
})

it('is broken only where text is missing', async () => {
  const files = logFiles(memoryStore({ 'a.gz': gzipSync(text).subarray(0, -3000), a: text }))
  const limits = { archiveBytes: 1e8, archiveWindow: 1e6 }
  const archive = openArchive(files, await files.stat('a.gz'), limits)
  const series = await Series.open([archive, new PlainText(files, await files.stat('a'), new Budget())])
  // A search for a time reads the heads of files that it does not need afterwards.
  await archive.size()
  expect(archive.broken?.code).toBe('bad-archive')
  expect(series.brokenIn(Number.NEGATIVE_INFINITY, series.end)?.code).toBe('bad-archive')
  const start = await series.addresses.floor(Number.NEGATIVE_INFINITY)
  expect(start).toBeLessThan(-10_000)
  expect(series.brokenIn(start, -1)).toBeNull()
  expect(series.brokenIn(1, series.end)).toBeNull()
  expect(series.brokenIn(0, 10)?.code).toBe('bad-archive')
  expect(series.brokenIn(start, series.end)?.code).toBe('bad-archive')
})

it('holds nothing open between reads, wherever they stop', async () => {
  const store = memoryStore({ 'a.gz': gzipSync(text) })
  let open = 0
  const tracked: Store = {
    ...store,
    async read(...args) {
      const got = await store.read(...args)
      if (!got) return got
      open++
      const bytes = got.body as Uint8Array
      let at = 0
      const body = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            if (at < bytes.length) {
              controller.enqueue(bytes.slice(at, at + 1000))
              at += 1000
              return
            }
            open--
            controller.close()
          },
          cancel() {
            open--
          },
        },
        { highWaterMark: 0 },
      )
      return { ...got, body }
    },
  }
  const files = logFiles(tracked)
  const archive = openArchive(files, await files.stat('a.gz'), {
    archiveBytes: 2 ** 20,
    archiveWindow: 0,
  })
  for (const from of [0, 5000, 100]) {
    expect(Buffer.from(await archive.read(from, from + 10)).toString()).toBe(text.slice(from, from + 10))
    expect(open).toBe(0)
  }
})

describe('a filtered view of an archive larger than its window', () => {
  it('is one pass that keeps the most recent matches, at any page size', async () => {
    const wanted = lines.filter((_, i) => i % 10 === 0).join('')
    let passes = 0
    const inner = memoryStore({
      'a.log': lines.slice(2500).join(''),
      'a.log.1.gz': gzipSync(lines.slice(1200, 2500).join('')),
      'a.log.2.gz': gzipSync(lines.slice(0, 1200).join('')),
    })
    const store = {
      ...inner,
      read: (...args: Parameters<typeof inner.read>) => {
        if (args[0].endsWith('.gz')) passes++
        return inner.read(...args)
      },
    }
    const app = createApp({ logs: store, config: '', limits: { windowBytes: 5000 } })
    for (const size of [300, 7000, 1_000_000]) {
      const pages: string[] = []
      let query: string | undefined = `?file=a.log&rotated=true&level=error&size=${size}`
      while (query) {
        passes = 0
        const response: Response = await app.request(`/api/v1/log/view${query}`)
        pages.unshift(await response.text())
        expect(response.status).toBe(200)
        query = /<(\?[^>]*)>; rel="prev"/.exec(response.headers.get('Link')!)?.[1]
        if (size === 1_000_000) expect(passes).toBeLessThanOrEqual(8)
      }
      expect(pages.join('') === wanted).toBe(true)
    }
  })
})

describe('a compressed file', () => {
  const store = memoryStore({
    'a.log.gz': gzipSync(text),
    'members.log.gz': Buffer.concat(lines.slice(0, 50).map((one) => gzipSync(one))),
    'cut.log.gz': gzipSync(text).subarray(0, 9000),
    'bad.log.gz': Buffer.concat([gzipSync('').subarray(0, 10), Buffer.alloc(50, 7)]),
    'text.log.gz': Buffer.from('not an archive'),
    'b.log': lines.slice(2000).join(''),
    'b.log.1': lines.slice(1000, 2000).join(''),
    'b.log.2.gz': gzipSync(lines.slice(500, 1000).join('')),
    'b.log.3.gz': gzipSync(lines.slice(0, 500).join('')),
  })
  const app = createApp({ logs: store, config: '', limits: { archiveBytes: 2 ** 20 } })
  const get = async (query: string) => app.request(`/api/v1/log/view${query.replace(/^\??/, '?')}`)
  const read = async (query: string) => {
    const response = await get(query)
    const text = await response.text()
    expect(response.status, text).toBe(200)
    return text
  }

  it('is viewed as its text', async () => {
    expect(await read('file=a.log.gz')).toBe(text)
    expect(await read('file=a.log.gz&lines=2')).toBe(lines.slice(-2).join(''))
    expect(await read('file=a.log.gz&size=100')).toBe(lines.slice(-1).join(''))
    expect(await read('file=members.log.gz')).toBe(lines.slice(0, 50).join(''))
    expect(await read('file=a.log.gz&level=error&lines=3')).toBe([2970, 2980, 2990].map(line).join(''))
    expect(await read('file=a.log.gz&q=line%2017%20')).toBe(line(17))
    expect(await read('file=a.log.gz&since=2026-11-15T02:49:58Z')).toBe(lines.slice(-2).join(''))
  })
  it('is paged through without loss', async () => {
    const pages: string[] = []
    let query: string | undefined = 'file=a.log.gz&size=50000'
    while (query) {
      const response: Response = await get(query)
      pages.unshift(await response.text())
      query = /<(\?[^>]*)>; rel="prev"/.exec(response.headers.get('Link')!)?.[1]
    }
    expect(pages.join('')).toBe(text)
    expect(pages.length).toBeGreaterThan(5)
  })
  it('is a part of the log it was rotated from', async () => {
    expect(await read('file=b.log&rotated=true')).toBe(text)
    expect(await read('file=b.log&rotated=true&level=error')).toBe(
      lines.filter((_, i) => i % 10 === 0).join(''),
    )
    const window = await read('file=b.log&rotated=true&since=2026-11-15T02:08:00Z&until=2026-11-15T02:17:00Z')
    expect(window).toBe(lines.slice(480, 1020).join(''))
  })
  it('is where a cursor goes on after rotation and compression', async () => {
    const rotating = memoryStore({ 'c.log': lines.slice(0, 10).join('') })
    const app = createApp({ logs: rotating, config: '' })
    const first = await app.request('/api/v1/log/view?file=c.log')
    const next = /<(\?[^>]*)>; rel="next"/.exec(first.headers.get('Link')!)![1]
    rotating.put('c.log.1.gz', gzipSync(lines.slice(0, 20).join('')))
    rotating.put('c.log', lines.slice(20, 30).join(''))
    const after = await app.request(`/api/v1/log/view${next}`)
    expect(await after.text()).toBe(lines.slice(10, 30).join(''))
  })
  it('past the budget is a problem that points to the download', async () => {
    const huge = memoryStore({ 'h.log.gz': gzipSync(Buffer.alloc(3 << 20, 'x\n')) })
    const app = createApp({ logs: huge, config: '', limits: { archiveBytes: 2 << 20 } })
    const response = await app.request('/api/v1/log/view?file=h.log.gz')
    expect(response.status).toBe(413)
    const { type, detail } = (await response.json()) as { type: string; detail: string }
    expect(type).toBe('/problems/archive-budget')
    expect(detail).toContain('/api/v1/log/download?file=h.log.gz')
  })
  it('that is broken gives what is readable and then a cut, or a problem', async () => {
    const bad = await get('file=bad.log.gz')
    expect(bad.status).toBe(502)
    expect(((await bad.json()) as { type: string }).type).toBe('/problems/bad-archive')
    // A text file stays one, whatever it is called.
    expect(await (await get('file=text.log.gz')).text()).toBe('not an archive')
    for (const query of ['file=cut.log.gz&size=300', 'file=cut.log.gz']) {
      const cut = await get(query)
      expect(cut.status).toBe(200)
      expect(cut.headers.get('Content-Length')).toBeNull()
      const reader = cut.body!.getReader()
      let got = ''
      await expect(
        (async () => {
          for (;;) {
            const { done, value } = await reader.read()
            if (done) return
            got += Buffer.from(value).toString()
          }
        })(),
      ).rejects.toThrow()
      expect(got.length).toBeGreaterThan(100)
      expect(text).toContain(got)
    }
  })
})

it('is looked into by few at a time, and the others wait', async () => {
  const store = memoryStore({ 'a.log.gz': gzipSync(text) })
  let open = 0
  let most = 0
  const app = createApp({
    logs: {
      ...store,
      async read(...args) {
        most = Math.max(most, ++open)
        await new Promise((resolve) => setTimeout(resolve, 2))
        open--
        return store.read(...args)
      },
    },
    config: '',
  })
  const one = async () => (await app.request('/api/v1/log/view?file=a.log.gz&lines=1')).text()
  const answers = await Promise.all(Array.from({ length: 50 }, one))
  expect(new Set(answers)).toEqual(new Set([lines.at(-1)]))
  expect(most).toBeLessThanOrEqual(4)
})
