import { byCodePoint } from '../../../src/store/store.ts'
import type { Bucket, StoredObject } from './bucket.ts'

/** A request as the service sees it. */
export interface S3Request {
  method: string
  url: URL
  headers: Headers
  body: Uint8Array<ArrayBuffer>
}

export interface S3Answer {
  status: number
  headers: Record<string, string>
  body: Uint8Array
}

/** Answers a request in one piece, as the service does: `GET`, `HEAD` and `PUT` of objects, with conditions, and lists. */
export function answerTo(bucket: Bucket, request: S3Request): S3Answer {
  const { method, url, headers, body } = request
  const key = url.pathname.split('/').slice(2).map(decodeURIComponent).join('/')
  if (!bucket.exists) return problem(404, 'NoSuchBucket')
  if (key === '') return method === 'HEAD' ? answer(200) : list(bucket, url.searchParams)
  const object = bucket.objects.get(key)
  const ifMatch = headers.get('If-Match')
  const ifNoneMatch = headers.get('If-None-Match')
  if (method === 'PUT') {
    const isRefused = (ifNoneMatch === '*' && object) || (ifMatch !== null && object?.etag !== ifMatch)
    if (isRefused) return problem(412, 'PreconditionFailed')
    bucket.put(key, body)
    return answer(200, { ETag: bucket.objects.get(key)!.etag })
  }
  if (!object) return problem(404, 'NoSuchKey')
  if (ifMatch !== null && ifMatch !== object.etag) return problem(412, 'PreconditionFailed')
  if (ifNoneMatch === object.etag) return answer(304)
  if (method === 'HEAD')
    return answer(200, { ...about(object), 'Content-Length': String(object.bytes.length) })
  return give(object, headers.get('Range'))
}

function give(object: StoredObject, range: string | null): S3Answer {
  const { bytes } = object
  const size = bytes.length
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? []
  if (first === undefined || last === undefined) return answer(200, about(object), bytes)
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const to = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (from >= size || to < from) return problem(416, 'InvalidRange')
  const headers = { ...about(object), 'Content-Range': `bytes ${from}-${to}/${size}` }
  return answer(206, headers, bytes.slice(from, to + 1))
}

function about({ etag, modified }: StoredObject): Record<string, string> {
  return { ETag: etag, 'Last-Modified': new Date(modified).toUTCString() }
}

function list(bucket: Bucket, query: URLSearchParams): S3Answer {
  const prefix = query.get('prefix') ?? ''
  const delimiter = query.get('delimiter')
  const after = query.get('continuation-token') ?? query.get('start-after') ?? ''
  const most = Math.min(bucket.pageSize, Number(query.get('max-keys') ?? 1000))
  const names = new Set<string>()
  for (const key of bucket.objects.keys()) {
    if (!key.startsWith(prefix)) continue
    const slash = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length)
    const name = slash < 0 ? key : key.slice(0, slash + 1)
    if (after === '' || byCodePoint(name, after) > 0) names.add(name)
  }
  const sorted = [...names].sort(byCodePoint)
  const page = sorted.slice(0, most)
  const contents = page.map((name) => {
    const object = bucket.objects.get(name)
    if (!object) return `<CommonPrefixes><Prefix>${encodeURIComponent(name)}</Prefix></CommonPrefixes>`
    const { etag, bytes, modified } = object
    return (
      `<Contents><Key>${encodeURIComponent(name)}</Key><Size>${bytes.length}</Size>` +
      `<LastModified>${new Date(modified).toISOString()}</LastModified><ETag>${etag}</ETag></Contents>`
    )
  })
  const isCut = sorted.length > page.length
  const next = isCut ? `<NextContinuationToken>${escaped(page.at(-1)!)}</NextContinuationToken>` : ''
  const xml =
    `<?xml version="1.0"?><ListBucketResult><EncodingType>url</EncodingType>` +
    `<IsTruncated>${isCut}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`
  return answer(200, { 'Content-Type': 'application/xml' }, new TextEncoder().encode(xml))
}

function problem(status: number, code: string): S3Answer {
  const xml = `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`
  return answer(status, { 'Content-Type': 'application/xml' }, new TextEncoder().encode(xml))
}

function answer(status: number, headers: Record<string, string> = {}, body = new Uint8Array(0)): S3Answer {
  return { status, headers: { 'Content-Length': String(body.length), ...headers }, body }
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
}
