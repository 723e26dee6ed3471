import type { Budget } from '../../kit/limits/budget.ts'
import { testInSteps } from '../pattern/pattern.ts'
import { type Chunk, type Filter, type MatchOptions, matches } from './filter.ts'

/** How much is tested between two turns of the event loop. A byte takes up to 30 ns per pattern, and there may be 32. */
export const BYTES_PER_TURN = 32 * 1024

/** The result of `matches`. Patterns take turns with other work, after every `BYTES_PER_TURN` bytes and in long records. */
export async function matchesInTurns(
  chunk: Chunk,
  filter: Filter,
  budget: Budget,
  options: MatchOptions = {},
): Promise<ArrayLike<number>> {
  const { matcher } = filter.selection
  if (matcher === null) return matches(chunk, filter, options)
  const { bytes, from, to } = chunk
  let tested = 0
  let decided = options.first && from < to ? 2 : 0
  const test: typeof matcher.test = (...record) => {
    tested += record[2] - record[1]
    // Kept for now: this record and those after it are tested below.
    if (tested > BYTES_PER_TURN) return true
    const found = matcher.test(...record)
    if (found) decided += 2
    return found
  }
  const ranges = matches(
    chunk,
    { ...filter, selection: filter.selection.with({ matcher: { ...matcher, test } }) },
    options,
  )
  if (tested <= BYTES_PER_TURN) return ranges
  const wanted = Array.from(ranges).slice(0, decided)
  tested = BYTES_PER_TURN
  for (let i = decided; i < ranges.length; i += 2) {
    const start = ranges[i]!
    const end = ranges[i + 1]!
    tested += end - start
    const record = textOf(bytes.subarray(start, end), filter)
    const isFound =
      tested > BYTES_PER_TURN
        ? await testInTurns(record, filter, budget)
        : matcher.test(record, 0, record.length, filter)
    if (tested > BYTES_PER_TURN) tested = 0
    if (isFound) wanted.push(start, end)
  }
  return wanted
}

/** Whether the matcher, if there is one, accepts a record. */
export async function hasMatch(record: Uint8Array, filter: Filter, budget: Budget): Promise<boolean> {
  return filter.selection.matcher === null || testInTurns(textOf(record, filter), filter, budget)
}

async function testInTurns(text: Uint8Array, filter: Filter, budget: Budget): Promise<boolean> {
  const steps = testInSteps(filter.selection.matcher!, text, 0, text.length, filter)
  for (;;) {
    await budget.step()
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** A record as it is searched. */
function textOf(record: Uint8Array, { format }: Filter): Uint8Array {
  return format.unwrap?.(record, 0, record.length) ?? record
}
