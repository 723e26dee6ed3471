import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/kit/limits/clock.ts'
import { logFiles } from '../../../src/log/files/files.ts'
import { textMatcher } from '../../../src/log/pattern/pattern.ts'
import { NdjsonWriter } from '../../../src/log/render/ndjson.ts'
import { type Renderer, recordsBody } from '../../../src/log/render/rendered.ts'
import { MAX_RECORD } from '../../../src/log/search/records.ts'
import { decodeCursor, encodeCursor } from '../../../src/log/text/cursor.ts'
import { UTC } from '../../../src/log/time.ts'
import type { View } from '../../../src/log/view/answer.ts'
import type { ViewRequest } from '../../../src/log/view/request.ts'
import { viewOf } from '../../../src/log/view/view.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { contextOf, type ViewPart, viewRequest } from '../context.ts'
import { toNdjson } from '../render/whole.ts'

const line = (i: number) =>
  `2026-11-15 02:${String(i % 60).padStart(2, '0')}:00.123\tINFO\tx.go:${i}\t[A]: line ${i}\t{"i":${i}}\n`
const record = (i: number) =>
  line(i) + '\tat a trace\n'.repeat(i % 7 === 0 ? 5 : 0) + (i === 5000 ? 'long\n'.repeat(200_000) : '')
const LOG = new TextEncoder().encode(Array.from({ length: 12_000 }, (_, i) => record(i)).join(''))
const OLD = new TextEncoder().encode(
  `\tthe end of a record\n${'short\n'.repeat(9)}${line(1).replace(' 02:', ' 01:')}`,
)

const request = (part: ViewPart) => viewRequest({ rotated: true, records: true, ...part })
const files = logFiles(memoryStore({ 'a.log': LOG, 'a.log.1': OLD }))
const jsonOf = (bytes: Uint8Array, { format }: View) => toNdjson(bytes, 0, bytes.length, format, UTC)

/** Renders records as they are. */
class Copier implements Renderer {
  #parts: Uint8Array[] = []
  #bytes = new Uint8Array(0)
  written = 0
  get left() {
    return this.#bytes.length
  }
  into() {
    this.#parts = []
    this.written = 0
  }
  take() {
    return Uint8Array.from(Buffer.concat(this.#parts))
  }
  read(bytes: Uint8Array, from: number, to: number) {
    this.#bytes = bytes.slice(from, to)
  }
  write() {
    this.#parts.push(this.#bytes)
    this.written += this.#bytes.length
    this.#bytes = new Uint8Array(0)
  }
}

const place = (cursor: View['next'] | null) => cursor && encodeCursor(cursor)

/** The same part of the log, scanned record by record. */
async function scanned(part: ViewPart) {
  const view = await viewOf(contextOf(files), request({ ...part, matcher: textMatcher('') }))
  return { view, text: Buffer.concat(view.pieces!).toString() }
}

describe('all records of a long part', () => {
  it('are those that a scan finds, page by page', async () => {
    const size = fc.integer({ min: 257 * 1024, max: 3 << 20 })
    await fc.assert(
      fc.asyncProperty(size, fc.integer({ min: 0, max: LOG.length }), async (size, offset) => {
        let cursor: ViewRequest['cursor'] = null
        const latest = await viewOf(contextOf(files), request({ fit: { size, lines: null } }))
        for (let page = 0; page < 6; page++) {
          const part: ViewPart = { fit: { size, lines: null }, cursor }
          const view: View = await viewOf(contextOf(files), request(part))
          const other = await scanned(part)
          const text = view.pieces
            ? Buffer.concat(view.pieces).toString()
            : Buffer.from(await view.series.read(view.from, view.to)).toString()
          expect(text === other.text).toBe(true)
          expect([view.from, view.to, view.notes]).toEqual([other.view.from, other.view.to, other.view.notes])
          expect(view.prev === null).toBe(other.view.prev === null)
          // Somewhere, also inside a line, and then on to older pages.
          const older =
            page === 0 ? { ...latest.next, offset: Math.min(offset, latest.next.offset) } : view.prev
          if (older === null) break
          cursor = { direction: 'before', place: decodeCursor(place(older)!, 'before') }
        }
      }),
      { numRuns: 10 },
    )
  })

  it('become the JSON that they become at once', async () => {
    const view = await viewOf(contextOf(files), request({ fit: { size: 1 << 25, lines: null } }))
    expect(view.pieces).toBe(null)
    const writer = new NdjsonWriter(view.format, UTC)
    const body = recordsBody(view, writer, MAX_RECORD, systemClock)
    const got = Buffer.from(await new Response(body).arrayBuffer())
    const once = jsonOf(await view.series.read(view.from, view.to), view)
    expect(got.equals(once)).toBe(true)
    expect(got.toString().split('\n').length - 1).toBe(12_000 + 2)
  })

  it('are cut where one is longer than may be held', async () => {
    const view = await viewOf(contextOf(files), request({ fit: { size: 1 << 25, lines: null } }))
    const body = recordsBody(view, new Copier(), 1, systemClock)
    const got = Buffer.from(await new Response(body).arrayBuffer())
    expect(got.equals(await view.series.read(view.from, view.to))).toBe(true)
  })

  it('say that the answer was cut, and go on before it', async () => {
    const context = contextOf(files, { answerBytes: 300 * 1024 })
    const view = await viewOf(context, request({ fit: { size: 1 << 25, lines: null } }))
    expect(view.pieces).toBe(null)
    expect(view.notes).toEqual(['answer-budget'])
    expect(view.prev).not.toBe(null)
    expect(view.to - view.from).toBeLessThanOrEqual(300 * 1024)
  })

  it('an error of the store ends the body with it', async () => {
    const store = memoryStore({ 'a.log': LOG })
    const view = await viewOf(contextOf(logFiles(store)), request({ rotated: false }))
    const body = recordsBody(view, new Copier(), 1, systemClock)
    store.read = async () => {
      throw new Error('gone')
    }
    await expect(new Response(body).text()).rejects.toThrow('gone')
  })
})
