import { takesGzip } from '../core/http/accept.ts'
import { noneMatchNames, notModified } from '../core/http/conditional.ts'
import { searchOf } from '../core/http/params.ts'
import { Problem } from '../core/http/problem.ts'
import { respond } from '../core/http/sliced.ts'

/** A file of the page. Its name holds a hash of its bytes, so it never changes. */
export interface PageAsset {
  /** Content type. */
  type: string
  /** Bytes before compression. */
  size: number
  /** The bytes, gzipped, in base64. */
  gzip: string
}

/** The web page as it is built. */
export interface Page {
  html: string
  etag: string
  assets: Record<string, PageAsset>
}

/** Only resources served by this app may run, load or connect; styles set by script use CSSOM, which is allowed. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const

const REVALIDATED = { 'Cache-Control': 'private, no-cache' }
/** The name holds a hash of the bytes, so a browser need not ask again. */
const FOREVER = { 'Cache-Control': 'public, max-age=31536000, immutable' }

/**
 * `GET /`: the page itself, or with a query one of its files. Mounted at `/db-4`, the page is shown at `/db-4` and at
 * `/db-4/`, and the app often cannot see which: a relative path would be wrong for one of them. A relative reference
 * that is only a query leads back here from both.
 */
export function showPage(request: Request, page: Page): Response | Promise<Response> {
  const search = searchOf(request.url)
  const start = search.get('start')
  if (start !== null) return showStart(request, start, page)
  const asset = search.get('asset')
  if (asset !== null) return showAsset(request, asset, page)
  const html = page.html
    .replaceAll(/(<script\b[^>]*\bsrc=")\.\/assets\//g, '$1?start=')
    .replaceAll('"./assets/', '"?asset=')
  return show(request, html, page.etag, { 'Content-Type': 'text/html; charset=utf-8', ...REVALIDATED })
}

/** `GET /?start=NAME`: a module that works out where the app is mounted and imports the script from there. */
function showStart(request: Request, name: string, page: Page): Response {
  assetOf(page, name)
  const headers = { 'Content-Type': 'text/javascript; charset=utf-8', ...FOREVER }
  return show(request, startModule(name), `"start-${name}"`, headers)
}

function show(request: Request, text: string, etag: string, headers: Record<string, string>): Response {
  const all = { ...HEADERS, ...headers, ETag: etag }
  if (noneMatchNames(request.headers.get('If-None-Match'), etag)) return notModified(etag, all)
  return respond(text, all)
}

function startModule(name: string): string {
  return `const { origin, pathname } = new URL(import.meta.url)
import(origin + pathname.replace(/\\/*$/, '/assets/') + ${JSON.stringify(name)})
`
}

/** `GET /assets/NAME`: a file of the page, compressed as stored where the client accepts gzip. */
export async function showAsset(request: Request, name: string, page: Page): Promise<Response> {
  const asset = assetOf(page, name)
  const packed = takesGzip(request.headers.get('Accept-Encoding'))
  const etag = `"${name}${packed ? '-gzip' : ''}"`
  const headers = { ...HEADERS, ...FOREVER, Vary: 'Accept-Encoding', ETag: etag }
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

function assetOf(page: Page, name: string): PageAsset {
  if (Object.hasOwn(page.assets, name)) return page.assets[name]!
  throw new Problem('unknown-path', 'The page has no such file; reload the page, it may have been updated.')
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
