import { constants } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { crc32 as slowCrc32 } from '../../codec/crc32.ts'
import { type Disk, type DiskFile, type Listed, type Native, UnreadableLog } from '../../ship/disk.ts'

/** A log directory on Node, Bun and Deno. `report` is called once for each name that is not UTF-8. */
export function nodeDisk(directory: string, report: (line: string) => void): Disk {
  const odd = new Set<string>()
  return {
    async list() {
      let names: Buffer[]
      try {
        names = (await readdir(directory, { encoding: 'buffer' })) as Buffer[]
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return null
        throw new UnreadableLog(`Cannot list the log directory: ${codeOf(error)}`, { cause: error })
      }
      const files: Listed[] = []
      for (const raw of names) {
        const name = raw.toString('utf8')
        if (!Buffer.from(name, 'utf8').equals(raw)) {
          const shown = raw.toString('latin1')
          if (!odd.has(shown)) report(`A file name is not UTF-8 and is left alone: ${JSON.stringify(shown)}.`)
          odd.add(shown)
          continue
        }
        const file = await lstat(join(directory, name)).catch(() => null)
        if (!file?.isFile()) continue
        const { size, mtimeMs } = file
        files.push({ name, id: `${file.dev}:${file.ino}`, size, modified: mtimeMs })
      }
      return files
    },
    open: (name) => openFile(directory, name),
  }
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code ?? 'it failed')
}

async function openFile(directory: string, name: string): Promise<DiskFile | null> {
  // No links, which may lead out of the directory, and no waiting for the writer of a FIFO.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW
  const handle = await open(join(directory, name), flags).catch((error) => {
    if (/^(ENOENT|ELOOP)$/.test(codeOf(error))) return null
    throw new UnreadableLog(`Cannot read ${JSON.stringify(name)}: ${codeOf(error)}`, { cause: error })
  })
  if (!handle) return null
  const { dev, ino } = await handle.stat()
  const read = async (offset: number, length: number, into?: Uint8Array<ArrayBuffer>) => {
    const buffer = into && into.length >= length ? into : new Uint8Array(length)
    let filled = 0
    while (filled < length) {
      const { bytesRead } = await handle.read(buffer, filled, length - filled, offset + filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return buffer.subarray(0, filled)
  }
  async function* chunks() {
    for (let at = 0; ; ) {
      const bytes = await read(at, 256 * 1024)
      if (bytes.length === 0) return
      at += bytes.length
      yield bytes
    }
  }
  return {
    id: `${dev}:${ino}`,
    async stat() {
      const { size, mtimeMs } = await handle.stat()
      return { size, modified: mtimeMs }
    },
    read,
    async *inflate(kind) {
      const make =
        kind === 'gzip'
          ? zlib.createGunzip
          : (zlib as { createZstdDecompress?: () => zlib.Gunzip }).createZstdDecompress
      if (!make) throw new Error('This runtime cannot decompress zstd')
      const source = Readable.from(chunks())
      const text = make()
      source.on('error', (error) => text.destroy(error))
      source.pipe(text)
      try {
        for await (const piece of text) yield piece as Uint8Array
      } finally {
        source.destroy()
        text.destroy()
      }
    },
    close: () => handle.close(),
  }
}

/** Checksums and gzip by the runtime's own zlib. */
export function nativeOf(): Native {
  const { crc32, gzip } = zlib as { crc32?: Native['crc32']; gzip: typeof zlib.gzip }
  return {
    crc32: crc32 ? (bytes, before = 0) => crc32(bytes, before) : slowCrc32,
    gzip: (bytes) =>
      new Promise((resolve, reject) =>
        gzip(bytes, { level: 1 }, (error, packed) =>
          error ? reject(error) : resolve(new Uint8Array(packed)),
        ),
      ),
  }
}
