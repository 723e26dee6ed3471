import type { Budget } from '../../kit/limits/budget.ts'
import { type Config, maskedConfig } from './masked.ts'

export { type Config, ConfigError, maskedConfig, maskedText } from './masked.ts'

/** Where a configuration comes from: its text, or a function that reads it for each answer. */
export type ConfigSource = string | (() => string | Promise<string>)

/** Reads a configuration as it is now; it is parsed and masked again only when its text changed. */
export function createConfigReader(source: ConfigSource): { read(budget?: Budget): Promise<Config> } {
  let last: { raw: string; config: Config } | null = null
  return {
    async read(budget) {
      const raw = typeof source === 'string' ? source : await source()
      if (typeof raw !== 'string') throw new TypeError('Cannot read the configuration: it is not a text')
      if (last?.raw === raw) return last.config
      const config = await maskedConfig(raw, budget)
      // Others may have read the same text meanwhile.
      if (last?.raw !== raw) last = { raw, config }
      return last.config
    },
  }
}
