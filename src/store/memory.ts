import { type Clock, systemClock } from '../kit/limits/clock.ts'
import { byCodePoint, checkConditions, clampRange, type Entry, type Store } from './store.ts'

/** A store in memory, for tests and embedders. */
export interface MemoryStore extends Store {
  put(key: string, bytes: Uint8Array | string): void
  delete(key: string): void
}

/** Makes a store that holds `files` in memory; they are modified when `clock` says. */
export function memoryStore(
  files: Record<string, Uint8Array | string> = {},
  clock: Clock = systemClock,
): MemoryStore {
  const held = new Map<string, { entry: Entry; bytes: Uint8Array<ArrayBuffer> }>()
  const watchers = new Map<string, Set<() => void>>()
  let version = 0
  const notify = (key: string) => {
    for (const changed of watchers.get(key) ?? []) changed()
  }
  const store: MemoryStore = {
    put(key, content) {
      const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content)
      held.set(key, {
        entry: { key, size: bytes.length, modified: clock.now(), etag: `"m${++version}"` },
        bytes,
      })
      notify(key)
    },
    delete(key) {
      held.delete(key)
      notify(key)
    },
    async *list(prefix = '', { signal, shallow = false, folders = false, after, limit = Infinity } = {}) {
      signal?.throwIfAborted()
      let left = limit
      let folder = ''
      for (const key of [...held.keys()].filter((key) => key.startsWith(prefix)).sort(byCodePoint)) {
        if (left <= 0) return
        const slash = shallow ? key.indexOf('/', prefix.length) : -1
        const name = slash < 0 ? key : key.slice(0, slash + 1)
        if (after !== undefined && byCodePoint(name, after) <= 0) continue
        const file = held.get(key)
        if (slash >= 0) {
          if (!folders || name === folder) continue
          folder = name
          yield { key: name, size: 0, modified: 0, etag: '""', folder: true }
        } else if (file) yield { ...file.entry }
        else continue
        left--
      }
    },
    async stat(key) {
      const file = held.get(key)
      return file ? { ...file.entry } : null
    },
    async read(key, range, options = {}) {
      const file = held.get(key)
      if (!file) return null
      checkConditions(file.entry, options)
      const { offset, length } = clampRange(range, file.bytes.length)
      return { entry: { ...file.entry }, offset, length, body: file.bytes.slice(offset, offset + length) }
    },
    watch(key, changed) {
      const set = watchers.get(key) ?? new Set()
      watchers.set(key, set.add(changed))
      return () => void set.delete(changed)
    },
  }
  for (const [key, content] of Object.entries(files)) store.put(key, content)
  return store
}
