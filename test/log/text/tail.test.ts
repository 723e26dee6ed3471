import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTail } from '../../../src/log/text/tail.ts'
import { SlicedStream, slicesOf } from '../../../src/store/fast.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import type { Bytes, StoreRead } from '../../../src/store/store.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The same bytes in each form that a store may give them in. */
const forms: Record<string, (bytes: Uint8Array<ArrayBuffer>) => Bytes> = {
  bytes: (bytes) => bytes,
  'slices of three bytes each': (bytes) => new SlicedStream(slicesOf(streamOf(bytes, 3))),
  'stream of one byte each': (bytes) => streamOf(bytes, 1),
  'stream of seven bytes each': (bytes) => streamOf(bytes, 7),
  'stream of 64 KiB each': (bytes) => streamOf(bytes, 65536),
}

function streamOf(bytes: Uint8Array, step: number): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.slice(at, at + step))
      at += step
    },
  })
}

async function tail(content: Uint8Array | string, size: number, form: keyof typeof forms = 'bytes') {
  const store = memoryStore({ f: content })
  let reads = 0
  const result = await readTail(async (range, options) => {
    reads++
    const got = (await store.read('f', range, options)) as StoreRead & { body: Uint8Array<ArrayBuffer> }
    return { ...got, body: forms[form]!(got.body) }
  }, size)
  const bytes = new Uint8Array(await new Response(result.body).arrayBuffer())
  return { ...result, bytes, text: decoder.decode(bytes), reads }
}

/** The contract in five lines. */
function reference(bytes: Uint8Array, size: number): Uint8Array {
  if (size >= bytes.length) return bytes
  let start = bytes.length - size
  const newline = bytes.indexOf(10, start - 1)
  if (newline >= 0 && newline + 1 < bytes.length) return bytes.subarray(newline + 1)
  const continuation = (i: number) => i < bytes.length && (bytes[i]! & 0xc0) === 0x80
  if (![0, 1, 2, 3].every((i) => continuation(start + i))) while (continuation(start)) start++
  return bytes.subarray(start)
}

const cases: [name: string, content: string, size: number, expected: string][] = [
  ['an empty file', '', 10, ''],
  ['an empty file, nothing asked for', '', 0, ''],
  ['nothing asked for', 'a\nb\n', 0, ''],
  ['one byte', 'x', 1, 'x'],
  ['one newline', '\n', 1, '\n'],
  ['one newline, nothing asked for', '\n', 0, ''],
  ['the whole file exactly', 'one\ntwo\n', 8, 'one\ntwo\n'],
  ['more than the file', 'one\ntwo\n', 9, 'one\ntwo\n'],
  ['far more than the file', 'one\ntwo\n', Number.MAX_SAFE_INTEGER - 1, 'one\ntwo\n'],
  ['one byte less than the file', 'one\ntwo\n', 7, 'two\n'],
  ['a cut exactly on a line start', 'one\ntwo\n', 4, 'two\n'],
  ['a cut one byte before a line start', 'one\ntwo\n', 5, 'two\n'],
  ['a cut one byte after a line start', 'one\ntwo\n', 3, 'wo\n'],
  ['only the last newline', 'one\ntwo\n', 1, '\n'],
  ['no final newline', 'one\ntwo', 5, 'two'],
  ['no final newline, cut on the line start', 'one\ntwo', 3, 'two'],
  ['no final newline, inside the last line', 'one\ntwo', 2, 'wo'],
  ['a line longer than the window', 'x'.repeat(100), 10, 'x'.repeat(10)],
  ['a line longer than the window, with its newline', `${'x'.repeat(100)}\n`, 10, `${'x'.repeat(9)}\n`],
  ['a line longer than the window, after others', `a\n${'x'.repeat(100)}`, 10, 'x'.repeat(10)],
  ['empty lines', '\n\n\n', 2, '\n\n'],
  ['empty lines at the end', 'abc\n\n\n', 4, '\n\n'],
  ['CRLF', 'one\r\ntwo\r\n', 6, 'two\r\n'],
  ['CRLF, cut on the line start', 'one\r\ntwo\r\n', 5, 'two\r\n'],
  ['CRLF, cut between CR and LF', 'one\r\ntwo\r\nx', 7, 'two\r\nx'],
  ['a lone CR ends no line', 'a\rb\rc', 3, 'b\rc'],
  ['NUL', 'a\0\n\0b\n', 3, '\0b\n'],
  ['two-byte characters, cut inside one', 'é'.repeat(5), 3, 'é'],
  ['three-byte characters, cut inside one', '日'.repeat(5), 4, '日'],
  ['three-byte characters, cut on one', '日'.repeat(5), 6, '日日'],
  ['four-byte characters, cut inside one', '😀😀', 7, '😀'],
  ['four-byte characters, window inside one', '😀', 2, ''],
  ['multi-byte characters behind a line start are whole', '日\n日本\n', 8, '日本\n'],
]

describe('readTail', () => {
  for (const form of Object.keys(forms)) {
    describe(form, () => {
      it.each(cases)('%s', async (_name, content, size, expected) => {
        const result = await tail(content, size, form)
        expect(result.text).toBe(expected)
        expect(result.length).toBe(result.bytes.length)
        expect(result.offset).toBe(result.entry.size - result.length)
        expect(result.reads).toBe(1)
      })
    })
  }

  it('keeps bytes that are no UTF-8 as they are', async () => {
    const broken = new Uint8Array([0xff, 0xfe, 10, 0x80, 0x80, 0x80, 0x80, 0x80, 0xc3])
    expect([...(await tail(broken, 7)).bytes]).toEqual([0x80, 0x80, 0x80, 0x80, 0x80, 0xc3])
    expect([...(await tail(broken, 5)).bytes]).toEqual([0x80, 0x80, 0x80, 0x80, 0xc3])
  })

  it('agrees with the reference on any file, size and form', async () => {
    const byte = fc.oneof(
      { weight: 3, arbitrary: fc.constant(10) },
      { weight: 3, arbitrary: fc.integer({ min: 97, max: 122 }) },
      { weight: 2, arbitrary: fc.integer({ min: 0x80, max: 0xbf }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 255 }) },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(byte, { maxLength: 60 }),
        fc.nat({ max: 70 }),
        fc.constantFrom(...Object.keys(forms)),
        async (array, size, form) => {
          const content = Uint8Array.from(array)
          const result = await tail(content, size, form)
          expect([...result.bytes]).toEqual([...reference(content, size)])
          expect(result.bytes.length).toBeLessThanOrEqual(size)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('reads a second time only for a line longer than the window and than what it keeps', async () => {
    const content = encoder.encode(`a\n${'日'.repeat(500_000)}`)
    const result = await tail(content, 1_400_000, 'stream of 64 KiB each')
    expect(result.reads).toBe(2)
    expect(Buffer.compare(result.bytes, reference(content, 1_400_000))).toBe(0)
  })

  it('passes a failing stream on', async () => {
    const failing = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error('gone'))
      },
    })
    const entry = { key: 'f', size: 100, modified: 0, etag: '"e"' }
    const read = async () => ({ entry, offset: 89, length: 11, body: failing })
    await expect(readTail(read, 10)).rejects.toThrow('gone')
  })
})
