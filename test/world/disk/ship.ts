import { constants, gunzipSync } from 'node:zlib'
import { gzipSync } from 'fflate'
import {
  type Listed,
  type Native,
  type Disk as ShipDisk,
  UnreadableLog,
} from '../../../src/ship/files/disk.ts'
import { isReadableName } from '../../../src/ship/files/text.ts'
import { crc32 } from '../../../src/store/codec/crc32.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Random } from '../kernel/random.ts'
import { type Disk, DiskError } from './disk.ts'

/** The disk as the shipper sees it. Each call takes up to `slowest` milliseconds. */
export function shipDisk(kernel: Kernel, disk: Disk, random: Random, slowest: number): ShipDisk {
  const call = <T>(label: string, answer: () => T): Promise<T> =>
    kernel.call(`ship ${label}`, 0.01 + slowest * random.fraction() ** 3, () => {
      try {
        return answer()
      } catch (error) {
        if (!(error instanceof DiskError)) throw error
        throw new UnreadableLog(`Cannot read the log: ${error.code}`, { cause: error })
      }
    })
  let skipped: { name: string; reason: string }[] = []
  return {
    left: () => [],
    skipped: () => skipped,
    async list() {
      const names = await call('list', () =>
        disk.exists ? disk.names().filter((n) => !n.includes('/')) : null,
      )
      if (names === null) return null
      return call('look', () => {
        const listed = names.flatMap((name): Listed[] => {
          const inode = disk.look(name)
          if (!inode) return []
          const { ino, size, modified, changed, born } = inode
          return [{ name, id: `1:${ino}`, size, modified, changed, born }]
        })
        const isFormat = ({ name }: { name: string }) => isReadableName(name)
        skipped = listed
          .filter((file) => !isFormat(file))
          .map(({ name }) => ({ name, reason: 'its format is not shipped' }))
        return listed.filter(isFormat)
      })
    },
    async open(name) {
      const handle = await call(`open ${name}`, () => disk.openToRead(name))
      if (!handle) return null
      const read = (offset: number, length: number) => call(`read ${name}`, () => handle.read(offset, length))
      return {
        id: `1:${handle.inode.ino}`,
        stat: () =>
          call(`stat ${name}`, () => ({ size: handle.inode.size, modified: handle.inode.modified })),
        async read(offset, length, into) {
          const bytes = await read(offset, length)
          if (!into || into.length < length) return bytes
          into.set(bytes)
          return into.subarray(0, bytes.length)
        },
        async *inflate(kind) {
          if (kind !== 'gzip') throw new Error('This runtime cannot decompress zstd')
          yield* inflated(await read(0, Number.MAX_SAFE_INTEGER))
        },
        close: () => call(`close ${name}`, () => handle.close()),
      }
    },
  }
}

/** Checksums and gzip in one piece. */
export const native: Native = {
  crc32,
  gzip: async (bytes, level) =>
    gzipSync(bytes, { level: level === 1 ? 1 : 6, mtime: 0 }) as Uint8Array<ArrayBuffer>,
}

/** The text of an archive, as zlib's stream gives it: of one that is broken or ends early, all there is, and an error. */
function* inflated(archive: Uint8Array): Generator<Uint8Array> {
  if (archive.length === 0) return
  try {
    yield gunzipSync(archive)
  } catch (error) {
    yield gunzipSync(archive, { finishFlush: constants.Z_SYNC_FLUSH })
    throw error
  }
}
