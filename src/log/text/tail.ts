import { concat } from '../../kit/bytes.ts'
import { SlicedStream, type Slices, slicesOf } from '../../store/fast.ts'
import {
  type ByteRange,
  type Bytes,
  type Entry,
  type Missing,
  type ReadOptions,
  replaced,
  type StoreRead,
} from '../../store/store.ts'
import { characterStart, startInWindow } from './bytes.ts'

export type RangeReader = (range: ByteRange, options: ReadOptions) => Promise<StoreRead>

/** The last part of a file, from a line start on. */
export interface Tail {
  entry: Entry
  /** Where in the file it starts. */
  offset: number
  length: number
  body: Bytes
  /** Bytes of the file that were read on the way, and their offset: a cursor recognizes the file by them. */
  seen: { offset: number; bytes: Uint8Array } | null
  /** Bytes before it that are missing, when they end the tail. */
  missing?: Missing
}

const LF = 10
/** Bytes kept in memory while the first line start is searched; a longer line is read a second time. */
const MAX_KEPT = 1024 * 1024

/**
 * The last `size` bytes from the first line start among them, in one read of at most `size + 1` bytes: the byte
 * before the window shows whether the window begins at a line start. If one line is longer than the window, the result
 * is the window from its first character start on.
 */
export async function readTail(read: RangeReader, size: number, options: ReadOptions = {}): Promise<Tail> {
  const got = await read({ suffix: size + 1 }, options)
  const { body } = got
  if (body instanceof Uint8Array) return tailOfBytes(got, body, size)
  const slices = slicesOf(body)
  return got.length <= size ? wholeFile(got, slices) : tailOfSlices(read, got, slices, options)
}

/** The tail of at most `size` bytes among the last `size + 1` of a file, which are in memory. */
export function tailOfBytes(got: StoreRead, bytes: Uint8Array<ArrayBuffer>, size: number): Tail {
  const start = got.length <= size ? 0 : startInWindow(bytes)
  return tailFrom(got, start, bytes.subarray(start), { at: 0, bytes })
}

/** What was read without its first `skipped` bytes. */
function tailFrom(got: StoreRead, skipped: number, body: Bytes, seen: { at: number; bytes: Uint8Array }) {
  return {
    entry: got.entry,
    offset: got.offset + skipped,
    length: got.length - skipped,
    body,
    seen: { offset: got.offset + seen.at, bytes: seen.bytes },
    ...(got.missing && { missing: got.missing }),
  }
}

/** The whole file. The first slice is inspected before it is sent. */
async function wholeFile(got: StoreRead, slices: Slices): Promise<Tail> {
  const first = await slices.next()
  if (first === null) return { ...got, body: new Uint8Array(0), seen: null }
  return tailFrom(got, 0, resume(first, slices), { at: 0, bytes: first })
}

/**
 * Searches for the first line start slice by slice, and forgets what it has passed beyond MAX_KEPT bytes. Only a line
 * that is longer than the window and than MAX_KEPT costs a second read, pinned to the same version.
 */
async function tailOfSlices(read: RangeReader, got: StoreRead, slices: Slices, options: ReadOptions) {
  const kept: Uint8Array[] = []
  let passed = 0
  for (;;) {
    const slice = await slices.next()
    if (slice === null) break
    const newline = slice.indexOf(LF)
    const start = passed + newline + 1
    if (newline >= 0 && start < got.length)
      return tailFrom(got, start, resume(slice.subarray(newline + 1), slices), { at: passed, bytes: slice })
    passed += slice.length
    if (passed <= MAX_KEPT || kept.length === 0) kept.push(slice)
  }
  if (passed <= MAX_KEPT) {
    const bytes = concat(kept)
    const start = startInWindow(bytes)
    return tailFrom(got, start, bytes.subarray(start), { at: 0, bytes })
  }
  return readAgain(read, got, concat(kept).subarray(0, 8), options)
}

/**
 * The same bytes once more, from the first character start on. An object is pinned by its etag; a live file's etag
 * changes with every appended line, so there the inode and the size prove that what was read is still there.
 */
async function readAgain(read: RangeReader, got: StoreRead, first: Uint8Array, { signal }: ReadOptions) {
  const { id, etag, size, key } = got.entry
  const skipped = characterStart(first, 1)
  const range = { offset: got.offset + skipped, length: got.length - skipped }
  const again = await read(range, { signal, ifMatch: id === undefined ? etag : undefined })
  if (again.entry.id !== id || again.entry.size < size) {
    if (again.body instanceof ReadableStream) await again.body.cancel()
    throw replaced(key)
  }
  return { ...again, entry: got.entry, seen: { offset: got.offset, bytes: first } }
}

/** The rest of a slice that was taken, and then the slices that follow. */
function resume(taken: Uint8Array, slices: Slices): SlicedStream {
  let first: Uint8Array | null = taken.length > 0 ? taken : null
  return new SlicedStream({
    next() {
      const slice = first
      first = null
      return slice ?? slices.next()
    },
    release: (slice) => slices.release(slice),
    cancel: () => slices.cancel(),
  })
}
