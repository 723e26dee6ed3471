import { noneMatchNames, notModified, textTag } from '../../core/http/conditional.ts'
import { respond } from '../../core/http/sliced.ts'
import type { Query } from '../../core/query.ts'
import { formatOf, linksTo, VARY } from '../../core/view-headers.ts'
import { encodeMerged, LONGEST_CURSORS } from '../../log/merge/cursor.ts'
import { type MergedPage, mergePage } from '../../log/merge/merge.ts'
import { csvWriter, mergedBody, ndjsonWriter, textWriter } from '../../log/merge/render.ts'
import { shortName, tooMany } from '../../log/merge/source.ts'
import { handedQuery, keptQuery } from '../parameters/query-text.ts'
import { cursorOf, readViewRequest, recordOptions } from '../parameters/view-request.ts'
import { tableOf } from '../view/table.ts'
import {
  allMissing,
  cursorReader,
  elsewhere,
  type MergedRoute,
  readable,
  type Sources,
  sourceHeaders,
} from './route.ts'

/** `GET /api/v1/log/view` of several logs: a page of their timeline. */
export async function mergedView(request: Request, query: Query, route: MergedRoute): Promise<Response> {
  const { format, common } = formatOf(request, query)
  // Only a fleet is asked for nodes.
  const table = format === 'csv' ? await tableOf(query, query.node ? ['node', 'file'] : ['file']) : null
  const plain = { ...query, before: undefined, after: undefined }
  const { asked, clock } = await readViewRequest(plain, route, format !== 'text')
  const writer = table
    ? csvWriter(table)
    : format === 'text'
      ? textWriter()
      : ndjsonWriter(recordOptions(query))
  const others = elsewhere(route, handedQuery(query, asked.selection))
  if (query.download) {
    const { exportLogs } = await import('./export.ts')
    return exportLogs(request, query, route, { asked, common, writer, format, table, others })
  }
  if (query.follow) {
    const { followLogs } = await import('./follow.ts')
    return followLogs(request, query, route, { asked, common, writer })
  }
  const { cost, separator } = writer
  const { sources, ...rest } = await route.pick(query, request.signal)
  const cursor = cursorOf(query, cursorReader(query, sources))
  const wanted = { ...asked, cursor, unlisted: rest.unlisted, elsewhere: others, cost, separator }
  const page = await mergePage(sources, wanted, request.signal)
  const lacks = table && request.method === 'GET' && (await table.lacks(page.records.map(readable)))
  const missing = allMissing(query, rest.missing, page.missing)
  const told = sourceHeaders({ ...rest, missing }, [...page.notes, lacks && 'unknown-field'])
  const headers: Record<string, string> = { ...common, ...told, Link: linksOf(query, page, sources) }
  const { search } = new URL(request.url)
  const etag = textTag(`${format} ${page.state}\n${told['X-Nodestate-Missing'] ?? ''}\n${search}`)
  const isLasting = !clock && !page.notes.includes('scan-budget')
  if (isLasting) headers.ETag = etag
  if (isLasting && noneMatchNames(request.headers.get('If-None-Match'), etag)) {
    page.release()
    // A cache takes them over: they change while the records stay as they are.
    return notModified(etag, { ...VARY, ...told })
  }
  if (request.method === 'HEAD') {
    page.release()
    return new Response(null, { headers })
  }
  return respond(mergedBody(page.records, writer, page.release), headers)
}

function linksOf(query: Query, { prev, next }: MergedPage, sources: Sources['sources']): string {
  const cursors = [prev && encodeMerged(prev, sources), encodeMerged(next, sources)] as const
  const links = linksTo(keptQuery(query), ...cursors)
  if (links.length <= FEW_LINKS) return links
  const short = query.files ? linksTo(keptQuery(shortened(query, sources)), ...cursors) : links
  if (short.length <= LONGEST_CURSORS) return short
  // The nodes will be named in the links, too.
  const most = Math.floor((0.8 * sources.length * LONGEST_CURSORS) / short.length)
  const why = `Servers refuse links with a place in each of ${sources.length} logs, and take about ${most}`
  throw tooMany(sources, most, why)
}

/** Some proxies refuse heads of more than 4 KiB. */
const FEW_LINKS = 4000

/** The same request with short names for its logs. */
function shortened(query: Query, sources: Sources['sources']): Query {
  const files = query.files?.map((file) => {
    const source = sources.find((each) => each.files.includes(file))
    return source ? shortName(source) : file
  })
  return { ...query, files }
}
