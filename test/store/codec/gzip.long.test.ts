import { constants, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Decoder } from '../../../src/store/codec/decoder.ts'
import { decompress } from '../../../src/store/codec/decompress.ts'
import { CodecError } from '../../../src/store/codec/error.ts'
import { decoders as native } from '../../../src/store/codec/native.ts'
import { decoders as portable } from '../../../src/store/codec/portable.ts'
import { StoreError } from '../../../src/store/store.ts'

/** A source in chunks of `size` bytes that reports how much of it was read and whether it was abandoned early. */
function sourceOf(bytes: Uint8Array, size: number) {
  const state = { left: false, read: 0 }
  async function* open() {
    try {
      for (let at = 0; at < bytes.length; at += size) {
        state.read = at + size
        yield Uint8Array.from(bytes.subarray(at, at + size))
      }
    } finally {
      state.left = state.read < bytes.length
    }
  }
  return { open, state }
}

/** The text and the error that came after it. */
async function read(decoder: Decoder, bytes: Uint8Array, size = 1000) {
  const parts: Uint8Array[] = []
  let error: unknown = null
  try {
    for await (const part of decoder(sourceOf(bytes, size).open)) parts.push(part)
  } catch (thrown) {
    error = thrown
  }
  return { text: Buffer.concat(parts), error }
}

const LINES = Array.from(
  { length: 20_000 },
  (_, i) => `2026-11-15 02:10:00.000\tINFO\ta.go:1\tline ${i * i}\n`,
)
const TEXT = Buffer.from(LINES.join(''))

