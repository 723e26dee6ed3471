import { Passing } from '../remote/retry.ts'
import { type Entry, StoreError } from '../store.ts'
import { childText, parseXml, type XmlElement } from './xml.ts'

/** One page of a listing, with full keys, and how to ask for the next one. */
export interface ListPage {
  entries: Entry[]
  next: string | null
}

/** Reads the XML of ListObjectsV2. What is not such a listing is worth another try: a proxy may have cut in. */
export function parseList(xml: string): ListPage {
  try {
    const root = parseXml(xml)
    if (root.name !== 'ListBucketResult') throw new SyntaxError(`XML is <${root.name}>, not a listing`)
    const decode = childText(root, 'EncodingType') === 'url' ? urlDecode : (text: string) => text
    const entries = root.children.filter((child) => child.name === 'Contents').map((c) => entryOf(c, decode))
    const truncated = need(root, 'IsTruncated')
    if (truncated !== 'true' && truncated !== 'false') throw new SyntaxError('XML has no clear IsTruncated')
    const next = truncated === 'true' ? need(root, 'NextContinuationToken') : null
    if (next === '') throw new SyntaxError('XML has an empty NextContinuationToken')
    return { entries, next }
  } catch (cause) {
    throw new Passing(new StoreError('unavailable', 'The storage sent a broken listing', { cause }))
  }
}

function entryOf(contents: XmlElement, decode: (text: string) => string): Entry {
  const key = decode(need(contents, 'Key'))
  const size = need(contents, 'Size')
  const modified = Date.parse(need(contents, 'LastModified'))
  const etag = need(contents, 'ETag')
  if (key === '' || etag === '' || !/^\d+$/.test(size) || Number.isNaN(modified))
    throw new SyntaxError('XML has an entry that makes no sense')
  // Headers carry whole seconds only; a listing must not tell another time than they do.
  return { key, size: Number(size), modified: Math.floor(modified / 1000) * 1000, etag: quoted(etag) }
}

function need(element: XmlElement, name: string): string {
  const text = childText(element, name)
  if (text === null) throw new SyntaxError(`XML has no ${name} in ${element.name}`)
  return text
}

/** Amazon writes a space as `+`, others as `%20`; a plus is always `%2B`. */
function urlDecode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}

/** One form for headers and listings: some services leave the quotes out, and proxies weaken tags. */
export function quoted(etag: string): string {
  return `"${etag.replace(/^W\//, '').replace(/^"|"$/g, '')}"`
}
