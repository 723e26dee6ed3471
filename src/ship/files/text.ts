import { compressionByName } from '../../store/codec/kind.ts'
import { TextPieces } from '../../store/codec/pieces.ts'
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
  if (kind === 'gzip' || kind === 'zstd') return archiveText(file, name, kind)
  return {
    id: file.id,
    name,
    compressed: false,
    size: async () => (await file.stat()).size,
    read: (from, to, into) => file.read(from, to - from, into),
  }
}

/** An archive has no random access: a read further on continues, a read further back starts over. */
function archiveText(file: DiskFile, name: string, kind: 'gzip' | 'zstd'): FileText {
  let version = ''
  let textSize: number | null = null
  let pass: AsyncGenerator<Uint8Array> | null = null
  const pieces = new TextPieces()

  async function versionNow(): Promise<string> {
    const { size, modified } = await file.stat()
    return `${size} ${modified}`
  }
  async function restart(): Promise<void> {
    await pass?.return(undefined)
    pass = null
    pieces.clear()
  }
  async function* inflate(): AsyncGenerator<Uint8Array> {
    try {
      yield* file.inflate(kind)
    } catch (cause) {
      throw new UnreadableArchive(name, { cause })
    }
  }
  /** Inflates up to `to`, and drops what comes before `from`. */
  async function reach(from: number, to: number): Promise<void> {
    if (from < pieces.from) await restart()
    if (!pass) {
      // An archive that is written again is another text.
      version = await versionNow()
      textSize = null
      pass = inflate()
    }
    while (pieces.to < to) {
      const { done, value } = await pass.next().catch(async (error: unknown) => {
        // A pass that has failed would seem to be at its end from now on.
        await restart()
        throw error
      })
      if (done) {
        textSize = pieces.to
        return
      }
      pieces.push(value)
      pieces.drop(from)
    }
  }
  return {
    id: file.id,
    name,
    compressed: true,
    async size() {
      const now = await versionNow()
      if (now !== version || textSize === null) {
        let total = 0
        for await (const piece of inflate()) total += piece.length
        version = now
        textSize = total
        await restart()
      }
      return textSize
    },
    async read(from, to) {
      await reach(from, to)
      return pieces.copy(from, Math.min(to, pieces.to))
    },
  }
}

/** Stands for the file of a life that is gone. */
export function noText(name: string): FileText {
  const read = async () => new Uint8Array(0)
  return { id: '', name, compressed: false, size: async () => 0, read }
}
