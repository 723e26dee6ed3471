import { type ByteRange, clampRange, type Entry, type ReadOptions, StoreError } from '../store.ts'

/** The entry of an answer, whose object has this size. */
type EntryOf = (key: string, answer: Response, size: number) => Entry

/** No header for all bytes. */
export function rangeHeader(range: ByteRange | undefined): Record<string, string> {
  if (range === undefined) return {}
  if ('suffix' in range) return { Range: `bytes=-${safe(range.suffix)}` }
  const { offset, length } = range
  if (length !== undefined) return { Range: `bytes=${safe(offset)}-${safe(offset + length - 1)}` }
  return offset > 0 ? { Range: `bytes=${safe(offset)}-` } : {}
}

/** A larger number would be printed with an exponent. */
function safe(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER)
}

/** The conditions of a read as headers. */
export function conditional(conditions: ReadOptions): Record<string, string> {
  return {
    ...(conditions.ifMatch !== undefined ? { 'If-Match': conditions.ifMatch } : {}),
    ...(conditions.ifNoneMatch !== undefined ? { 'If-None-Match': conditions.ifNoneMatch } : {}),
  }
}

/** Which part of which object a response holds; a part that was not requested is refused. */
export function partOf(key: string, range: ByteRange | undefined, answer: Response, entryOf: EntryOf) {
  if (answer.status === 200) {
    const entry = entryOf(key, answer, lengthOf(answer))
    const part = clampRange(range, entry.size)
    if (part.length !== entry.size)
      throw new StoreError('unavailable', `The storage ignored the range of "${key}"`)
    return { entry, ...part }
  }
  const match = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(answer.headers.get('Content-Range') ?? '')
  if (!match) throw new StoreError('unavailable', `The storage sent a part of "${key}" without its range`)
  const [from, to, size] = match.slice(1).map(Number) as [number, number, number]
  const entry = entryOf(key, answer, size)
  const { offset, length } = clampRange(range, size)
  if (from !== offset || to - from + 1 !== length)
    throw new StoreError('unavailable', `The storage sent another range of "${key}" than asked for`)
  return { entry, offset, length }
}

/** The storage's clock, if the response has it. */
export function dateOf(answer: Response): { date?: number } {
  const date = Date.parse(answer.headers.get('Date') ?? '')
  return Number.isNaN(date) ? {} : { date }
}

export function lengthOf(answer: Response): number {
  const text = answer.headers.get('Content-Length')
  if (text === null || !/^\d+$/.test(text))
    throw new StoreError('unavailable', 'The storage sent an answer without its length')
  return Number(text)
}
