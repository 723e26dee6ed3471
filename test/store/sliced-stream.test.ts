import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { bytesResponse, streamOf } from '../../src/http/sliced.ts'
import { watchBody } from '../../src/http/watch-body.ts'
import { SlicedStream, type Slices, slicesOf } from '../../src/store/fast.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const slices = (): Slices => ({ next: () => new Uint8Array(1), release() {}, cancel() {} })

describe('SlicedStream', () => {
  it('is not held by those who read its slices', async () => {
    const streams: WeakRef<ReadableStream>[] = []
    const wrapped = () => {
      const inner = new SlicedStream(slices())
      const response = watchBody(bytesResponse(inner, {}), () => {})
      const outer = streamOf(response) as SlicedStream
      streams.push(new WeakRef(inner), new WeakRef(outer))
      return slicesOf(outer)
    }
    const held = wrapped()
    await new Promise((resolve) => setTimeout(resolve, 1))
    collect()
    expect(streams.map((stream) => stream.deref())).toEqual([undefined, undefined])
    expect(held.next()).toEqual(new Uint8Array(1))
  })
})
