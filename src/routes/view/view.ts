import { soundsCompressed } from '../../codec/kind.ts'
import type { Query } from '../parameters/read.ts'
import { wantsNdjson } from './headers.ts'
import type { ViewRoute } from './route.ts'
import { viewTail } from './tail.ts'

/** `GET /api/v1/log/view`: the last part of a file, or the part of a log that the parameters select. */
export function viewLog(request: Request, query: Query, route: ViewRoute): Response | Promise<Response> {
  if (query.files) return route.queryView(request, query)
  const plain = query.given.every((name) => name === 'file' || name === 'size')
  if (plain && !route.files.joined && !soundsCompressed(query.file!) && !wantsNdjson(request))
    return viewTail(request, query, route)
  return route.queryView(request, query)
}
