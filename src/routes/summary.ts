import { jsonResponse, noneMatchNames, notModified, textTag } from '../core/http/conditional.ts'
import { noteHeader } from '../core/http/sliced.ts'
import type { LogFiles } from '../log/files/files.ts'
import type { Asked } from './parameters/view-request.ts'

interface Summary {
  body: unknown
  notes: readonly string[]
  /** Whether a budget ended the work, so that the same request may be answered differently the next time. */
  cut: boolean
}

/**
 * A JSON answer that summarizes the records of a log. `summarize` returns null if `isKnown` says that the client already
 * has the answer for these files.
 */
export async function showSummary(
  request: Request,
  { asked, clock }: Asked,
  files: LogFiles,
  summarize: (isKnown: (state: string) => boolean) => Promise<Summary | null>,
): Promise<Response> {
  if (request.method === 'HEAD') {
    await files.stat(asked.file, request.signal)
    return jsonResponse(request, '', null)
  }
  let etag = ''
  const isKnown = (state: string) => {
    etag = textTag(`${state}\n${request.url.slice(request.url.indexOf('?'))}`)
    return !clock && noneMatchNames(request.headers.get('If-None-Match'), etag)
  }
  const summary = await summarize(isKnown)
  if (summary === null) return notModified(etag)
  const { body, notes, cut } = summary
  return jsonResponse(request, JSON.stringify(body), clock || cut ? null : etag, noteHeader(notes))
}
