import type { LeftFile } from '../../store/segment/ship-json.ts'
import type { Entry } from '../../store/store.ts'

/** One regular file of the log directory, as a listing shows it. */
export interface Listed {
  name: string
  /** Device and inode. */
  id: string
  size: number
  modified: number
  /** When its content, name or permissions last changed; programs cannot set it. */
  changed: number
  /** When the inode was made: another file may get the same inode later. */
  born: number
}

/** As the rooms below know it. */
export function toEntry({ name, size, modified }: Listed): Entry {
  return { key: name, size, modified, etag: '' }
}

/** An open file. It stays readable after it was renamed or removed. */
export interface DiskFile {
  id: string
  stat(): Promise<{ size: number; modified: number }>
  /** At most `length` bytes; fewer at the end. `into` is memory that may be used for them. */
  read(offset: number, length: number, into?: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>
  /** The text of a compressed file from its start; it throws when the archive is broken. */
  inflate(kind: 'gzip' | 'zstd'): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

/** A log directory. The core never writes to it. */
export interface Disk {
  /** The regular files directly in it; null if the directory does not exist. Throws UnreadableLog. */
  list(): Promise<Listed[] | null>
  /** The names that the last listing left out because they are not UTF-8. */
  left(): readonly LeftFile[]
  /** The files that the last listing left out because of their format. That is not a failure. */
  skipped(): readonly LeftFile[]
  /** Opens a file; null when it is gone. Throws UnreadableLog. */
  open(name: string): Promise<DiskFile | null>
}

export interface Native {
  crc32(bytes: Uint8Array, before?: number): number
  /** One gzip member. */
  gzip(bytes: Uint8Array, level: number): Promise<Uint8Array<ArrayBuffer>>
}

/** An archive that is broken, or not written to its end yet. */
export class UnreadableArchive extends Error {
  constructor(name: string, options?: { cause?: unknown }) {
    super(`Cannot read the archive ${JSON.stringify(name)}`, options)
    this.name = 'UnreadableArchive'
  }
}

/** A file or the directory cannot be read, for lack of permission perhaps. It may pass. */
export class UnreadableLog extends Error {
  override readonly name = 'UnreadableLog'
}
