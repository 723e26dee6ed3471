import * as zlib from 'node:zlib'
import { constants, deflateRawSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CodecError } from '../../src/codec/error.ts'
import { decompress } from '../../src/codec/gzip.ts'
import { inflator } from '../../src/codec/inflate.ts'
import { kindOf } from '../../src/codec/kind.ts'
import { StoreError } from '../../src/store/store.ts'

/** A stream in chunks of `size` bytes that tells whether it was left before its end. */
function streamOf(bytes: Uint8Array, size: number) {
  let at = 0
  const state = { cancelled: false, read: 0 }
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      const chunk = Uint8Array.from(bytes.subarray(at, at + size))
      at += chunk.length
      state.read = at
      controller.enqueue(chunk)
    },
    cancel() {
      state.cancelled = true
    },
  })
  return { stream, state }
}

/** That the archive is read without an error and gives this text. */
async function expectText(file: Uint8Array, text: Uint8Array, size = 1000) {
  const { text: found, error } = await read(file, size)
  expect(error).toBeNull()
  // Not toEqual: on megabytes it takes seconds.
  expect(found.equals(text)).toBe(true)
}

/** The text and the error that came after it. */
async function read(bytes: Uint8Array, size = 1000) {
  const parts: Uint8Array[] = []
  let error: unknown = null
  try {
    for await (const part of decompress(streamOf(bytes, size).stream, 'gzip')) parts.push(part)
  } catch (thrown) {
    error = thrown
  }
  return { text: Buffer.concat(parts), error, largest: Math.max(0, ...parts.map((part) => part.length)) }
}

const LINES = Array.from(
  { length: 20_000 },
  (_, i) => `2026-11-15 02:10:00.000\tINFO\ta.go:1\tline ${i * i}\n`,
)
const TEXT = Buffer.from(LINES.join(''))

test('kindOf', () => {
  expect(kindOf('a.log')).toBe('plain')
  expect(kindOf('a.log.gz')).toBe('gzip')
  expect(kindOf('A.LOG.GZ')).toBe('gzip')
  expect(kindOf('a.log.zst')).toBe('zstd')
  expect(kindOf('gz')).toBe('plain')
})

describe('gzip', () => {
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
      const { text, error } = await read(file.subarray(0, cut))
      expect(error).toBeInstanceOf(CodecError)
      expect((error as CodecError).code).toBe('bad-archive')
      expect(TEXT.subarray(0, text.length).equals(text)).toBe(true)
      if (cut >= file.length - 9) expect(text.length).toBeGreaterThan(TEXT.length - 300)
      if (cut === 1000) expect(text.length).toBeGreaterThan(3000)
    }
  })
  test('a second member that is cut is an error too', async () => {
    const file = Buffer.concat([gzipSync('one\n'), gzipSync(TEXT).subarray(0, 500)])
    const { text, error } = await read(file)
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
    const { text, error } = await read(file)
    expect(text.equals(TEXT)).toBe(true)
    expect((error as CodecError).message).toMatch(/checksum/)
  })
  test('what is not gzip is told', async () => {
    const { text, error } = await read(Buffer.from('2026-11-15 plain text'))
    expect(text.length).toBe(0)
    expect((error as CodecError).message).toBe(
      'The archive cannot be read: it is not in gzip format; download it to repair it.',
    )
  })
  test('a bomb comes in small pieces, and only as fast as it is taken', async () => {
    const bomb = gzipSync(Buffer.alloc(100_000_000))
    const { stream, state } = streamOf(bomb, 16_384)
    let taken = 0
    for await (const part of decompress(stream, 'gzip')) {
      expect(part.length).toBeLessThanOrEqual(300_000)
      taken += part.length
      if (taken > 1_000_000) break
    }
    expect(state.cancelled).toBe(true)
    expect(state.read).toBeLessThan(70_000)
  })
  test('an error of the source passes through, and the signal ends it', async () => {
    const failing = new ReadableStream<Uint8Array>({
      pull() {
        throw new StoreError('timeout', 'slow')
      },
    })
    await expect(decompress(failing, 'gzip').next()).rejects.toMatchObject({ code: 'timeout' })
    const { stream, state } = streamOf(gzipSync(TEXT), 100)
    const signal = AbortSignal.abort(new Error('left'))
    await expect(decompress(stream, 'gzip', { signal }).next()).rejects.toThrow('left')
    expect(state.cancelled).toBe(true)
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
          const { text, error } = await read(file, size)
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
        const { error, text } = await read(damaged, 4096)
        if (error === null) expect(text.equals(TEXT.subarray(0, 30_000))).toBe(true)
        else expect((error as CodecError).code).toBe('bad-archive')
      }),
      { numRuns: 500 },
    )
  })
})

test('inflator agrees with zlib on what random bytes are', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 60 }), (bytes) => {
      let expected: Buffer | null = null
      try {
        expected = zlib.inflateRawSync(bytes)
      } catch {}
      const stream = inflator()
      let mine: Buffer | null = null
      try {
        const parts = [...stream.push(bytes)]
        if (stream.done) mine = Buffer.concat(parts)
      } catch {}
      expect(mine).toEqual(expected)
    }),
    { numRuns: 5000 },
  )
  const stream = inflator()
  const parts = [...stream.push(Buffer.concat([deflateRawSync('abc'), Buffer.from('rest')]))]
  expect(Buffer.concat(parts).toString()).toBe('abc')
  expect(Buffer.from(stream.rest).toString()).toBe('rest')
})

describe('zstd', () => {
  test('without a codec it is unsupported, and says what to do', async () => {
    const { stream } = streamOf(Buffer.from('x'), 1)
    const known = (() => {
      try {
        return Boolean(new DecompressionStream('zstd' as CompressionFormat))
      } catch {
        return false
      }
    })()
    const error = (await decompress(stream, 'zstd')
      .next()
      .catch((thrown: unknown) => thrown)) as CodecError
    expect(error.code).toBe(known ? 'bad-archive' : 'unsupported')
    expect(error.message).toMatch(/download/)
  })
  test('with a codec its text comes through, and its errors are bad-archive', async () => {
    const upper = (source: ReadableStream<Uint8Array>) =>
      source.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            if (chunk[0] === 0x21) throw new Error('corrupt')
            controller.enqueue(Buffer.from(Buffer.from(chunk).toString().toUpperCase()))
          },
        }),
      )
    const parts: Uint8Array[] = []
    for await (const part of decompress(streamOf(Buffer.from('abc'), 2).stream, 'zstd', { zstd: upper }))
      parts.push(part)
    expect(Buffer.concat(parts).toString()).toBe('ABC')
    const bad = decompress(streamOf(Buffer.from('!'), 2).stream, 'zstd', { zstd: upper })
    await expect(bad.next()).rejects.toMatchObject({ code: 'bad-archive' })
  })
})

test('the text of a bomb comes in turns: timers go on meanwhile', async () => {
  const bomb = gzipSync(new Uint8Array(64 << 20))
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 1)
  let size = 0
  const start = performance.now()
  // All of the archive at once, as one read of a file gives it.
  for await (const piece of decompress(streamOf(bomb, bomb.length).stream, 'gzip')) size += piece.length
  const took = performance.now() - start
  clearInterval(timer)
  expect(size).toBe(64 << 20)
  expect(longest).toBeGreaterThan(0)
  expect(longest).toBeLessThan(took / 3)
})
