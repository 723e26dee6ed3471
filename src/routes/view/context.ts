import { respond } from '../../core/http/sliced.ts'
import type { Query } from '../../core/query.ts'
import type { Format } from '../../core/view-headers.ts'
import { piecesBody } from '../../log/render/body.ts'
import { NdjsonWriter } from '../../log/render/ndjson.ts'
import { renderedBody } from '../../log/render/rendered.ts'
import { SEPARATOR } from '../../log/search/range.ts'
import type { View } from '../../log/view/answer.ts'
import { type QueryRoute, recordOptions } from '../parameters/view-request.ts'

const encoder = new TextEncoder()
const BETWEEN = encoder.encode(SEPARATOR)
/** After a record without a line end, which a file that was cut ends with. */
const AFTER_CUT = encoder.encode(`\n${SEPARATOR}`)
const LF = 10

/** A page of matches with the records around them, which are told apart. */
export function contextOf(
  view: View,
  headers: Record<string, string>,
  format: Format,
  { query, route }: { query: Query; route: QueryRoute },
): Response {
  const { memory, distances = [] } = view
  const pieces = view.pieces ?? []
  const { clock, zone } = route
  if (format === 'text') return respond(piecesBody(separated(pieces, view.ends), memory, clock), headers)
  const writer = new ContextWriter(view.format, zone, recordOptions(query))
  writer.distances = distances
  return respond(renderedBody(pieces, writer, memory, clock), headers)
}

/** Records with a line between groups that do not touch. */
function separated(pieces: readonly Uint8Array[], ends: readonly number[]): Uint8Array[] {
  return pieces.flatMap((piece, i) => {
    const last = pieces[i - 1]
    if (!last || ends[i]! - piece.length === ends[i - 1]) return [piece]
    return [last.at(-1) === LF ? BETWEEN : AFTER_CUT, piece]
  })
}

/** Reads one record at a time, and marks those that are there only as context. */
class ContextWriter extends NdjsonWriter {
  distances: readonly number[] = []
  #next = 0

  override read(bytes: Uint8Array, from: number, to: number): void {
    this.isContext = this.distances[this.#next++] !== 0
    super.read(bytes, from, to)
  }
}
