import { SlicedStream, type Slices, withFastReads } from '../../../src/store/fast.ts'
import {
  byCodePoint,
  checkConditions,
  clampRange,
  type Entry,
  type ListOptions,
  replaced,
  type Store,
  StoreError,
  type StoreRead,
} from '../../../src/store/store.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Random } from '../kernel/random.ts'
import { type Disk, DiskError, type Handle, type Inode } from './disk.ts'

export interface DiskStoreOptions {
  /** Ranges longer than this come as a stream, in slices of this many bytes. */
  slice: number
  /** Whether the store has the fast calls, as `store/fs` does, so that the app takes it for a disk. */
  isFast: boolean
  /** Whether it reports changes. */
  isWatched: boolean
  /** The longest that a call takes, in milliseconds. */
  slowest: number
  /** Whether files in folders are seen. @default false */
  nested?: boolean
}

/** How often `store/fs` reads a directory whose files keep moving: for the files of a log, and for all files. */
const MAX_LOOKS = 20
const LOOKS_AT_ALL = 5

/**
 * The disk as the app sees it: `store/fs` without its caches. A list reads the names and then looks at each file, and
 * again if names changed in between; a stream is read slice by slice; a read into a caller's buffer fills it when it
 * completes, and not before.
 */
export function diskStore(kernel: Kernel, disk: Disk, random: Random, options: DiskStoreOptions): Store {
  const calls = new Map<string, Random>()
  /** How long the next call of this name takes: the stream of another name has no part in it. */
  const latency = (label: string) => {
    const stream = calls.get(label) ?? random.split(label)
    calls.set(label, stream)
    const part = stream.fraction()
    return 0.01 + options.slowest * part * part * part
  }
  const call = <T>(label: string, answer: () => T): Promise<T> =>
    kernel.call(label, latency(label), () => {
      try {
        if (disk.failing > 0 && random.chance(disk.failing)) throw new DiskError('EIO', label)
        return answer()
      } catch (error) {
        throw toStoreError(error)
      }
    })
  const isKey = (key: string) =>
    key.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && !/[\\\0]/.test(part)) &&
    (options.nested || !key.includes('/'))
  const open = (key: string) => {
    if (isKey(key)) return disk.openToRead(key)
    // A missing directory is a failure, whatever the name.
    disk.names()
    return null
  }

  /** As `store/fs` does it: a pass counts if no name changed meanwhile, or if two passes saw the same files. */
  async function listAtOneMoment(prefix: string, wanted: ListOptions): Promise<Entry[]> {
    const most = prefix !== '' ? MAX_LOOKS : options.nested ? 1 : LOOKS_AT_ALL
    let before: string | null = null
    for (let looks = 1; ; looks++) {
      const { revision } = disk
      const entries = await listAll(prefix, wanted)
      const now = entries.map(({ key, id }) => `${id} ${key}`).join('/')
      if (looks >= most || revision === disk.revision || before === now) return entries
      before = now
    }
  }

  async function listAll(prefix: string, { after, limit, shallow, folders }: ListOptions): Promise<Entry[]> {
    const names = await call(`list ${prefix}`, () => disk.names().filter(isKey))
    return call(`look ${prefix}`, () => {
      const entries = new Map<string, Entry>()
      for (const key of names) {
        if (!key.startsWith(prefix)) continue
        const slash = shallow ? key.indexOf('/', prefix.length) : -1
        const inode = disk.look(key)
        if (slash < 0) inode && entries.set(key, toEntry(key, inode))
        else if (folders) {
          const folder = key.slice(0, slash + 1)
          entries.set(folder, { key: folder, size: 0, modified: 0, etag: '""', folder: true })
        }
      }
      const wanted = [...entries.values()].filter(({ key }) => !after || byCodePoint(key, after) > 0)
      return wanted.sort((a, b) => byCodePoint(a.key, b.key)).slice(0, limit)
    })
  }

  const store: Store = {
    async *list(prefix = '', wanted = {}) {
      wanted.signal?.throwIfAborted()
      // A store without the fast calls is one that somebody wrote: its lists must show one moment.
      const list = options.isFast ? listAll : listAtOneMoment
      for (const entry of await list(prefix, wanted)) {
        wanted.signal?.throwIfAborted()
        yield entry
      }
    },

    stat: (key) =>
      call(`stat ${key}`, () => {
        const handle = open(key)
        handle?.close()
        return handle && toEntry(key, handle.inode)
      }),

    read: (key, range, conditions = {}) =>
      call(`read ${key}`, (): StoreRead | null => {
        const handle = open(key)
        if (!handle) return null
        let isKept = false
        try {
          const entry = toEntry(key, handle.inode)
          checkConditions(entry, conditions)
          const { offset, length } = clampRange(range, entry.size)
          if (length <= options.slice) return { entry, offset, length, body: handle.read(offset, length) }
          isKept = true
          const slices = slicesOf(handle, { offset, end: offset + length }, conditions.signal)
          return { entry, offset, length, body: new SlicedStream(slices) }
        } finally {
          if (!isKept) handle.close()
        }
      }),
  }

  /** Bytes that must not change while they are sent: the last ones are compared after each slice. */
  function slicesOf(handle: Handle, range: { offset: number; end: number }, signal?: AbortSignal): Slices {
    const { end } = range
    const label = `slice of ${handle.inode.ino}`
    const probeAt = Math.max(range.offset, end - 64)
    const probe = handle.read(probeAt, 64)
    let at = range.offset
    let reading = 0
    let isOpen = true
    const close = () => {
      if (!isOpen) return
      isOpen = false
      signal?.removeEventListener('abort', close)
      if (reading === 0) handle.close()
    }
    signal?.addEventListener('abort', close)
    return {
      async next() {
        if (at >= end) {
          close()
          return null
        }
        if (!isOpen) throw signal?.reason ?? new StoreError('unavailable', 'The stream was cancelled')
        reading++
        try {
          return await call(label, () => {
            const bytes = handle.read(at, Math.min(options.slice, end - at))
            if (!isSame(handle, probeAt, probe) || bytes.length < Math.min(options.slice, end - at)) {
              close()
              throw replaced(label)
            }
            at += bytes.length
            return bytes
          })
        } catch (error) {
          close()
          throw error
        } finally {
          if (--reading === 0 && !isOpen) handle.close()
        }
      },
      release() {},
      cancel: close,
    }
  }

  if (options.isWatched)
    store.watch = (key, changed) => {
      let isTold = false
      const stop = disk.watch((name) => {
        if (name !== key || isTold) return
        isTold = true
        kernel.at(latency(`watch ${key}`), `watch ${key}`, () => {
          isTold = false
          if (isWatching) changed()
        })
      })
      let isWatching = true
      return () => {
        isWatching = false
        stop()
      }
    }
  if (!options.isFast) return store
  return withFastReads(store, {
    listAll: (prefix, most) => listAtOneMoment(prefix, { limit: most, shallow: !options.nested }),
    revision: () => (options.nested || !disk.exists || !disk.isReadable ? null : String(disk.revision)),
    async readInto(key, range, buffer, conditions) {
      const handle = await call(`open ${key}`, () => open(key))
      if (!handle) return null
      try {
        const before = toEntry(key, handle.inode)
        checkConditions(before, conditions)
        const { offset, length } = clampRange(range, before.size)
        if (length > buffer.length) return undefined
        return await call(`read ${key}`, () => {
          if (handle.inode.size < before.size) throw replaced(key)
          const body = buffer.subarray(0, length)
          body.set(handle.read(offset, length))
          return { entry: toEntry(key, handle.inode), offset, length, body }
        })
      } finally {
        handle.close()
      }
    },
  })
}

/** Whether the file still has these bytes there. */
function isSame({ inode }: Handle, at: number, bytes: Uint8Array): boolean {
  return inode.size >= at + bytes.length && bytes.every((byte, i) => inode.bytes[at + i] === byte)
}

/** An entry as `store/fs` makes it: the etag has what the system says of a file, however coarse its times are. */
function toEntry(key: string, { ino, size, modified, changed }: Inode): Entry {
  const times = changed === modified ? `${modified}` : `${modified}-${changed}`
  return { key, size, modified: Math.floor(modified), etag: `"1-${ino}-${size}-${times}"`, id: `1-${ino}` }
}

function toStoreError(error: unknown): unknown {
  if (!(error instanceof DiskError)) return error
  return new StoreError(error.code === 'EACCES' ? 'denied' : 'unavailable', error.message, { cause: error })
}
