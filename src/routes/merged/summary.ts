import { COMMON_HEADERS, noneMatchNames, notModified, textTag } from '../../http/conditional.ts'
import { textResponse } from '../../http/sliced.ts'

/** A summary of several logs. */
interface Summary {
  body: unknown
  headers: Record<string, string>
  notes: readonly string[]
  /** Whether the same request is answered alike while the logs stay the same. */
  isLasting: boolean
}

/** A JSON answer, whose tag is made from what it says. */
export function showMerged(request: Request, { body, headers, notes, isLasting }: Summary): Response {
  const all: Record<string, string> = { 'Content-Type': 'application/json', ...COMMON_HEADERS, ...headers }
  if (notes.length > 0) all['X-Nodestate-Note'] = notes.join(', ')
  if (request.method === 'HEAD') return textResponse(null, all)
  const text = JSON.stringify(body)
  const etag = textTag(`${text}\n${headers['X-Nodestate-Missing'] ?? ''}`)
  if (isLasting) all.ETag = etag
  if (isLasting && noneMatchNames(request.headers.get('If-None-Match'), etag)) return notModified(etag)
  return textResponse(text, all)
}
