import { fastReads, withFastReads } from '../../src/store/fast.ts'
import { fsStore } from '../../src/store/fs.ts'
import type { Store } from '../../src/store/store.ts'

/** A directory that calls `step` before each call of the store, so that a test can change files between any two. */
export function steppedStore(folder: string, step: (call: string) => void): Store {
  const real = fsStore(folder)
  const fast = fastReads(real)!
  const store: Store = {
    ...real,
    list: async function* (prefix, options) {
      step(`list ${prefix}`)
      yield* real.list(prefix, options)
    },
    stat: async (key, options) => {
      step(`stat ${key}`)
      return real.stat(key, options)
    },
    read: async (key, range, options) => {
      step(`read ${key}`)
      return real.read(key, range, options)
    },
  }
  return withFastReads(store, {
    ...fast,
    listAll: async (prefix, most) => {
      step(`list ${prefix}`)
      return fast.listAll(prefix, most)
    },
    revision: () => {
      step('revision')
      return fast.revision()
    },
    readInto: async (key, range, buffer, options) => {
      step(`read ${key}`)
      return fast.readInto(key, range, buffer, options)
    },
  })
}
