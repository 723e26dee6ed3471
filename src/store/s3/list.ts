import { folderEntry, type ListPage } from '../remote/list-pages.ts'
import { TransientError } from '../remote/retry.ts'
import { type Entry, StoreError } from '../store.ts'
import { elementsIn, textOf } from './xml.ts'

/**
 * Reads the XML of ListObjectsV2, with full keys. Anything else is worth a retry: a proxy may have
 * answered. A key that cannot be decoded is skipped: it cannot be read either, and must not hide the others.
 */
export function parseList(xml: string): ListPage {
  try {
    const [root, ...others] = elementsIn(xml)
    if (root?.name !== 'ListBucketResult' || others.length > 0) throw new SyntaxError('XML is not a listing')
    const listed = elementsIn(root.inside)
    const decode = textOf(listed, 'EncodingType') === 'url' ? urlDecode : (text: string) => text
    const entries: Entry[] = []
    for (const { name, inside } of listed) {
      if (name !== 'Contents' && name !== 'CommonPrefixes') continue
      const parts = elementsIn(inside)
      const key = decodeOrNull(need(parts, name === 'Contents' ? 'Key' : 'Prefix'), decode)
      if (key !== null) entries.push(name === 'Contents' ? entryOf(key, parts) : folderEntry(key))
    }
    const truncated = need(listed, 'IsTruncated')
    if (truncated !== 'true' && truncated !== 'false') throw new SyntaxError('XML has no clear IsTruncated')
    const next = truncated === 'true' ? need(listed, 'NextContinuationToken') : null
    if (next === '') throw new SyntaxError('XML has an empty NextContinuationToken')
    return { entries, next }
  } catch (cause) {
    throw new TransientError(new StoreError('unavailable', 'The storage sent a broken listing', { cause }))
  }
}

type Elements = ReturnType<typeof elementsIn>

function entryOf(key: string, contents: Elements): Entry {
  const size = need(contents, 'Size')
  const modified = Date.parse(need(contents, 'LastModified'))
  const etag = need(contents, 'ETag')
  if (key === '' || etag === '' || !/^\d+$/.test(size) || Number.isNaN(modified))
    throw new SyntaxError('XML has an entry that makes no sense')
  // Headers carry whole seconds only, and a listing must show the same time.
  return { key, size: Number(size), modified: Math.floor(modified / 1000) * 1000, etag: quoted(etag) }
}

function need(elements: Elements, name: string): string {
  const text = textOf(elements, name)
  if (text === null) throw new SyntaxError(`XML has no ${name}`)
  return text
}

function decodeOrNull(text: string, decode: (text: string) => string): string | null {
  try {
    return decode(text)
  } catch {
    return null
  }
}

/** Amazon writes a space as `+`, others as `%20`; a plus is always `%2B`. */
function urlDecode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}

/** The same form for headers and listings: some services omit the quotes, and proxies weaken tags. */
export function quoted(etag: string): string {
  return `"${etag.replace(/^W\//, '').replace(/^"|"$/g, '')}"`
}
