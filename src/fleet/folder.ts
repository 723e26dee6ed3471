import type { Entry, EveryMember, Store, StoreRead } from '../store/store.ts'

/** A folder of a store, as a store. `folder` ends in a slash. */
export function folderStore(store: Store, folder: string): EveryMember<Store> {
  const inside = (entry: Entry): Entry => ({ ...entry, key: entry.key.slice(folder.length) })
  return {
    nested: store.nested,
    async *list(prefix = '', { after, ...options } = {}) {
      const from = after === undefined ? {} : { after: folder + after }
      for await (const entry of store.list(folder + prefix, { ...options, ...from })) yield inside(entry)
    },
    async stat(key, options) {
      const entry = isKey(key) ? await store.stat(folder + key, options) : null
      return entry && inside(entry)
    },
    async read(key, range, options) {
      const read: StoreRead | null = isKey(key) ? await store.read(folder + key, range, options) : null
      return read && { ...read, entry: inside(read.entry) }
    },
    spans: store.spans && ((entry, signal) => store.spans!({ ...entry, key: folder + entry.key }, signal)),
    watch: store.watch && ((key, changed) => store.watch!(folder + key, changed)),
  }
}

/** Keys cannot lead out of the folder. */
function isKey(key: string): boolean {
  return key !== '' && !key.split('/').some((part) => part === '' || part === '.' || part === '..')
}
