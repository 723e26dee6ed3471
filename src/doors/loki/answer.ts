import { decode } from '../../log/format/format.ts'
import type { MergedCursor } from '../../log/merge/cursor.ts'
import { mergePage } from '../../log/merge/merge.ts'
import type { MergedRecord } from '../../log/merge/places.ts'
import { bySource, type Source } from '../../log/merge/source.ts'
import { byCodePoint } from '../../store/store.ts'
import {
  deadlineOf,
  filesOf,
  isSilent,
  type LogFile,
  nullIfSilent,
  refuseLate,
  reportBroken,
  type Search,
  tooMuch,
} from './files.ts'
import { choiceOf, type Labels } from './labels.ts'
import { textEnd } from './lines.ts'
import type { LogSelection } from './logql/query.ts'
import { type Pipeline, pipelineOf } from './pipeline.ts'

/** Which part of the streams is requested, in nanoseconds: from `start` on, before `end`. */
interface StreamRequest {
  start: bigint
  end: bigint
  limit: number
  forward: boolean
}

/** Records that share all labels, with their times in nanoseconds. */
interface Stream {
  stream: Labels
  values: [string, string][]
}

interface Entry {
  /** In ms. */
  time: number
  source: Source
  /** Its labels as JSON, which takes less memory than an object. */
  labels: string
  line: string
  bytes: number
}

/** Which part of a group of files is read: in ms, from `since` on, before `until`. */
interface Part {
  since: number
  until: number
  lines: number
  /** Bytes of records that may be read. */
  size: number
  /** Whether the first records are wanted rather than the last. */
  first: boolean
  cursor: MergedCursor | null
}

/** The files of a query, and what it does with their records. */
interface Reading {
  /** Files that are merged at once; of more, one group is read after the other. */
  groups: LogFile[][]
  pipeline: Pipeline
  search: Search
  isLate: () => boolean
}

const GROUP = 32
const MAX_RECORDS = 100_000
/** Lines that are kept may be this part of the memory for answers: as text and as JSON they take several times as much. */
const SHARE_OF_LINES = 8

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
  files.sort(asSources)
  const groups: LogFile[][] = []
  for (let i = 0; i < files.length; i += GROUP) groups.push(files.slice(i, i + GROUP))
  const reading = { groups, pipeline, search, isLate: deadlineOf(search, search.sources) }
  const entries = await entriesOf(reading, request)
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

/** The order of their sources, without their names. */
function asSources(a: LogFile, b: LogFile): number {
  return a.node === b.node ? byCodePoint(a.file, b.file) : byCodePoint(`${a.node}/`, `${b.node}/`)
}

/** Made for one group at a time: with their filters, a hundred thousand files would take as many kilobytes. */
function sourceOf({ node, file, context }: LogFile, pipeline: Pipeline): Source {
  const { matcher } = pipeline.filter({ node, file })
  const names = { name: `${node}/${file}`, log: file, files: [file] }
  return { ...names, node, file, context, rotated: false, matcher }
}

/** All entries of the milliseconds that the request is about, as far as its limit reaches. */
async function entriesOf(reading: Reading, request: StreamRequest): Promise<Entry[]> {
  const { start, end, limit, forward: first } = request
  const [since, until] = first ? [ceil(start), ceil(end)] : [floor(start), floor(end)]
  const { context } = reading.search.sources[0] ?? {}
  const size = context?.limits.answerBytes ?? 0
  // Of a millisecond that is only requested in part, it is not known yet which records are.
  const edge = first ? start : end
  const inPart: Entry[] = []
  for (const group of reading.groups) {
    const lines = MAX_RECORDS - inPart.length
    const part = { since: floor(edge), until: ceil(edge), lines, size, first: true, cursor: null }
    inPart.push(...(await readWhole(reading, group, part)))
  }
  const sizeOfLines = Math.min(size, (context?.memory?.total ?? Number.POSITIVE_INFINITY) / SHARE_OF_LINES)
  const whole = { since, until, lines: limit, size: sizeOfLines, first, cursor: null }
  return [...inPart, ...(await nearest(reading, whole))]
}

/**
 * As many records as the limit says from the end of a period, or from its start, and all others up to the millisecond
 * of the last of them. Logs are not always in order: a second pass looks for records that were written later.
 */
async function nearest(reading: Reading, wanted: Part): Promise<Entry[]> {
  const { first, lines: limit } = wanted
  let { since, until } = wanted
  let found: Entry[] = []
  const take = (entries: readonly Entry[]) => {
    // Of one file, what is read later is further away, and the order of equal times is that of the file.
    found = first ? [...found, ...entries] : [...entries, ...found]
    found.sort((a, b) => (first ? a.time - b.time : b.time - a.time))
    const last = found[limit - 1]
    // What is further away does not matter in the other files.
    if (last && first) until = Math.floor(last.time) + 1
    else if (last) since = Math.floor(last.time)
    found = found.filter(({ time }) => time >= since && time < until)
  }
  const rest: [group: LogFile[], cursor: MergedCursor][] = []
  for (const group of reading.groups) {
    const { entries, onward } = await readPart(reading, group, { ...wanted, since, until })
    take(entries)
    if (onward) rest.push([group, onward])
  }
  for (const [group, cursor] of rest)
    take(await readWhole(reading, group, { ...wanted, since, until, lines: MAX_RECORDS, cursor }))
  return found
}

async function readWhole(reading: Reading, group: readonly LogFile[], part: Part): Promise<Entry[]> {
  const { entries, onward } = await readPart(reading, group, part)
  if (onward) throw tooMuch()
  return entries
}

/** The entries of a part of some files, and where there may be more. Loki has no partial answers: less is an error. */
async function readPart(
  { pipeline, search, isLate }: Reading,
  group: readonly LogFile[],
  { since, until, lines, size, first, cursor }: Part,
): Promise<{ entries: Entry[]; onward: MergedCursor | null }> {
  refuseLate(isLate)
  if (since >= until) return { entries: [], onward: null }
  const { node, file } = group[0]!
  const request = {
    selection: pipeline.filter({ node: node!, file }).with({ since, until }),
    first,
    cursor: cursor && { place: cursor, direction: first ? ('after' as const) : ('before' as const) },
    fit: { size, lines },
  }
  const sources = group.map((each) => sourceOf(each, pipeline))
  const page = await mergePage(sources, request, search.signal).catch(nullIfSilent)
  if (!page) return { entries: [], onward: null }
  try {
    const failure = page.missing.find(({ error }) => !isSilent(error))
    if (failure) throw failure.error
    if (page.notes.includes('scan-budget')) throw tooMuch()
    reportBroken(search, page.notes)
    const entries = page.records.map((record) => entryOf(record, pipeline))
    // A record that did not fit may have ended the page.
    const isFull = entries.length >= lines || page.records.bytes > size / 2
    return { entries, onward: isFull ? (first ? page.next : page.prev) : null }
  } finally {
    page.release()
  }
}

function entryOf({ bytes, format, time, source }: MergedRecord, pipeline: Pipeline): Entry {
  const { node, file, context } = source
  const end = textEnd(bytes, 0, bytes.length)
  const reader = { format, zone: context.zone }
  const labels = pipeline.labels({ bytes, from: 0, to: bytes.length }, reader, { node: node!, file })
  return { time, source, labels: JSON.stringify(labels), line: decode(bytes, 0, end), bytes: end }
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
