import { decode } from '../log/format/format.ts'
import { bySource, type Source } from '../log/merge/source.ts'
import { filesOf, type Search } from './files.ts'
import { choiceOf, type Labels } from './labels.ts'
import { textEnd } from './lines.ts'
import type { LogSelection } from './logql/query.ts'
import { pipelineOf } from './pipeline.ts'
import { Timeline } from './timeline.ts'

/** Which part of the streams is requested, in nanoseconds: from `start` on, before `end`. */
export interface StreamRequest {
  start: bigint
  end: bigint
  limit: number
  forward: boolean
}

/** Records that share all labels, with their times in nanoseconds. */
export interface Stream {
  stream: Labels
  values: [string, string][]
}

/** A record in Loki's form. */
interface Entry {
  /** In ms. */
  time: number
  source: Source
  /** Its labels as JSON, which takes less memory than an object. */
  labels: string
  line: string
  bytes: number
}

const MILLI = 1_000_000n
const floor = (nanos: bigint) => Number(nanos / MILLI)
const ceil = (nanos: bigint) => Number((nanos + MILLI - 1n) / MILLI)

/** The entries that a query selects, as streams: newest first, or oldest first when it goes forward. */
export async function streamsOf(
  search: Search,
  selection: LogSelection,
  request: StreamRequest,
): Promise<Stream[]> {
  const pipeline = await pipelineOf(selection)
  const files = await filesOf(search, choiceOf(selection))
  const timeline = new Timeline(files, pipeline, search, ({ bytes, format, time, source }): Entry => {
    const { node, file, context } = source
    const end = textEnd(bytes, 0, bytes.length)
    const reader = { format, zone: context.zone }
    const labels = pipeline.labels({ bytes, from: 0, to: bytes.length }, reader, { node: node!, file })
    return { time, source, labels: JSON.stringify(labels), line: decode(bytes, 0, end), bytes: end }
  })
  const entries = await entriesOf(timeline, request)
  const streams = new Map<string, Stream>()
  for (const { at, labels, line, bytes } of partOf(entries, request)) {
    search.read.lines++
    search.read.bytes += bytes
    const stream: Stream = streams.get(labels) ?? { stream: JSON.parse(labels), values: [] }
    streams.set(labels, stream)
    stream.values.push([String(at), line])
  }
  return [...streams.values()]
}

/** All entries of the milliseconds that the request is about, as far as its limit reaches. */
async function entriesOf(timeline: Timeline<Entry>, request: StreamRequest): Promise<Entry[]> {
  const { start, end, limit, forward } = request
  const [since, until] = forward ? [ceil(start), ceil(end)] : [floor(start), floor(end)]
  // Of a millisecond that is only requested in part, it is not known yet which records are.
  const edge = forward ? { since: floor(start), until: ceil(start) } : { since: floor(end), until: ceil(end) }
  const [inPart, whole] = [await timeline.all(edge), await timeline.nearest({ since, until }, limit, forward)]
  return [...inPart, ...whole]
}

/**
 * Records may share a millisecond or a second, in one file and in several; a client that pages by time would lose or
 * repeat some of them. So the n-th record of a millisecond, by time, source and place, is given its time plus n
 * nanoseconds: the same in every answer to this query, whatever the limit and the direction.
 */
function partOf(entries: Entry[], { start, end, limit, forward }: StreamRequest): (Entry & { at: bigint })[] {
  entries.sort((a, b) => a.time - b.time || bySource(a.source, b.source))
  let place = 0
  let last = Number.NaN
  const timed = entries.map((entry) => {
    const millis = Math.floor(entry.time)
    place = millis === last ? place + 1 : 0
    last = millis
    return { ...entry, at: BigInt(millis) * MILLI + BigInt(place) }
  })
  const wanted = timed.filter(({ at }) => at >= start && at < end)
  return forward ? wanted.slice(0, limit) : wanted.slice(-limit).reverse()
}
