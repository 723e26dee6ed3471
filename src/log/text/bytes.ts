import { slicesOf } from '../../store/fast.ts'
import { StoreError, type StoreRead } from '../../store/store.ts'

/** All bytes of a read, in the caller's memory if it is given and they arrive in pieces. */
export async function collect(
  { body, length }: StoreRead,
  buffer?: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body
  const slices = slicesOf(body)
  const all = buffer && buffer.length >= length ? buffer.subarray(0, length) : new Uint8Array(length)
  let at = 0
  const take = (slice: Uint8Array) => {
    if (at + slice.length <= length) all.set(slice, at)
    at += slice.length
  }
  if (slices.each) await slices.each(take)
  else
    for (let slice = await slices.next(); slice !== null; slice = await slices.next()) {
      take(slice)
      slices.release(slice)
    }
  if (at !== length)
    throw new StoreError('unavailable', `The storage ended a body of ${length} bytes after ${at}`)
  return all
}
