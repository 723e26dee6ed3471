import { compressionByName } from '../codec/kind.ts'
import { type DiskFile, type Native, UnreadableArchive } from './disk.ts'

/** A region of a text and its checksum; a text with the same bytes there matches it. */
export interface Claim {
  from: number
  to: number
  crc: number
}

/** A log file as text. An archive is the text in it. */
export interface FileText {
  readonly id: string
  readonly name: string
  readonly compressed: boolean
  /** Bytes of text now. */
  size(): Promise<number>
  /** The bytes [from, to), or fewer where the text ends before. */
  read(from: number, to: number, into?: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>
}

/** Opens a file as text; archives are recognized by their names. */
export function openText(file: DiskFile, name: string): FileText {
  const kind = compressionByName(name)
  if (kind === 'gzip' || kind === 'zstd') return new ArchiveText(file, name, kind)
  if (kind) return unreadable(file, name)
  return {
    id: file.id,
    name,
    compressed: false,
    size: async () => (await file.stat()).size,
    read: (from, to, into) => file.read(from, to - from, into),
  }
}

/** Archives that hold no single text, or that no runtime can decompress, are reported and left alone. */
function unreadable(file: DiskFile, name: string): FileText {
  const refuse = () => Promise.reject(new UnreadableArchive(name))
  return { id: file.id, name, compressed: true, size: refuse, read: refuse }
}

/** Whether a text has the bytes of a claim at the right place. Every text matches an empty claim. */
export async function holds(text: FileText, { from, to, crc }: Claim, native: Native): Promise<boolean> {
  return (await checksum(text, from, to, native)) === crc
}

/** The checksum of [from, to); null when the text ends before. */
export async function checksum(
  text: FileText,
  from: number,
  to: number,
  { crc32 }: Native,
): Promise<number | null> {
  if ((await text.size()) < to) return null
  let crc = 0
  for (let at = from; at < to; ) {
    const bytes = await text.read(at, Math.min(to, at + STEP))
    if (bytes.length === 0) return null
    crc = crc32(bytes, crc)
    at += bytes.length
  }
  return crc
}

const STEP = 1024 * 1024

/** An archive has no random access: a read further on continues, a read further back starts over. */
class ArchiveText implements FileText {
  readonly id: string
  readonly name: string
  readonly compressed = true
  readonly #file: DiskFile
  readonly #kind: 'gzip' | 'zstd'
  #version = ''
  #size: number | null = null
  #pass: AsyncIterator<Uint8Array> | null = null
  #pieces: Uint8Array[] = []
  #from = 0
  #to = 0

  constructor(file: DiskFile, name: string, kind: 'gzip' | 'zstd') {
    this.id = file.id
    this.name = name
    this.#file = file
    this.#kind = kind
  }

  async size(): Promise<number> {
    const { size, modified } = await this.#file.stat()
    const version = `${size} ${modified}`
    if (version !== this.#version || this.#size === null) {
      let total = 0
      for await (const piece of this.#inflate()) total += piece.length
      this.#version = version
      this.#size = total
      await this.#restart()
    }
    return this.#size!
  }

  async read(from: number, to: number): Promise<Uint8Array<ArrayBuffer>> {
    if (from < this.#from) await this.#restart()
    this.#pass ??= this.#inflate()[Symbol.asyncIterator]()
    while (this.#to < to) {
      const { done, value } = await this.#pass.next()
      if (done) break
      this.#pieces.push(value)
      this.#to += value.length
      while (this.#pieces.length > 0 && this.#from + this.#pieces[0]!.length <= from)
        this.#from += this.#pieces.shift()!.length
    }
    const bytes = new Uint8Array(Math.max(0, Math.min(to, this.#to) - from))
    let at = this.#from
    for (const piece of this.#pieces) {
      const start = Math.max(from, at)
      const end = Math.min(from + bytes.length, at + piece.length)
      if (start < end) bytes.set(piece.subarray(start - at, end - at), start - from)
      at += piece.length
    }
    return bytes
  }

  async #restart(): Promise<void> {
    await this.#pass?.return?.()
    this.#pass = null
    this.#pieces = []
    this.#from = 0
    this.#to = 0
  }

  async *#inflate(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#file.inflate(this.#kind)
    } catch (cause) {
      throw new UnreadableArchive(this.name, { cause })
    }
  }
}
