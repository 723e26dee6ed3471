import { type Entry, entriesOf, isSilent } from './entries.ts'
import { eachFile, type LogFile, type Search } from './files.ts'
import { choiceOf, type Labels } from './labels.ts'
import type { LogSelection } from './logql/query.ts'
import { pipelineOf } from './pipeline.ts'

/** Which part of the streams is requested. */
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

/** The entries that a query selects, as streams: newest first, or oldest first when it goes forward. */
export async function streamsOf(
  search: Search,
  selection: LogSelection,
  request: StreamRequest,
): Promise<Stream[]> {
  const choice = choiceOf(selection)
  const { levels } = choice
  const pipeline = await pipelineOf(selection)
  if (levels.mask === 0 && !levels.none) return []
  let { start, end } = request
  let found: Entry[] = []
  const sign = request.forward ? 1 : -1
  const searchIn = async (of: LogFile) => {
    const query = { ...request, start, end, of, pipeline, levels }
    const entries = await entriesOf(query, search.signal).catch((error) => {
      if (isSilent(error)) return []
      throw error
    })
    found.push(...entries)
    found.sort((a, b) => sign * Number(a.at - b.at))
    found = found.slice(0, request.limit)
    // A full page bounds what the other files can add to it.
    const last = found.length === request.limit ? found.at(-1)!.at : null
    if (last !== null && request.forward) end = last + 1n
    else if (last !== null) start = last
  }
  await eachFile(search, choice, searchIn)
  const streams = new Map<string, Stream>()
  const encoder = new TextEncoder()
  for (const { at, labels, line } of found) {
    search.read.lines++
    search.read.bytes += encoder.encode(line).length
    const key = JSON.stringify(labels)
    if (!streams.has(key)) streams.set(key, { stream: labels, values: [] })
    streams.get(key)!.values.push([String(at), line])
  }
  return [...streams.values()]
}
