import { textTag } from '../../core/http/conditional.ts'
import { bad } from '../../core/http/params.ts'
import { respond } from '../../core/http/sliced.ts'
import type { Query } from '../../core/query.ts'
import { TEXT_HEADERS } from '../../core/view-headers.ts'
import { unknownFile } from '../../log/files/files.ts'
import { decodeMerged, encodeMerged, laneKey } from '../../log/merge/cursor.ts'
import { type MergedPage, mergePage } from '../../log/merge/merge.ts'
import { type MergedWriter, mergedBody } from '../../log/merge/render.ts'
import { pickSources, type Source } from '../../log/merge/source.ts'
import { badCursor } from '../../log/text/cursor.ts'
import { cursorOf, type QueryRoute, readViewRequest } from '../parameters/view-request.ts'
import { formatKey, type LaneHead, placeText } from './wire.ts'

/** How much of a record is written at once. */
const SLICE = 256 * 1024

/** `lane=true`: a page of one log with its rotated files, as a coordinator merges it with those of other nodes. */
export async function showLane(request: Request, query: Query, route: QueryRoute): Promise<Response> {
  const other = (['follow', 'download', 'format', 'columns'] as const).find((name) => query[name])
  if (other) throw bad('lane', `was given together with ${other}; give one of the two`)
  if (query.files) throw bad('lane', 'was given with several logs; name one of them')
  const plain = { ...query, before: undefined, after: undefined }
  const { asked } = await readViewRequest(plain, route, true)
  const picked = await pickSources({ node: null, context: route }, [query.file!], request.signal)
  const source = picked.sources[0]
  if (!source) throw picked.missing[0]?.error ?? unknownFile()
  const cursor = cursorOf(query, (text, parameter) => {
    const place = decodeMerged(text, parameter, [source])
    // Otherwise it would begin at a moment, and some records would come twice or never.
    if (!place.lanes.has(laneKey(source))) throw badCursor(parameter)
    return place
  })
  const page = await mergePage([source], { ...asked, cursor, alone: true }, request.signal)
  const headers = { ...TEXT_HEADERS, 'Content-Type': 'application/octet-stream' }
  try {
    const head = await laneHead(page, source, textTag(page.state))
    return respond(mergedBody(page.records, writerOf(`${head}\n`), page.release), headers)
  } catch (error) {
    page.release()
    throw error
  }
}

/** A page of one log, for a coordinator: its head. The bytes of its records follow, oldest first. */
async function laneHead(page: MergedPage, source: Source, state: string): Promise<string> {
  const { records, prev, next, forward, complete, notes, frontier } = page
  const first = records.at(0)
  const start = placeText({ kind: 'start' }, source)
  const [ahead, behind] = forward ? [next, prev] : [prev, next]
  const textOf = (cursor: typeof prev) => (cursor ? encodeMerged(cursor, [source]) : start)
  const rows: LaneHead['records'] = []
  for await (const place of page.starts()) {
    const { bytes, time, placed } = records.at(rows.length)!
    rows.push([bytes.length, time, placed, placeText(place, source)])
  }
  return JSON.stringify({
    log: source.log,
    records: rows,
    onward: textOf(ahead),
    backward: textOf(behind),
    frontier,
    done: complete,
    cut: notes.includes('scan-budget'),
    notes,
    state,
    format: first ? formatKey(first.format) : '',
  } satisfies LaneHead)
}

/** Writes records as they are in the log. */
function writerOf(head: string): MergedWriter {
  return {
    head: new TextEncoder().encode(head),
    write({ bytes }, out, from) {
      const to = Math.min(bytes.length, from + SLICE)
      out.add(bytes.subarray(from, to))
      return to
    },
  }
}
