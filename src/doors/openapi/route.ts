import { takesGzip } from '../../core/http/accept.ts'
import { COMMON_HEADERS, noneMatchNames, notModified, textTag } from '../../core/http/conditional.ts'
import { respond } from '../../core/http/sliced.ts'
import { openApi } from './document.ts'

let rendered: { body: string; etag: string } | null = null
let packed: Promise<ArrayBuffer> | null = null

/** `GET /openapi.json`: the API as OpenAPI 3.1, compressed where the client accepts gzip. */
export async function showOpenApi(request: Request): Promise<Response> {
  if (rendered === null) {
    const body = JSON.stringify(openApi())
    rendered = { body, etag: textTag(body) }
  }
  const { body } = rendered
  const isPacked = takesGzip(request.headers.get('Accept-Encoding'))
  const etag = isPacked ? rendered.etag.replace(/"$/, '-gzip"') : rendered.etag
  const headers = { ...COMMON_HEADERS, Vary: 'Accept-Encoding' }
  if (noneMatchNames(request.headers.get('If-None-Match'), etag)) return notModified(etag, headers)
  const own = { 'Content-Type': 'application/json', ...headers, ETag: etag }
  if (!isPacked) return respond(body, own)
  packed ??= gzip(body)
  // Without `encodeBody` a Worker would compress the body a second time.
  const init = { headers: { ...own, 'Content-Encoding': 'gzip' }, encodeBody: 'manual' } as ResponseInit
  return new Response(await packed, init)
}

function gzip(text: string): Promise<ArrayBuffer> {
  return new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer()
}
