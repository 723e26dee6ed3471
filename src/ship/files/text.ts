import { compressionByName } from '../../codec/kind.ts'
import { type DiskFile, UnreadableArchive } from './disk.ts'

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

/** Whether files of this name are shipped. bzip2, xz and zip files hold no text that every runtime can read. */
export function isReadableName(name: string): boolean {
  const kind = compressionByName(name)
  return !kind || kind === 'gzip' || kind === 'zstd'
}

/** Opens a file as text; archives are recognized by their names. */
export function openText(file: DiskFile, name: string): FileText {
  const kind = compressionByName(name)
  if (kind === 'gzip' || kind === 'zstd') return new ArchiveText(file, name, kind)
  return {
    id: file.id,
    name,
    compressed: false,
    size: async () => (await file.stat()).size,
    read: (from, to, into) => file.read(from, to - from, into),
  }
}

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
    const version = await this.#versionNow()
    if (version !== this.#version || this.#size === null) {
      let total = 0
      for await (const piece of this.#inflate()) total += piece.length
      this.#version = version
      this.#size = total
      await this.#restart()
    }
    return this.#size
  }

  async read(from: number, to: number): Promise<Uint8Array<ArrayBuffer>> {
    if (from < this.#from) await this.#restart()
    if (!this.#pass) {
      // An archive that is written again is another text.
      this.#version = await this.#versionNow()
      this.#size = null
      this.#pass = this.#inflate()[Symbol.asyncIterator]()
    }
    while (this.#to < to) {
      const { done, value } = await this.#pass.next().catch(async (error: unknown) => {
        // A pass that has failed would seem to be at its end from now on.
        await this.#restart()
        throw error
      })
      if (done) {
        this.#size = this.#to
        break
      }
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

  async #versionNow(): Promise<string> {
    const { size, modified } = await this.#file.stat()
    return `${size} ${modified}`
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
