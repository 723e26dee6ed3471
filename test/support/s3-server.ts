import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { byCodePoint } from '../../src/store/store.ts'

/** An object whose bytes are generated on demand: a gibibyte costs no memory. */
export interface VirtualObject {
  size: number
  etag: string
  /** When it was written. @default in January 2026 */
  modified?: Date
  read(offset: number, length: number): Uint8Array
}

/** A small S3 server that counts. With credentials it answers signed requests only. */
export interface S3Server {
  endpoint: string
  objects: Map<string, VirtualObject>
  put(key: string, bytes: Uint8Array | string): void
  /** What was asked, in order. */
  requests: { method: string; url: string; range: string | undefined; ifMatch: string | undefined }[]
  /** Bytes of bodies that were sent. */
  sent: number
  /** How many requests ended because the client went away. */
  cut: number
  pageSize: number
  credentials: Credentials | null
  /** How long each answer to a PUT takes, in milliseconds. */
  putMs: number
  close(): Promise<void>
}

interface Credentials {
  accessKeyId: string
  secretAccessKey: string
}

const MODIFIED = new Date('2026-01-02T03:04:05Z')

/** Starts it on a free port of loopback. Every bucket is the same one, but for `nowhere`. */
export async function startS3Server(credentials: Credentials | null = null): Promise<S3Server> {
  const objects: S3Server['objects'] = new Map()
  const http = createServer((request, response) => answer(server, request, response))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const server: S3Server = {
    endpoint: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    objects,
    put(key, content) {
      const bytes = Buffer.from(content as Uint8Array)
      const etag = `"${createHash('md5').update(bytes).digest('hex')}"`
      objects.set(key, {
        size: bytes.length,
        etag,
        ...(credentials && { modified: new Date() }),
        read: (from, length) => bytes.subarray(from, from + length),
      })
    },
    requests: [],
    sent: 0,
    cut: 0,
    pageSize: 1000,
    credentials,
    putMs: 0,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
  return server
}

function answer(server: S3Server, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://s3')
  const [, bucket = '', ...rest] = url.pathname.split('/')
  const key = rest.map(decodeURIComponent).join('/')
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch, range } = request.headers
  server.requests.push({ method: request.method ?? '', url: request.url ?? '', range, ifMatch })
  response.on('close', () => {
    if (!response.writableFinished) server.cut++
  })
  const object = server.objects.get(key)
  if (server.credentials && !isSigned(request, url, server.credentials))
    error(response, 403, request.headers.authorization ? 'SignatureDoesNotMatch' : 'AccessDenied')
  else if (bucket === 'nowhere') error(response, 404, 'NoSuchBucket')
  else if (key === '' && request.method === 'HEAD') response.end()
  else if (key === '') list(server, url, response)
  else if (request.method === 'PUT') void receive(server, key, request, response)
  else if (request.method === 'DELETE') response.writeHead(server.objects.delete(key) ? 204 : 404).end()
  else if (!object) error(response, 404, 'NoSuchKey')
  else if (ifMatch !== undefined && ifMatch !== object.etag) error(response, 412, 'PreconditionFailed')
  else if (ifNoneMatch === object.etag) response.writeHead(304).end()
  else give(server, object, request.method === 'GET' ? range : undefined, request.method === 'HEAD', response)
}

/** Whether a request has the signature that AWS documents (Signature Version 4), made with these credentials. */
function isSigned(request: IncomingMessage, url: URL, credentials: Credentials): boolean {
  const { authorization = '', 'x-amz-date': date, 'x-amz-content-sha256': body } = request.headers
  const [, id, scope = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\S+), ?SignedHeaders=(\S+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization,
    ) ?? []
  if (id !== credentials.accessKeyId || !names.split(';').includes('host')) return false
  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const escaped = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  const query = [...url.searchParams].map(([name, value]) => `${escaped(name)}=${escaped(value)}`).sort()
  const headers = names.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}\n`)
  const path = (request.url ?? '/').split('?')[0]
  const asked = [request.method, path, query.join('&'), headers.join(''), names, body].join('\n')
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${credentials.secretAccessKey}`)
  const text = ['AWS4-HMAC-SHA256', date, scope, hash(asked)].join('\n')
  return hmac(key, text).toString('hex') === signature
}

