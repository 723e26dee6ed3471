import { noneMatchNames, notModified } from '../http/conditional.ts'
import { Problem } from '../http/problem.ts'

/** A file of the page. Its name holds a hash of its bytes, so it never changes. */
export interface PageAsset {
  /** Content type. */
  type: string
  /** Bytes before compression. */
  size: number
  /** The bytes, gzipped, in base64. */
  gzip: string
}

/** The web page as `nodestate/page` exports it. */
export interface Page {
  html: string
  etag: string
  assets: Record<string, PageAsset>
}

/** Only what this app serves may run, load or connect; styles set by script are CSSOM, which is allowed. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const

/** `GET /`: the page itself. */
export function showPage(request: Request, page: Page): Response {
  const headers = { ...HEADERS, 'Cache-Control': 'private, no-cache' }
  if (noneMatchNames(request.headers.get('If-None-Match'), page.etag)) return notModified(page.etag, headers)
  const html = page.html.replaceAll('./assets/', () => `${baseOf(request.url)}assets/`)
  return new Response(request.method === 'HEAD' ? null : html, {
    headers: { ...headers, 'Content-Type': 'text/html; charset=utf-8', ETag: page.etag },
  })
}

/** `GET /assets/NAME`: one of its files, compressed as stored where the client takes gzip. */
export async function showAsset(request: Request, page: Page): Promise<Response> {
  const name = new URL(request.url).pathname.split('/').at(-1)!
  const asset = Object.hasOwn(page.assets, name) ? page.assets[name] : undefined
  if (asset === undefined) {
    throw new Problem('unknown-path', 'The page has no such file; reload the page, it may have been updated.')
  }
  const packed = takesGzip(request.headers.get('Accept-Encoding'))
  const etag = `"${name}${packed ? '-gzip' : ''}"`
  const headers = {
    ...HEADERS,
    'Cache-Control': 'public, max-age=31536000, immutable',
    Vary: 'Accept-Encoding',
    ETag: etag,
  }
  if (noneMatchNames(request.headers.get('If-None-Match'), etag)) return notModified(etag, headers)
  const gzip = bytesOf(asset)
  const own = {
    ...headers,
    'Content-Type': asset.type,
    'Content-Length': String(packed ? gzip.length : asset.size),
    ...(packed ? { 'Content-Encoding': 'gzip' } : {}),
  }
  if (request.method === 'HEAD') return new Response(null, { headers: own })
  // Without this a Worker would compress the body a second time.
  if (packed) return new Response(gzip, { headers: own, encodeBody: 'manual' } as ResponseInit)
  const plain = new Blob([gzip]).stream().pipeThrough(new DecompressionStream('gzip'))
  return new Response(await new Response(plain).arrayBuffer(), { headers: own })
}

/**
 * Where the page's files lie, seen from the page: under `/nodes/a/` they are at `./assets`, but under `/nodes/a`,
 * which is answered without a redirect, at `./a/assets`.
 */
function baseOf(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1)!
  if (last === '') return './'
  return `./${last.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)}/`
}

/** Decoded once; the module holds base64 because every bundler can carry text. */
const decoded = new WeakMap<PageAsset, Uint8Array<ArrayBuffer>>()

function bytesOf(asset: PageAsset): Uint8Array<ArrayBuffer> {
  const known = decoded.get(asset)
  if (known !== undefined) return known
  const bytes = Uint8Array.from(atob(asset.gzip), (char) => char.charCodeAt(0))
  decoded.set(asset, bytes)
  return bytes
}

/** RFC 9110, 12.5.3: gzip or `*`, unless refused with q=0. */
function takesGzip(header: string | null): boolean {
  let star = false
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const [coding, ...params] = part.split(';').map((piece) => piece.trim())
    const refused = params.some((param) => /^q=0(\.0*)?$/.test(param))
    if (coding === 'gzip' || coding === 'x-gzip') return !refused
    if (coding === '*') star = !refused
  }
  return star
}
