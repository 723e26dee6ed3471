import { type ByteRange, clampRange, type StoreRead } from '../store.ts'
import { bytesOf, check, codeOf, equal, equalBytes, pattern, shown, textOf } from './assert.ts'
import type { Suite } from './suite.ts'

const LARGE = 5 * 1024 * 1024 + 7

export function readTests({ it, put, subject }: Suite): void {
  const numbers = [0, 1, 3, 9, 10, 11, 1e6, Number.MAX_SAFE_INTEGER, 1e21, Number.POSITIVE_INFINITY]
  const ranges: (ByteRange | undefined)[] = [
    undefined,
    ...numbers.map((suffix) => ({ suffix })),
    ...numbers.map((offset) => ({ offset })),
    ...[0, 1, 9, 10, 11].flatMap((offset) => numbers.map((length) => ({ offset, length }))),
  ]
  for (const [kind, text] of Object.entries({ empty: '', one: 'x', ten: '0123456789' }))
    it(`clamps every range as slice() would, on ${kind}`, async () => {
      const key = `range-${kind}`
      await put(key, text)
      const entry = await subject().store.stat(key)
      for (const range of ranges) {
        const read = await subject().store.read(key, range)
        const { offset, length } = clampRange(range, text.length)
        equal(read?.entry, entry, `the entry with ${shown(range)}`)
        equal([read?.offset, read?.length], [offset, length], `offset and length of ${shown(range)}`)
        equal(await textOf(read), text.slice(offset, offset + length), `the bytes of ${shown(range)}`)
      }
    })

  it('gives a large file whole, and any part of it', async () => {
    const bytes = pattern(LARGE, 1)
    await put('large', bytes)
    const parts: (ByteRange | undefined)[] = [
      undefined,
      { suffix: 3_000_000 },
      { offset: 1_234_567, length: 2_345_678 },
      { suffix: 65_537 },
      { offset: LARGE - 1 },
    ]
    for (const range of parts) {
      const { offset, length } = clampRange(range, LARGE)
      const read = await subject().store.read('large', range)
      equal(read?.entry.size, LARGE, 'the size')
      equalBytes(await bytesOf(read), bytes.subarray(offset, offset + length), `the part ${shown(range)}`)
    }
  })

  it('never mixes two versions when a file is replaced while it is read', async () => {
    const before = pattern(LARGE, 2)
    await put('replaced', before)
    const reader = readerOf(await subject().store.read('replaced'))
    const received = new Uint8Array(LARGE)
    let at = 0
    const take = ({ value }: { value?: Uint8Array | undefined }) => {
      received.set(value!, at)
      at += value!.length
    }
    take(await reader.read())
    await put('replaced', pattern(LARGE, 3))
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) take(next)
    } catch {
      // An error is as good as the old version.
      return
    }
    equalBytes(received.subarray(0, at), before, 'the version that was opened')
  })

  it('stops a large body when the client disconnects, and never ends it as if it were complete', async () => {
    await put('left', pattern(LARGE, 4))
    const client = new AbortController()
    const read = await subject().store.read('left', undefined, { signal: client.signal })
    if (read!.body instanceof Uint8Array) return
    const reader = readerOf(read)
    let received = (await reader.read()).value!.length
    client.abort()
    const drain = async () => {
      for (let next = await reader.read(); !next.done; next = await reader.read())
        received += next.value.length
    }
    const isCut = await drain().then(
      () => false,
      () => true,
    )
    check(isCut && received < LARGE, `the body errors; ${received} of ${LARGE} bytes came`)
  })

  it('is usable after a body was cancelled', async () => {
    await put('cancelled', pattern(LARGE, 5))
    const reader = readerOf(await subject().store.read('cancelled'))
    await reader.read()
    await reader.cancel()
    equal((await subject().store.read('cancelled', { suffix: 1 }))?.length, 1, 'the length')
  })
}

/** The conditions of a read, which hold for every range. */
export function conditionTests({ it, put, subject, exceptions }: Suite): void {
  const ranges: (ByteRange | undefined)[] = [
    undefined,
    { suffix: 2 },
    { suffix: 0 },
    { offset: 1, length: 2 },
    { offset: 99 },
  ]
  for (const range of ranges)
    it(`hold for the range ${shown(range)}`, async () => {
      const { store } = subject()
      const read = (options: object) => store.read('conditional', range, options)
      await put('conditional', 'first')
      const { etag } = (await store.stat('conditional'))!
      equal((await read({ ifMatch: etag }))?.entry.etag, etag, 'the etag of a read with ifMatch')
      equal(await codeOf(read({ ifNoneMatch: etag })), 'unchanged', 'ifNoneMatch with the etag')
      equal(await codeOf(read({ ifMatch: '"other"' })), 'changed', 'ifMatch with another etag')
      equal((await read({ ifNoneMatch: '"other"' }))?.entry.etag, etag, 'ifNoneMatch with another etag')
      await put('conditional', 'other')
      if (exceptions.pinned) {
        const again = await read({ ifMatch: etag })
        const { offset, length } = clampRange(range, 'first'.length)
        equal(again?.entry.etag, etag, exceptions.pinned)
        equal(await textOf(again), 'first'.slice(offset, offset + length), exceptions.pinned)
      } else equal(await codeOf(read({ ifMatch: etag })), 'changed', 'ifMatch after the file was replaced')
      const replaced = await read({ ifNoneMatch: etag })
      check(replaced !== null && replaced.entry.etag !== etag, 'a replaced file has another etag')
    })

  it('give null for a file that does not exist', async () => {
    equal(await subject().store.read('absent', undefined, { ifNoneMatch: '"x"' }), null, 'the read')
  })
}

function readerOf(read: StoreRead | null): ReadableStreamDefaultReader<Uint8Array> {
  if (read === null) throw new Error('the file is not there')
  return (read.body instanceof ReadableStream ? read.body : new Response(read.body).body!).getReader()
}
