import type { Bucket } from '../bucket.ts'
import { OtherHost } from '../ownership.ts'
import { ConfigVersions } from './config-versions.ts'

/** What is shipped besides the logs. */
export interface NodeFiles {
  node(): Promise<Record<string, unknown> | null>
  /** The configuration, masked; null when there is none. It throws when it cannot be shown. */
  config(): Promise<string | null>
}

export interface NodeFilesContext {
  files: NodeFiles
  /** Where they are written. It throws OtherHost while another host ships to the same destination. */
  bucket: Bucket
  now(): number
  /** Prints one line for the operator. */
  report(line: string): void
}

/** Ships node.json and config.toml when they change, and keeps each version of the latter. */
export class NodeFilesShipper {
  readonly #context: NodeFilesContext
  readonly #versions: ConfigVersions
  readonly #written = new Map<string, string>()
  /** Why the configuration is not shipped: reported once. */
  #complaint: string | null = null

  constructor(context: NodeFilesContext) {
    this.#context = context
    this.#versions = new ConfigVersions(context.bucket)
  }

  /** When the configuration last changed, in milliseconds since the Unix epoch; null if that is not known. */
  get configChanged(): number | null {
    return this.#versions.changed
  }

  /** Forgets what was written: another host wrote there since. */
  forget(): void {
    this.#written.clear()
    this.#versions.forget()
  }

  async ship(): Promise<void> {
    try {
      const config = await this.#config()
      // Before anything is written: the storage may fail for hours.
      const seen = this.#context.now()
      const node = await this.#context.files.node()
      if (node) await this.#write('node.json', `${JSON.stringify(node, null, 2)}\n`)
      if (config === null || this.#written.get('config.toml') === config) return
      // First the version: after a crash between the two, the next start writes config.toml, but no second version.
      await this.#versions.keep(config, seen)
      await this.#write('config.toml', config)
    } catch (error) {
      if (!(error instanceof OtherHost)) throw error
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

  async #write(key: string, text: string): Promise<void> {
    if (this.#written.get(key) === text) return
    await this.#context.bucket.put(key, new TextEncoder().encode(text))
    this.#written.set(key, text)
  }
}