describe.each([
  ['native', native.gzip!],
  ['portable', portable.gzip!],
])('gzip, %s', (_name, gunzip) => {
  /** That the archive is read without an error and gives this text. */
  async function expectText(file: Uint8Array, text: Uint8Array, size = 1000) {
    const { text: found, error } = await read(gunzip, file, size)
    expect(error).toBeNull()
    // Not toEqual: on megabytes it takes seconds.
    expect(found.equals(text)).toBe(true)
  }

  test.each([1, 2, 9, 1000, 65_536, 10_000_000])('in chunks of %i', async (size) => {
    const text = size < 10 ? TEXT.subarray(0, 20_000) : TEXT
    await expectText(gzipSync(text), text, size)
  })
  test('many members are one text, wherever chunks fall', async () => {
    const file = Buffer.concat([gzipSync('one\n'), gzipSync(''), gzipSync('two\n'), gzipSync(TEXT)])
    for (const size of [1, 7, 64, file.length])
      await expectText(file, Buffer.concat([Buffer.from('one\ntwo\n'), TEXT]), size)
  })
  test('header fields: extra, name, comment, checksum', async () => {
    const plain = gzipSync('hello')
    const header = Buffer.from([
      0x1f, 0x8b, 8, 0x1e, 0, 0, 0, 0, 0, 3, 3, 0, 1, 2, 3, 0x61, 0, 0x62, 0x63, 0, 9, 9,
    ])
    const file = Buffer.concat([header, plain.subarray(10)])
    for (const size of [1, 5, 100]) await expectText(file, Buffer.from('hello'), size)
  })
  test.each([
    ['zeros', Buffer.alloc(5000)],
    ['garbage', Buffer.from('this is no gzip')],
    ['a single byte', Buffer.from([0x1f])],
  ])('%s behind the end are ignored, as gzip(1) does', async (_name, tail) => {
    await expectText(Buffer.concat([gzipSync(TEXT), tail]), TEXT)
  })
  test('an empty file is an empty text', async () => {
    await expectText(Buffer.alloc(0), Buffer.alloc(0))
  })
  test('a cut archive gives what is readable, then says so', async () => {
    const file = gzipSync(TEXT)
    for (const cut of [1, 5, 12, 1000, file.length - 9, file.length - 8, file.length - 1]) {
      const { text, error } = await read(gunzip, file.subarray(0, cut))
      expect(error).toBeInstanceOf(CodecError)
      expect((error as CodecError).code).toBe('bad-archive')
      expect(TEXT.subarray(0, text.length).equals(text)).toBe(true)
      if (cut >= file.length - 9) expect(text.length).toBeGreaterThan(TEXT.length - 300)
      if (cut === 1000) expect(text.length).toBeGreaterThan(3000)
    }
  })
  test('a second member that is cut is an error too', async () => {
    const file = Buffer.concat([gzipSync('one\n'), gzipSync(TEXT).subarray(0, 500)])
    const { text, error } = await read(gunzip, file)
    expect((error as CodecError).code).toBe('bad-archive')
    expect(text.subarray(0, 4).toString()).toBe('one\n')
    expect(text.length).toBeGreaterThan(1000)
  })
  test.each([
    ['checksum', -8],
    ['length', -1],
  ])('a wrong %s is told after the text', async (_name, at) => {
    const file = Buffer.from(gzipSync(TEXT))
    file[file.length + at]! ^= 1
    const { text, error } = await read(gunzip, file)
    expect(text.equals(TEXT)).toBe(true)
    expect((error as CodecError).message).toMatch(/checksum/)
  })
  test('what is not gzip is told', async () => {
    const { text, error } = await read(gunzip, Buffer.from('2026-11-15 plain text'))
    expect(text.length).toBe(0)
    expect((error as CodecError).message).toBe(
      'Cannot read the archive: it is not in gzip format. Download it to repair it.',
    )
  })
  test('a bomb comes in small pieces, and only as fast as it is taken', async () => {
    const bomb = gzipSync(Buffer.alloc(100_000_000))
    const { open, state } = sourceOf(bomb, 4096)
    let taken = 0
    for await (const part of gunzip(open)) {
      expect(part.length).toBeLessThanOrEqual(5_000_000)
      taken += part.length
      if (taken > 1_000_000) break
    }
    expect(state.left).toBe(true)
    expect(state.read).toBeLessThan(70_000)
  })
  test('a member for every line', async () => {
    const members = Buffer.concat(Array(3000).fill(gzipSync('one line of a log\n')))
    await expectText(members, Buffer.from('one line of a log\n'.repeat(3000)), 65_536)
    await expectText(Buffer.concat(Array(3000).fill(gzipSync(''))), Buffer.alloc(0), 65_536)
  })
  test('a header that is cut behind a whole member is an error', async () => {
    const { text, error } = await read(
      gunzip,
      Buffer.concat([gzipSync('one\n'), gzipSync('two\n').subarray(0, 7)]),
    )
    expect(text.toString()).toBe('one\n')
    expect((error as CodecError).code).toBe('bad-archive')
  })
  test('property: any bytes, any level and strategy, any members and chunks', async () => {
    const levels = fc.constantFrom(0, 1, 6, 9)
    const strategies = fc.constantFrom(
      constants.Z_DEFAULT_STRATEGY,
      constants.Z_FIXED,
      constants.Z_HUFFMAN_ONLY,
      constants.Z_RLE,
    )
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 3000 }),
      fc
        .array(fc.constantFrom('ab', 'abc\n', 'x'.repeat(300), '\tINFO\t'), { maxLength: 400 })
        .map((words) => Buffer.from(words.join(''))),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(content, levels, strategies), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 5000 }),
        async (members, size) => {
          const file = Buffer.concat(
            members.map(([bytes, level, strategy]) => gzipSync(bytes, { level, strategy })),
          )
          const { text, error } = await read(gunzip, file, size)
          expect(error).toBeNull()
          expect(text.equals(Buffer.concat(members.map(([bytes]) => bytes)))).toBe(true)
        },
      ),
      { numRuns: 150 },
    )
  })
  test('property: damage never throws anything but bad-archive, and never goes on for ever', async () => {
    const file = gzipSync(TEXT.subarray(0, 30_000))
    await fc.assert(
      fc.asyncProperty(fc.nat(file.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const damaged = Buffer.from(file)
        damaged[at]! ^= flip
        const { error, text } = await read(gunzip, damaged, 4096)
        if (error === null) expect(text.equals(TEXT.subarray(0, 30_000))).toBe(true)
        else expect((error as CodecError).code).toBe('bad-archive')
      }),
      { numRuns: 500 },
    )
  })
})

test('an error of the source passes through, and the signal ends it', async () => {
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield gzipSync(TEXT).subarray(0, 100)
    throw new StoreError('timeout', 'slow')
  }
  const all = async () => {
    for await (const _ of decompress(failing, 'gzip'));
  }
  await expect(all()).rejects.toMatchObject({ code: 'timeout' })
  const { open } = sourceOf(gzipSync(TEXT), 100)
  const left = AbortSignal.abort(new Error('left'))
  await expect(decompress(open, 'gzip', left).next()).rejects.toThrow('left')
  const controller = new AbortController()
  const text = decompress(open, 'gzip', controller.signal)
  await text.next()
  controller.abort(new Error('gone'))
  await expect(text.next()).rejects.toThrow('gone')
})
