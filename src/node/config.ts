import { parse, TomlError, type TomlTable } from 'smol-toml'
import { MASK, redact } from '../mask/redact.ts'
import { namesSecret } from '../mask/secret.ts'
import { isSafeSecret } from '../mask/value.ts'
import { isTree } from './identity.ts'

export interface Config {
  /** The text as it was written, with its secrets masked. */
  readonly text: string
  /** Its content, secrets included: for the service itself. */
  readonly data: Readonly<TomlTable>
}

/** Where a configuration comes from: its text, or a function that reads it for each answer. */
export type ConfigSource = string | (() => string | Promise<string>)

/**
 * A configuration that cannot be shown. It says where, and nothing about what is there: a parser's own message
 * quotes the source, secrets included, so it is not even kept as the cause.
 */
export class ConfigError extends Error {
  /** The line, from 1; null if no single place is wrong. */
  readonly line: number | null
  /** The column in that line, from 1, in UTF-16 units. */
  readonly column: number | null

  constructor(line: number | null = null, column: number | null = null) {
    super(
      line === null
        ? 'The configuration cannot be masked safely; simplify its quoting of strings and keys.'
        : `The configuration is not valid TOML at line ${line}, column ${column}; fix it there.`,
    )
    this.name = 'ConfigError'
    this.line = line
    this.column = column
  }
}

/** Reads a configuration as it is now; it is parsed and masked again only when its text changed. */
export function createConfigReader(source: ConfigSource): { read(): Promise<Config> } {
  let last: { raw: string; config: Config } | null = null
  return {
    async read() {
      const raw = typeof source === 'string' ? source : await source()
      if (typeof raw !== 'string') throw new TypeError('Cannot read the configuration: it is not a text')
      if (last === null || last.raw !== raw) last = { raw, config: maskedConfig(raw) }
      return last.config
    },
  }
}

export function maskedConfig(raw: string): Config {
  try {
    const data = parsed(raw)
    const text = redact(raw)
    // The scanner and the parser may disagree. What the parser sees in the result must be what it saw before, masked.
    if (isMasked(data, text === raw ? data : parsed(text))) return { text, data }
  } catch (error) {
    if (error instanceof TomlError) throw new ConfigError(error.line, error.column)
  }
  throw new ConfigError()
}

function parsed(text: string): TomlTable {
  return parse(text, { integersAsBigInt: 'asNeeded' })
}

/** Walks without recursion: `[a.a.a.…]` nests as deep as the file is long. */
function isMasked(before: unknown, after: unknown): boolean {
  const pairs: { one: unknown; two: unknown; secretKey: string | null }[] = [
    { one: before, two: after, secretKey: null },
  ]
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const { one, two, secretKey } = pair
    if (secretKey !== null && typeof two === 'string' && isOpen(secretKey, two)) return false
    if (typeof two === 'string' && two.includes(MASK)) {
      if (isTree(one)) return false
    } else if (isTree(one)) {
      if (!isTree(two) || Array.isArray(one) !== Array.isArray(two)) return false
      const keys = Object.keys(one)
      if (keys.length !== Object.keys(two).length) return false
      for (const key of keys) {
        if (!Object.hasOwn(two, key)) return false
        const inherited = Array.isArray(one) ? secretKey : namesSecret(key) ? key : null
        pairs.push({ one: one[key], two: two[key], secretKey: inherited })
      }
    } else if (one instanceof Date ? String(one) !== String(two) : !Object.is(one, two)) {
      return false
    }
  }
  return true
}

/** Whether a string under a secret's key is neither empty, nor masked, nor harmless. */
function isOpen(key: string, text: string): boolean {
  return text !== '' && text !== MASK && !isSafeSecret(key, text)
}
