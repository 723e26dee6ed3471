import { textTag } from '../../../core/http/conditional.ts'
import {
  type Config,
  ConfigError,
  type createConfigReader,
  maskedConfig,
  maskedText,
} from '../../../core/node/config.ts'
import { configTooLarge, LARGEST_CONFIG } from '../../../core/node/home.ts'
import type { ConfigVersions, StoredVersion } from '../../../core/node/versions.ts'
import type { ConfigVersion } from '../../../kit/answers.ts'
import { BoundedMap } from '../../../kit/limits/bounded-map.ts'
import { type Budget, BudgetError } from '../../../kit/limits/budget.ts'
import type { Lease } from '../../../kit/limits/memory-budget.ts'
import { inTurns } from '../../../kit/limits/yield.ts'
import { changesOf } from './changes.ts'
import { type ConfigValues, ValuesError, valuesIn } from './values.ts'

interface ReadVersion {
  entry: Pick<ConfigVersion, 'time' | 'etag' | 'size'>
  /** Null if there is an error. */
  values: ConfigValues | null
  error?: ValuesError['code']
}

/** Versions never change, so that what was found out about them is kept: 128 at most, of at most 2 KB each. */
const REMEMBERED = 128
const LARGEST_REMEMBERED = 2048
/** Bytes of memory for each byte of a configuration while it is masked or compared. */
const MEMORY_FACTOR = 8

export class ConfigHistory {
  readonly versions: ConfigVersions
  readonly #reader: ReturnType<typeof createConfigReader>
  readonly #known = new BoundedMap<string, ConfigVersion>(REMEMBERED)

  constructor(versions: ConfigVersions, reader: ReturnType<typeof createConfigReader>) {
    this.versions = versions
    this.#reader = reader
  }

  /** When the configuration last changed, in milliseconds since the Unix epoch. */
  async changed(): Promise<number> {
    const [newest] = await this.versions.list({ limit: 1 })
    return newest?.time ?? this.versions.modified()
  }

  /** The version that held at a time; null before the first one. */
  async at(
    time: number,
    budget: Budget,
    lease: (bytes: number) => Lease | null = () => null,
  ): Promise<(Config & { time: number }) | null> {
    const { signal } = budget
    const [found] = await this.versions.list({ until: time, limit: 1, signal })
    if (found) {
      if (found.size > LARGEST_CONFIG) throw configTooLarge()
      const memory = lease(MEMORY_FACTOR * found.size)
      try {
        const text = await this.versions.read(found, LARGEST_CONFIG, signal)
        if (text === null) throw configTooLarge()
        return { ...(await maskedConfig(text, budget)), time: found.time }
      } finally {
        memory?.release()
      }
    }
    const [first] = await this.versions.list({ limit: 1, signal })
    if (first) return null
    const config = await this.#reader.read(budget)
    const since = await this.versions.modified(signal)
    return time < since ? null : { ...config, time: since }
  }

  async present(budget: Budget): Promise<ConfigVersion> {
    const { text } = await this.#reader.read(budget)
    return { ...describe(text, await this.versions.modified(budget.signal)), changes: [] }
  }

  /** The first `limit` of these versions; the one before them is among these. Fewer if the budget is spent. */
  async entries(
    stored: readonly StoredVersion[],
    limit: number,
    { budget, parallel }: { budget: Budget; parallel: number },
  ): Promise<ConfigVersion[]> {
    const keys = stored.slice(0, limit).map(({ key }, i) => `${key} ${stored[i + 1]?.key ?? ''}`)
    const known = keys.map((key) => this.#known.get(key))
    const isWanted = (i: number) => i >= 0 && i < keys.length && !known[i]
    const entries: ConfigVersion[] = []
    /** The last version that was read: its changes are known when the one before it was read. */
    let newer: ReadVersion | null = null
    for (let from = 0; from < stored.length; from += parallel) {
      const part = stored.slice(from, from + parallel)
      const lease = budget.memory?.lease(MEMORY_FACTOR * comparedBytes(part))
      try {
        if (lease === null || !(await budget.step())) return entries
        const texts = await Promise.all(
          part.map((version, i) =>
            isWanted(from + i) || isWanted(from + i - 1) ? this.#text(version, budget) : null,
          ),
        )
        for (const [i, text] of texts.entries()) {
          await budget.step()
          const index = from + i
          const read = text && (await readVersion(stored[index]!, text, budget))
          if (newer) entries.push(this.#finish(keys[index - 1]!, newer, read))
          newer = isWanted(index) ? read : null
          if (known[index]) entries.push(known[index])
        }
      } catch (error) {
        if (error instanceof BudgetError) return entries
        throw error
      } finally {
        lease?.release()
      }
    }
    if (newer) entries.push(this.#finish(keys.at(-1)!, newer, null))
    return entries
  }

  /** The text of a version, in a list because an empty text is one, too; an empty list if it is too large. */
  async #text(version: StoredVersion, budget: Budget): Promise<string[]> {
    if (version.size > LARGEST_CONFIG) return []
    const text = await this.versions.read(version, LARGEST_CONFIG, budget.signalFor())
    budget.spend(version.size)
    return text === null ? [] : [text]
  }

  #finish(key: string, { entry, values, error }: ReadVersion, before: ReadVersion | null): ConfigVersion {
    const why = error ?? before?.error
    const changes = values && before?.values ? changesOf(before.values, values) : []
    const finished = { ...entry, changes, ...(why && { error: why }) }
    if (JSON.stringify(finished).length <= LARGEST_REMEMBERED) this.#known.set(key, finished)
    return finished
  }
}

function comparedBytes(versions: readonly StoredVersion[]): number {
  return versions.reduce((sum, { size }) => sum + (size > LARGEST_CONFIG ? 0 : size), 0)
}

async function readVersion(
  { key, time, size }: StoredVersion,
  [text]: readonly string[],
  budget: Budget,
): Promise<ReadVersion> {
  try {
    if (text === undefined) throw new ValuesError('too-large')
    const masked = await maskedText(text, budget)
    return { entry: describe(masked, time), values: await inTurns(valuesIn(masked)) }
  } catch (error) {
    const code = error instanceof ConfigError ? 'not-toml' : error instanceof ValuesError ? error.code : null
    if (code === null) throw error
    return { entry: { time, etag: textTag(key), size }, values: null, error: code }
  }
}

function describe(masked: string, time: number): ReadVersion['entry'] {
  return { time, etag: textTag(masked), size: new TextEncoder().encode(masked).length }
}
