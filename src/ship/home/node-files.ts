import type { Clock } from '../../kit/limits/clock.ts'
import { crc32 } from '../../store/codec/crc32.ts'
import { CONFIGS, parseVersion, type VersionName, versionKey } from '../../store/segment/configs.ts'
import type { Bucket } from '../bucket.ts'
import { OtherShipper } from '../ownership.ts'

/** What is shipped besides the logs. */
export interface NodeFiles {
  node(): Promise<Record<string, unknown> | null>
  /** The configuration, masked; null when there is none. It throws when it cannot be shown. */
  config(): Promise<string | null>
}

export interface NodeFilesContext {
  files: NodeFiles
  /** Where they are written. It throws OtherShipper while another host ships to the same destination. */
  bucket: Bucket
  clock: Clock
  report(line: string): void
}

/** One page of a LIST. The newest version is the first; anything else there is not ours. */
const MOST_NAMES = 1000

/** Ships node.json and config.toml when they change, and each version of the latter. The bucket is its memory. */
export class NodeFilesShipper {
  readonly #context: NodeFilesContext
  /** The newest version in the bucket; undefined before it was looked up. */
  #newest: VersionName | null | undefined
  readonly #written = new Map<string, string>()
  /** How many versions of the configuration were written since the start. */
  versions = 0
  /** Why the configuration is not shipped: reported once. */
  #complaint: string | null = null

  constructor(context: NodeFilesContext) {
    this.#context = context
  }

  /** When the configuration last changed, in milliseconds since the Unix epoch; null if that is not known. */
  get configChanged(): number | null {
    return this.#newest?.time ?? null
  }

  /** Forgets what was written: another host wrote there since. */
  forget(): void {
    this.#written.clear()
    this.#newest = undefined
  }

  async ship(): Promise<void> {
    try {
      const config = await this.#config()
      // Before anything is written: the storage may fail for hours.
      const seen = this.#context.clock.now()
      const node = await this.#context.files.node()
      if (node) await this.#write('node.json', `${JSON.stringify(node, null, 2)}\n`)
      if (config === null || this.#written.get('config.toml') === config) return
      // First the version: after a crash between the two, the next start writes config.toml, but no second version.
      await this.#keep(config, seen)
      await this.#write('config.toml', config)
    } catch (error) {
      if (!(error instanceof OtherShipper)) throw error
    }
  }

  async #config(): Promise<string | null> {
    try {
      const config = await this.#context.files.config()
      this.#complaint = null
      return config
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (this.#complaint !== message) this.#context.report(`The configuration is not shipped: ${message}`)
      this.#complaint = message
      return null
    }
  }

  /** Writes a masked configuration that was first seen at a time, unless it is the newest version already. */
  async #keep(masked: string, seen: number): Promise<void> {
    const { bucket } = this.#context
    const bytes = new TextEncoder().encode(masked)
    const crc = crc32(bytes)
    if (this.#newest === undefined) this.#newest = await recallNewest(bucket)
    if (this.#newest?.crc === crc) return
    // A clock that was set back must not put a version before the one it replaces.
    const version = { time: Math.max(seen, (this.#newest?.time ?? 0) + 1), crc }
    await bucket.put(versionKey(version), bytes, { once: true })
    this.#newest = version
    this.versions++
  }

  async #write(key: string, text: string): Promise<void> {
    if (this.#written.get(key) === text) return
    await this.#context.bucket.put(key, new TextEncoder().encode(text))
    this.#written.set(key, text)
  }
}

async function recallNewest(bucket: Bucket): Promise<VersionName | null> {
  for (const name of await bucket.names(CONFIGS, MOST_NAMES)) {
    const version = parseVersion(CONFIGS + name)
    if (version) return version
  }
  return null
}
