import { CONFIGS, parseVersion, versionsSince } from '../../store/segment/configs.ts'
import { readText, type Store, StoreError } from '../../store/store.ts'
import { HomeError } from './home.ts'

export interface StoredVersion {
  key: string
  /** When it was first seen, in milliseconds since the Unix epoch. */
  time: number
  size: number
}

export interface ConfigVersions {
  /** The versions that are kept, newest first; with `until`, those first seen at this time or earlier. */
  list(range: {
    limit: number
    until?: number | undefined
    signal?: AbortSignal | undefined
  }): Promise<StoredVersion[]>
  /** The text of a version, not yet masked again; null if it has more than `largest` bytes. */
  read(version: StoredVersion, largest: number, signal?: AbortSignal): Promise<string | null>
  /** When the present configuration was last written, in milliseconds since the Unix epoch. */
  modified(signal?: AbortSignal): Promise<number>
}

/** A home, or a function that tells when the configuration was last written, in milliseconds since the Unix epoch. */
export type VersionSource = Store | (() => number | Promise<number>)

export function openVersions(source: VersionSource): ConfigVersions {
  return typeof source === 'function' ? presentOnly(source) : storedVersions(source)
}

/** Objects beside the versions that are passed over: a LIST of a million takes minutes. */
const MOST_FOREIGN = 10_000

function tooManyForeign(): HomeError {
  return new HomeError(
    'bad-object',
    `The folder "${CONFIGS}" of the node's home holds more than ${MOST_FOREIGN} objects that are no versions; delete them.`,
  )
}

/** The versions in a home, which a shipper wrote. */
function storedVersions(store: Store): ConfigVersions {
  return {
    async list({ limit, until, signal }) {
      const found: StoredVersion[] = []
      let foreign = 0
      if (until !== undefined && until < 0) return found
      const after = until === undefined ? undefined : versionsSince(until)
      for await (const { key, size } of store.list(CONFIGS, { shallow: true, after, signal })) {
        const name = parseVersion(key)
        if (name) found.push({ key, time: name.time, size })
        else if (++foreign > MOST_FOREIGN) throw tooManyForeign()
        if (found.length >= limit) break
      }
      return found
    },
    async read({ key }, largest, signal) {
      const read = await readText(store, key, largest, { signal })
      if (read) return read.text
      throw new StoreError('changed', `Cannot read "${key}": it was deleted after it was listed`)
    },
    async modified(signal) {
      const entry = await store.stat('config.toml', { signal })
      if (entry) return Math.floor(entry.modified)
      throw new StoreError('unavailable', 'The home has no "config.toml"')
    },
  }
}

function presentOnly(modified: () => number | Promise<number>): ConfigVersions {
  return {
    list: async () => [],
    read: async () => null,
    modified: async () => Math.floor(await modified()),
  }
}
