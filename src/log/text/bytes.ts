import { type Bytes, StoreError, type StoreRead } from '../../store/store.ts'

/** All bytes of a read. */
export async function collect(got: StoreRead): Promise<Uint8Array> {
  return toBytes(got.body, got.length)
}

async function toBytes(body: Bytes, length: number): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body
  const reader = body.getReader()
  let all: Uint8Array | null = null
  let at = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    if (all === null) {
      if (value.length === length) {
        at = length
        all = value
        continue
      }
      all = new Uint8Array(length)
    }
    all.set(value, at)
    at += value.length
  }
  if (at !== length)
    throw new StoreError('unavailable', `Cannot read: the body ended after ${at} of ${length} bytes`)
  return all ?? new Uint8Array(0)
}
