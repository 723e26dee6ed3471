import { constants } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { type Disk, type DiskFile, type Listed, type Native, UnreadableLog } from '../../ship/files/disk.ts'
import { isReadableName } from '../../ship/files/text.ts'
import { crc32 as slowCrc32 } from '../../store/codec/crc32.ts'
import type { LeftFile } from '../../store/segment/ship-json.ts'

/** How many names one line for the operator has, at most. */
const MOST_NAMES = 10

/** A log directory on Node, Bun and Deno. `report` gets one line for what is not shipped, and another when that grows. */
export function nodeDisk(directory: string, report: (line: string) => void): Disk {
  const reported = new Set<string>()
  let left: LeftFile[] = []
  let skipped: LeftFile[] = []
  const reportNew = (what: string, names: readonly string[]) => {
    const fresh = names.filter((name) => !reported.has(name)).sort()
    for (const name of fresh) reported.add(name)
    const rest = fresh.length > MOST_NAMES ? ` and ${fresh.length - MOST_NAMES} more` : ''
    const shown = fresh.slice(0, MOST_NAMES).map((name) => JSON.stringify(name))
    if (fresh.length > 0) report(`${what}: ${shown.join(', ')}${rest}.`)
  }
  return {
    left: () => left,
    skipped: () => skipped,
    async list() {
      const names = await namesIn(directory)
      if (!names) return null
      const files: Listed[] = []
      const odd: LeftFile[] = []
      const formats: LeftFile[] = []
      const others: string[] = []
      for (const raw of names) {
        const name = raw.toString('utf8')
        if (!Buffer.from(name, 'utf8').equals(raw)) {
          odd.push({ name: raw.toString('latin1'), reason: 'its name is not UTF-8' })
          continue
        }
        const file = await lstat(join(directory, name)).catch(() => null)
        if (!file) continue
        const { size, mtimeMs: modified, ctimeMs: changed, birthtimeMs: born } = file
        if (!file.isFile()) others.push(name)
        else if (!isReadableName(name)) formats.push({ name, reason: 'its format is not shipped' })
        else files.push({ name, id: `${file.dev}:${file.ino}`, size, modified, changed, born })
      }
      left = odd
      skipped = formats
      reportNew(
        'A file name is not UTF-8 and is left alone',
        odd.map(({ name }) => name),
      )
      reportNew('Folders, links and formats that are not shipped', [
        ...others,
        ...formats.map(({ name }) => name),
      ])
      return files
    },
    open: (name) => openFile(directory, name),
  }
}

async function namesIn(directory: string): Promise<Buffer[] | null> {
  try {
    return (await readdir(directory, { encoding: 'buffer' })) as Buffer[]
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw new UnreadableLog(`Cannot list the log directory: ${codeOf(error)}`, { cause: error })
  }
}

export function codeOf(error: unknown): string {
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
    gzip: (bytes, level) =>
      new Promise((resolve, reject) =>
        gzip(bytes, { level }, (error, packed) => (error ? reject(error) : resolve(new Uint8Array(packed)))),
      ),
  }
}