async function receive(server: S3Server, key: string, request: IncomingMessage, response: ServerResponse) {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  await new Promise((resolve) => setTimeout(resolve, server.putMs))
  const there = server.objects.get(key)
  if ((ifNoneMatch === '*' && there) || (ifMatch !== undefined && ifMatch !== there?.etag))
    return error(response, 412, 'PreconditionFailed')
  server.put(key, Buffer.concat(pieces))
  response.writeHead(200, { ETag: server.objects.get(key)!.etag }).end()
}

function give(
  server: S3Server,
  object: VirtualObject,
  range: string | undefined,
  isHead: boolean,
  response: ServerResponse,
): void {
  const part = range ? parseRange(range, object.size) : undefined
  if (part === null) {
    error(response, 416, 'InvalidRange')
    return
  }
  const { from, length } = part ?? { from: 0, length: object.size }
  response.writeHead(part ? 206 : 200, {
    ETag: object.etag,
    'Last-Modified': (object.modified ?? MODIFIED).toUTCString(),
    'Content-Length': length,
    ...(part ? { 'Content-Range': `bytes ${from}-${from + length - 1}/${object.size}` } : {}),
  })
  if (isHead) response.end()
  else void send(server, object, from, length, response)
}

async function send(
  server: S3Server,
  object: VirtualObject,
  from: number,
  length: number,
  response: ServerResponse,
) {
  const gone = new Promise((resolve) => response.once('close', resolve))
  for (let at = 0; at < length && !response.destroyed; at += 65536) {
    const bytes = object.read(from + at, Math.min(65536, length - at))
    server.sent += bytes.length
    if (!response.write(bytes)) {
      await Promise.race([once(response, 'drain'), gone])
    }
  }
  response.end()
}

function parseRange(header: string, size: number): { from: number; length: number } | null {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? []
  if (first === undefined || last === undefined) return null
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const to = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  return from < size && to >= from ? { from, length: to - from + 1 } : null
}

/** The keys and folders of a listing, in order. A token is the last name of the page before. */
function namesOf(server: S3Server, query: URLSearchParams): string[] {
  const prefix = query.get('prefix') ?? ''
  const delimiter = query.get('delimiter')
  const after = query.get('start-after') ?? ''
  const names = new Set<string>()
  for (const key of server.objects.keys()) {
    if (!key.startsWith(prefix) || (after !== '' && byCodePoint(key, after) <= 0)) continue
    const slash = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length)
    names.add(slash < 0 ? key : key.slice(0, slash + 1))
  }
  return [...names].sort(byCodePoint)
}

function list(server: S3Server, url: URL, response: ServerResponse): void {
  const token = url.searchParams.get('continuation-token')
  const size = Math.min(server.pageSize, Number(url.searchParams.get('max-keys') ?? 1000))
  const names = namesOf(server, url.searchParams).filter(
    (name) => token === null || byCodePoint(name, token) > 0,
  )
  const page = names.slice(0, size)
  const contents = page.map((name) => {
    const shown = encodeURIComponent(name).replaceAll('%20', '+').replaceAll('%2F', '/')
    const object = server.objects.get(name)
    if (
      !object ||
      (name.endsWith('/') && url.searchParams.has('delimiter') && name !== url.searchParams.get('prefix'))
    )
      return `<CommonPrefixes><Prefix>${shown}</Prefix></CommonPrefixes>`
    const tag = object.etag.replaceAll('"', '&quot;')
    const time = (object.modified ?? MODIFIED).toISOString()
    return `<Contents><Key>${shown}</Key><LastModified>${time}</LastModified><ETag>${tag}</ETag><Size>${object.size}</Size><Owner/></Contents>`
  })
  const next = names.length > size ? page.at(-1) : undefined
  const more = next === undefined ? '' : `<NextContinuationToken>${xml(next)}</NextContinuationToken>`
  response.writeHead(200, { 'Content-Type': 'application/xml' })
  response.end(
    `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">` +
      `<IsTruncated>${next !== undefined}</IsTruncated><EncodingType>url</EncodingType>${more}${contents.join('')}</ListBucketResult>`,
  )
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

function error(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'Content-Type': 'application/xml' })
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`)
}
