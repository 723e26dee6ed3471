import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import {
  type Compression,
  compressionByName,
  compressionOf,
  looksCompressed,
  SIGNATURE_BYTES,
  soundsCompressed,
} from '../../store/codec/kind.ts'
import { type Charset, markedCharset } from '../../store/codec/transcode.ts'
import { type Entry, replaced } from '../../store/store.ts'
import { type LogFiles, perFiles } from '../files/files.ts'
import { collect } from './bytes.ts'

export type Kind = 'plain' | Compression

const REMEMBERED = 1000
/** How many of the bytes read are checked: a few hundred bytes of an archive are never UTF-8. */
const SAMPLE = 256
/** Fewer bytes than this are not a signature yet. */
const LEAST_BYTES = 4
const kindsOf = perFiles(() => new BoundedMap<string, Kind>(REMEMBERED))

/** What a file is. Its first bytes are read only if its name suggests an archive, or if its text looks odd later. */
export async function kindOf(files: LogFiles, entry: Entry, signal?: AbortSignal): Promise<Kind> {
  // Shipped logs are text: archives are shipped decompressed.
  if (entry.appendOnly) return 'plain'
  const known = kindsOf(files).get(versionOf(entry))
  if (known !== undefined) return known
  return soundsCompressed(entry.key) ? readKind(files, entry, signal) : 'plain'
}

/** What a file is as far as that is known without a read: by its version, otherwise by its name. */
export function kindSoFar(files: LogFiles, entry: Entry): Kind {
  return kindsOf(files).get(versionOf(entry)) ?? compressionByName(entry.key) ?? 'plain'
}

/** What a file is, given bytes from anywhere in it. Text costs no read. */
export async function kindOfBytes(
  files: LogFiles,
  entry: Entry,
  bytes: Uint8Array,
  signal?: AbortSignal,
): Promise<Kind> {
  return entry.appendOnly || looksLikeText(bytes) ? 'plain' : readKind(files, entry, signal)
}

/** Whether bytes from anywhere in a file give no reason to look at its first ones. */
export function looksLikeText(bytes: Uint8Array): boolean {
  return !looksCompressed(bytes.subarray(0, SAMPLE))
}

async function readKind(files: LogFiles, entry: Entry, signal: AbortSignal | undefined): Promise<Kind> {
  const known = kindsOf(files)
  const version = versionOf(entry)
  const remembered = known.get(version)
  if (remembered !== undefined) return remembered
  const got = await files.read(entry.key, { offset: 0, length: SIGNATURE_BYTES }, { signal })
  const head = await collect(got)
  // By now the name may belong to another file.
  if (got.entry.id === undefined ? got.entry.etag !== entry.etag : got.entry.id !== entry.id)
    throw replaced(entry.key)
  const named = compressionByName(entry.key)
  // An archive that is still being written: only its name can decide.
  if (head.length < LEAST_BYTES && (named === 'gzip' || named === 'zstd')) return named
  const kind = compressionOf(head) ?? 'plain'
  known.set(version, kind)
  return kind
}

const charsetsOf = perFiles(() => new BoundedMap<string, Charset | null>(REMEMBERED))

/** How the text of a file is written, by its byte order mark; null without one. A version of it is read once. */
export async function charsetOf(
  files: LogFiles,
  entry: Entry,
  { signal, isLikely = false }: { signal?: AbortSignal | undefined; isLikely?: boolean },
): Promise<Charset | null> {
  const known = charsetsOf(files)
  const version = versionOf(entry)
  const remembered = known.get(version)
  if (remembered !== undefined) return remembered
  // Elsewhere a read is a round trip, so only what looks like UTF-16 is examined.
  if (entry.size < MARK || !(files.isNear || isLikely)) return null
  const head = await collect(await files.read(entry.key, { offset: 0, length: MARK }, { signal }))
  const charset = markedCharset(head)
  known.set(version, charset)
  return charset
}

/** The bytes of a mark. */
const MARK = 2

/** A version of a file, for what is remembered of it. */
export function versionOf({ key, etag }: Entry): string {
  return `${etag} ${key}`
}
