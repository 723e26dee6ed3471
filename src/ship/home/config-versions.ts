import { crc32 } from '../../codec/crc32.ts'
import { CONFIGS, parseVersion, type VersionName, versionKey } from '../../segment/configs.ts'
import type { Bucket } from '../bucket.ts'

/** Keeps every version of a configuration in the bucket, each written once. The bucket is its only memory. */
export class ConfigVersions {
  readonly #bucket: Bucket
  /** The newest version in the bucket; undefined before it was looked up. */
  #newest: VersionName | null | undefined

  constructor(bucket: Bucket) {
    this.#bucket = bucket
  }

  /** When the configuration last changed, in milliseconds since the Unix epoch; null if that is not known. */
  get changed(): number | null {
    return this.#newest?.time ?? null
  }

  /** Forgets what was read from the bucket. */
  forget(): void {
    this.#newest = undefined
  }

  /** Writes a masked configuration that was first seen at a time, unless it is the newest version already. */
  async keep(masked: string, seen: number): Promise<void> {
    const bytes = new TextEncoder().encode(masked)
    const crc = crc32(bytes)
    if (this.#newest === undefined) this.#newest = await this.#recall()
    if (this.#newest?.crc === crc) return
    // A clock that was set back must not put a version before the one it replaces.
    const version = { time: Math.max(seen, (this.#newest?.time ?? 0) + 1), crc }
    await this.#bucket.put(versionKey(version), bytes, { once: true })
    this.#newest = version
  }

  async #recall(): Promise<VersionName | null> {
    for (const name of await this.#bucket.names(CONFIGS, MOST_NAMES)) {
      const version = parseVersion(CONFIGS + name)
      if (version) return version
    }
    return null
  }
}

/** One page of a LIST. The newest version is the first; anything else there is not ours. */
const MOST_NAMES = 1000
