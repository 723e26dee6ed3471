import {
  type ByteRange,
  type Bytes,
  type Entry,
  type ReadOptions,
  SlicedStream,
  StoreError,
  type StoreRead,
} from '../../store/store.ts'

/** Reads a byte range of one file. */
export type RangeReader = (range: ByteRange, options: ReadOptions) => Promise<StoreRead>

/** The last part of a file, from a line start on. */
export interface Tail {
  entry: Entry
  /** Where in the file it starts. */
  offset: number
  length: number
  body: Bytes
  /** Bytes of the file that were looked at on the way, and where they lie: a cursor knows the file by them. */
  seen: { offset: number; bytes: Uint8Array } | null
}

const LF = 10
/** What is kept of a stream while its first line start is looked for; past it the range is read a second time. */
const KEEP = 1024 * 1024
/** How much of a Blob is looked at in one go. */
const PEEK = 64 * 1024

/**
 * The last `size` bytes from the first line start among them, in one read of at most `size + 1` bytes: the byte
 * before the window tells whether the window begins on a line start. A line longer than the window gives the
 * window from its first character start on.
 */
export async function readTail(read: RangeReader, size: number, options: ReadOptions = {}): Promise<Tail> {
  const got = await read({ suffix: size + 1 }, options)
  if (got.length <= size) return wholeFile(got)
  // Now body is one byte and the window.
  if (got.body instanceof Uint8Array) {
    const start = startInWindow(got.body)
    return from(got, start, got.body.subarray(start), 0, got.body)
  }
  if (got.body instanceof Blob) {
    const newline = got.head?.indexOf(LF) ?? -1
    if (got.head && newline >= 0 && newline + 1 < got.length)
      return from(got, newline + 1, sliceFrom(got.body, newline + 1), 0, got.head)
    return tailOfBlob(got, got.body)
  }
  if (got.body instanceof SlicedStream) {
    const first = await got.body.peek()
    const newline = first?.indexOf(LF) ?? -1
    if (first && newline >= 0 && newline + 1 < got.length) {
      got.body.skip(newline + 1)
      return from(got, newline + 1, got.body, 0, first)
    }
  }
  return tailOfStream(read, got, got.body, options)
}

/** Where the tail starts in `bytes`, whose first byte lies before the window. */
export function startInWindow(bytes: Uint8Array): number {
  const newline = bytes.indexOf(LF)
  if (newline >= 0 && newline + 1 < bytes.length) return newline + 1
  return characterStart(bytes, 1)
}

/** The first character start at or after `at`. More than three continuation bytes are no UTF-8 and stay as they are. */
export function characterStart(bytes: Uint8Array, at: number): number {
  let i = at
  while (i < bytes.length && i - at < 4 && (bytes[i]! & 0xc0) === 0x80) i++
  return i - at === 4 ? at : i
}

function from(got: StoreRead, skipped: number, body: Bytes, seenAt: number, seen: Uint8Array): Tail {
  return {
    entry: got.entry,
    offset: got.offset + skipped,
    length: got.length - skipped,
    body,
    seen: { offset: got.offset + seenAt, bytes: seen },
  }
}

/** All of a file; of a stream the first piece is looked at before it goes out. */
async function wholeFile(got: StoreRead): Promise<Tail> {
  const { body } = got
  if (body instanceof Uint8Array) return from(got, 0, body, 0, body)
  if (body instanceof Blob) {
    return from(got, 0, body, 0, got.head ?? new Uint8Array(await body.slice(0, 64).arrayBuffer()))
  }
  if (body instanceof SlicedStream) {
    const first = await body.peek()
    if (first) return from(got, 0, body, 0, first)
  }
  const reader = body.getReader()
  const { done, value } = await reader.read()
  return done
    ? { ...got, body: new Uint8Array(0), seen: null }
    : from(got, 0, resume([value], reader), 0, value)
}

/** A store gives the same Blob while the file is unchanged: then its last slice is the same, too. */
const lastSlices = new WeakMap<Blob, { start: number; slice: Blob }>()

function sliceFrom(blob: Blob, start: number): Blob {
  const last = lastSlices.get(blob)
  if (last?.start === start) return last.slice
  const slice = blob.slice(start)
  lastSlices.set(blob, { start, slice })
  return slice
}

async function tailOfBlob(got: StoreRead, blob: Blob): Promise<Tail> {
  for (let at = 0; at < got.length; at += PEEK) {
    const piece = new Uint8Array(await blob.slice(at, at + PEEK).arrayBuffer())
    const newline = piece.indexOf(LF)
    if (newline < 0) continue
    const start = at + newline + 1
    if (start < got.length) return from(got, start, blob.slice(start), at, piece)
  }
  const head = new Uint8Array(await blob.slice(0, 8).arrayBuffer())
  const start = characterStart(head, 1)
  return from(got, start, blob.slice(start), 0, head)
}

/**
 * Looks for the first line start while the stream runs, forgetting what it has passed beyond KEEP bytes. Only a line
 * that is longer than the window and than KEEP costs a second read, pinned to the same version.
 */
async function tailOfStream(
  read: RangeReader,
  got: StoreRead,
  stream: ReadableStream<Uint8Array>,
  options: ReadOptions,
): Promise<Tail> {
  const reader = stream.getReader()
  const kept: Uint8Array[] = []
  let seen = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const newline = value.indexOf(LF)
    if (newline >= 0 && seen + newline + 1 < got.length) {
      const start = seen + newline + 1
      return from(got, start, resume([value.subarray(newline + 1)], reader), seen, value)
    }
    seen += value.length
    if (seen <= KEEP || kept.length === 0) kept.push(value)
  }
  if (seen <= KEEP) {
    const bytes = concat(kept, seen)
    const start = characterStart(bytes, 1)
    return from(got, start, bytes.subarray(start), 0, bytes)
  }
  const first = concat(kept, 8)
  return readAgain(read, got, characterStart(first, 1), options, first)
}

/**
 * The same bytes once more. An object is pinned by its etag; a live file's etag changes with every line that is
 * appended, so there the inode and the size tell that what was read is still there.
 */
async function readAgain(
  read: RangeReader,
  got: StoreRead,
  skipped: number,
  options: ReadOptions,
  seen: Uint8Array,
): Promise<Tail> {
  const { id, etag, size, key } = got.entry
  const pin = id === undefined ? etag : undefined
  const range = { offset: got.offset + skipped, length: got.length - skipped }
  const again = await read(range, { signal: options.signal, ifMatch: pin })
  if (again.entry.id !== id || again.entry.size < size) {
    if (again.body instanceof ReadableStream) await again.body.cancel()
    throw new StoreError('changed', `Cannot read "${key}": it was replaced`)
  }
  return { ...again, entry: got.entry, seen: { offset: got.offset, bytes: seen } }
}

/** A stream of what was already taken from a reader, then of the rest. */
function resume(
  taken: Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = taken.shift()
        if (next && next.length > 0) return controller.enqueue(next)
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** The first `length` bytes of some chunks. */
function concat(chunks: Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    const part = chunk.subarray(0, length - at)
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
