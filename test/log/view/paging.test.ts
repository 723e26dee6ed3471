import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../../src/app.ts'
import type { LogFiles } from '../../../src/log/files/files.ts'
import { logFiles } from '../../../src/log/files/files.ts'
import { decodeCursor, encodeCursor, fingerprint } from '../../../src/log/text/cursor.ts'
import type { View } from '../../../src/log/view/answer.ts'
import type { ViewRequest } from '../../../src/log/view/request.ts'
import { viewOf as viewIn } from '../../../src/log/view/view.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { contextOf, viewRequest } from '../context.ts'

const viewOf = (files: LogFiles, request: ViewRequest) => viewIn(contextOf(files), request)

const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Uint8Array.from(array))
/** Files with many line ends, characters of several bytes, and broken ones. */
const content = fc
  .array(fc.oneof(fc.constantFrom('\n', 'a', 'line\n', 'äöü', '€', '😀', '\r\n', '\0'), bytes), {
    maxLength: 60,
  })
  .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part as string))))

const textOf = async (view: View) =>
  Buffer.from(await view.series.read(view.from, view.to)).toString('latin1')
const pass = (cursor: View['next']) => decodeCursor(encodeCursor(cursor), 'before')

/** The last `size` bytes from a line start, then at most `lines` lines: written to be read, not to be fast. */
function reference(text: string, size: number, lines: number | null): string {
  let start = Math.max(0, text.length - size)
  if (start > 0 && size > 0) {
    const newline = text.indexOf('\n', start - 1)
    if (newline >= 0 && newline + 1 < text.length) start = newline + 1
    else {
      let at = start
      while (at < text.length && at - start < 4 && (text.charCodeAt(at) & 0xc0) === 0x80) at++
      start = at - start === 4 || at === text.length ? start : at
    }
  }
  const tail = text.slice(start)
  if (lines === null || tail === '') return tail
  const all = tail.match(/[^\n]*\n|[^\n]+$/g) ?? []
  return lines === 0 ? '' : all.slice(-lines).join('')
}

