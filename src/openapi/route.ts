import { COMMON_HEADERS, noneMatchNames, notModified, textTag } from '../http/conditional.ts'
import { textResponse } from '../http/sliced.ts'
import { openApi } from './document.ts'

let rendered: { body: string; etag: string } | null = null

/** `GET /openapi.json`: the API as OpenAPI 3.1. */
export function showOpenApi(request: Request): Response {
  if (rendered === null) {
    const body = JSON.stringify(openApi())
    rendered = { body, etag: textTag(body) }
  }
  const { body, etag } = rendered
  if (noneMatchNames(request.headers.get('If-None-Match'), etag)) return notModified(etag)
  return textResponse(body, { 'Content-Type': 'application/json', ...COMMON_HEADERS, ETag: etag })
}