describe('paging', () => {
  it('gives the tail of the reference, by bytes and by lines', async () => {
    await fc.assert(
      fc.asyncProperty(content, fc.nat(50), fc.option(fc.nat(6)), async (file, size, lines) => {
        const files = logFiles(memoryStore({ 'a.log': file }))
        const view = await viewOf(files, viewRequest({ fit: { size, lines } }))
        expect(await textOf(view)).toBe(reference(file.toString('latin1'), size, lines))
      }),
      { numRuns: 500 },
    )
  })

  it('backwards and forwards through any files at any page size gives back every byte once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(content, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 30 }),
        fc.option(fc.integer({ min: 1, max: 5 })),
        async (contents, size, lines) => {
          const names = contents.map((_, i) =>
            i === contents.length - 1 ? 'a.log' : `a.log.${contents.length - i}`,
          )
          const files = logFiles(
            memoryStore(Object.fromEntries(names.map((name, i) => [name, contents[i]!]))),
          )
          const whole = Buffer.concat(contents).toString('latin1')
          const base = viewRequest({ rotated: true, fit: { size, lines } })

          const pages: string[] = []
          let view = await viewOf(files, base)
          for (let n = 0; n <= whole.length + 1; n++) {
            const text = await textOf(view)
            pages.unshift(text)
            expect(text.length).toBeLessThanOrEqual(size)
            if (view.prev === null) break
            view = await viewOf(files, { ...base, cursor: { place: pass(view.prev), direction: 'before' } })
          }
          expect(view.prev).toBeNull()
          expect(pages.join('')).toBe(whole)

          const forth: string[] = [await textOf(view)]
          for (let n = 0; n <= whole.length + 1; n++) {
            view = await viewOf(files, { ...base, cursor: { place: pass(view.next), direction: 'after' } })
            const text = await textOf(view)
            expect(text.length).toBeLessThanOrEqual(size)
            if (text === '') break
            forth.push(text)
          }
          expect(forth.join('')).toBe(whole)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('a next cursor gives what was appended, and only that', async () => {
    const store = memoryStore({ 'a.log': 'one\ntwo' })
    const files = logFiles(store)
    let view = await viewOf(files, viewRequest({}))
    expect(await textOf(view)).toBe('one\ntwo')
    const after = async () => {
      view = await viewOf(files, viewRequest({ cursor: { place: pass(view.next), direction: 'after' } }))
      return textOf(view)
    }
    expect(await after()).toBe('')
    store.put('a.log', 'one\ntwo more\nthree\n')
    expect(await after()).toBe(' more\nthree\n')
    expect(await after()).toBe('')
  })

  it('forward has a page before one that begins with a file', async () => {
    const files = logFiles(memoryStore({ 'a.log.2': 'one\n', 'a.log.1': '', 'a.log': 'two\nthree\n' }))
    const base = viewRequest({ rotated: true, fit: { size: 100, lines: 1 } })
    const at = (place: View['prev'], direction: 'before' | 'after') =>
      viewOf(files, { ...base, cursor: { place: pass(place!), direction } })
    const newest = await viewOf(files, base)
    const middle = await at(newest.prev, 'before')
    const first = await at(middle.prev, 'before')
    const second = await at(first.next, 'after')
    expect(await textOf(second)).toBe('two\n')
    expect(await textOf(await at(second.prev, 'before'))).toBe('one\n')
    const alone = await viewOf(files, { ...base, rotated: false, cursor: null })
    expect(await textOf(alone)).toBe('three\n')
  })

  it('forward has a line once that was half written on the page before', async () => {
    const [one, two] = [1, 2].map(
      (n) => `{"time":"2026-11-15T02:00:0${n}Z","level":"info","msg":"<${n}> done"}\n`,
    )
    const store = memoryStore({ 'a.log': one! })
    const app = createApp({ logs: store, config: '' })
    const pages: string[] = []
    let link = '?file=a.log&level=info&format=ndjson&first=1'
    for (const content of [one!, one! + two!.slice(0, -6), one! + two!]) {
      store.put('a.log', content)
      const response = await app.request(`/api/v1/log/view${link}`)
      pages.push(await response.text())
      link = /<([^>]*)>; rel="next"/.exec(response.headers.get('Link')!)![1]!
    }
    expect(pages.map((page) => page.includes('<2>'))).toEqual([false, true, false])
    expect(JSON.parse(pages[2]!)).toMatchObject({ message: 'one"}' })
  })
})

describe('a cursor after rotation', () => {
  const first = async (store: ReturnType<typeof memoryStore>) => {
    const view = await viewOf(logFiles(store), viewRequest({}))
    return { ...viewRequest({}), cursor: { place: pass(view.next), direction: 'after' as const } }
  }
  const read = async (store: ReturnType<typeof memoryStore>, request: ViewRequest) =>
    textOf(await viewOf(logFiles(store), request))

  it.each(['a.log.1', 'a-2026-11-14T10-00-00.000.log', 'a.log-20261114'])(
    'goes on in %s',
    async (renamed) => {
      const store = memoryStore({ 'a.log': '10:00 one\n10:01 two\n' })
      const after = await first(store)
      store.put(renamed, '10:00 one\n10:01 two\n10:02 three\n')
      store.put('a.log', '10:03 four\n')
      expect(await read(store, after)).toBe('10:02 three\n10:03 four\n')
      store.put('a.log', '10:03 four\n10:04 and much more than there was before the rotation\n')
      expect(await read(store, after)).toContain('10:02 three\n10:03 four\n10:04')
    },
  )

  it('tells that the file was truncated', async () => {
    const store = memoryStore({ 'a.log': 'one\ntwo\n' })
    const after = await first(store)
    store.put('a.log', 'x\n')
    await expect(read(store, after)).rejects.toMatchObject({ code: 'cursor-gone' })
    store.put('a.log', 'something else that is longer\n')
    await expect(read(store, after)).rejects.toMatchObject({ code: 'cursor-gone' })
    store.delete('a.log')
    await expect(read(store, after)).rejects.toMatchObject({ code: 'cursor-gone' })
  })

  it('of another log is refused', async () => {
    const store = memoryStore({ 'a.log': 'one\n', 'b.log': 'one\n' })
    const after = await first(store)
    await expect(read(store, { ...after, file: 'b.log' })).rejects.toMatchObject({ code: 'bad-cursor' })
  })
})

describe('decodeCursor', () => {
  const good = encodeCursor({
    name: 'ä b/😀.log',
    id: '1-2',
    offset: 2 ** 53 - 1,
    print: { offset: 1, length: 64, hash: 2 ** 53 - 1 },
    splitsRecord: true,
  })
  it('reads what was written', () => {
    expect(decodeCursor(good, 'after')).toEqual({
      name: 'ä b/😀.log',
      id: '1-2',
      offset: 2 ** 53 - 1,
      print: { offset: 1, length: 64, hash: 2 ** 53 - 1 },
      splitsRecord: true,
    })
    expect(good).toMatch(/^[A-Za-z0-9_-]+$/)
  })
  it('refuses anything else', () => {
    /** Encoded as a cursor is, check digits and all. */
    const forged = (text: string) => {
      let hash = 0
      for (const char of text) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193) ^ (hash >>> 15)
      const check = ((hash >>> 0) % 46656).toString(36).padStart(3, '0')
      return btoa(check + text)
        .replace(/=+$/, '')
        .replaceAll('+', '-')
        .replaceAll('/', '_')
    }
    expect(decodeCursor(forged('1/0/0/0/0//a.log'), 'after').name).toBe('a.log')
    for (const text of [
      '',
      'x',
      good.slice(0, -4),
      `a${good}`,
      good.replace(/^./, 'Z'),
      `${good}!`,
      forged('2/0/0/0/0//a.log'),
      forged('1/0/0/65/0//a.log'),
      forged('1/9999999999999999/0/0/0//a.log'),
      forged('1/-1/0/0/0//a.log'),
      forged('1/0/0/0/0//%E0%A4%A'),
      forged('1/0/0/0/0//'),
    ])
      expect(() => decodeCursor(text, 'after'), text).toThrow(/parameter after/)
  })
  it('never crashes on random input', () => {
    fc.assert(
      fc.property(fc.string(), fc.boolean(), (text, encode) => {
        try {
          decodeCursor(encode ? btoa(unescape(encodeURIComponent(text))) : text, 'before')
        } catch (error) {
          expect(error).toMatchObject({ code: 'bad-cursor' })
        }
      }),
    )
  })
})

describe('fingerprint', () => {
  it('tells files apart whose lines are of one length and end alike', async () => {
    const line = (i: number) =>
      `2026-11-15 02:10:00.${String(i).padStart(3, '0')}\tINFO\t${'the same end '.repeat(20)}\n`
    const lines = Array.from({ length: 40 }, (_, i) => line(i))
    const store = memoryStore({ 'a.log': lines.slice(0, 10).join('') })
    const files = logFiles(store)
    const view = await viewOf(files, viewRequest({}))
    store.put('a.log.2', lines.slice(0, 15).join(''))
    store.put('a.log.1', lines.slice(15, 28).join(''))
    store.put('a.log', lines.slice(28).join(''))
    const cursor = { place: pass(view.next), direction: 'after' as const }
    expect(await textOf(await viewOf(files, viewRequest({ cursor })))).toBe(lines.slice(10).join(''))
  })

  it('is not the beginning of an unfinished line, which may end inside its time', () => {
    const line = (ms: number) => `{"time":"2026-11-16T02:41:00.${ms}Z","level":"info","msg":"one of many"}\n`
    const bytes = Buffer.from(line(100) + line(200).slice(0, 25))
    const whole = Buffer.from(line(100))
    expect(fingerprint(bytes, 1000)).toEqual(fingerprint(whole, 1000))
    // All of a fingerprint has more than the time.
    const long = Buffer.from(line(100) + line(200).slice(0, 64))
    expect(fingerprint(long, 1000)).toEqual({
      ...fingerprint(long.subarray(-64), 0),
      offset: 1000 + whole.length,
    })
    // There may be nothing else.
    expect(fingerprint(bytes.subarray(-25), 1000)).toMatchObject({ offset: 1000, length: 25 })
  })
})
