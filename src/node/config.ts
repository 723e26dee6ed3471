import { parse, TomlError, type TomlTable } from 'smol-toml'
import { MASK, redact } from '../mask/redact.ts'
import { namesSecret } from '../mask/secret.ts'

/** A configuration that can be shown. */
export interface Config {
  /** The text as it was written, with its secrets masked. */
  readonly text: string
  /** What it says, with its secrets: for the service's own use. */
  readonly data: Readonly<TomlTable>
  /** Short, and different whenever the masked text is. */
  readonly tag: string
}

/** Where a configuration comes from: its text, or what reads it anew for each answer. */
export type ConfigSource = string | (() => string | Promise<string>)

/**
 * A configuration that can't be shown. It tells where, and nothing of what is there: a parser's own message
 * quotes the source, secrets included, so it is not even kept as the cause.
 */
export class ConfigError extends Error {
  /** The line, from 1; null when there is no one place to blame. */
  readonly line: number | null
  /** The column in that line, from 1, in UTF-16 units. */
  readonly column: number | null

  constructor(line: number | null = null, column: number | null = null) {
    super(
      line === null
        ? 'The configuration cannot be shown safely; simplify how it writes its strings and keys.'
        : `The configuration is not valid TOML at line ${line}, column ${column}; fix it there.`,
    )
    this.name = 'ConfigError'
    this.line = line
    this.column = column
  }
}

/**
 * Reads a configuration as it is now: the source is asked every time, and parsed and masked when it changed.
 * Throws ConfigError, or whatever the source throws.
 */
export function createConfigReader(source: ConfigSource): { read(): Promise<Config> } {
  let last: { raw: string; config: Promise<Config> } | null = null
  return {
    async read() {
      const raw = typeof source === 'string' ? source : await source()
      // Who comes while the same text is at work waits for that work.
      if (last === null || last.raw !== raw) last = { raw, config: prepare(raw) }
      return last.config
    },
  }
}

async function prepare(raw: string): Promise<Config> {
  const data = parseToml(raw)
  const text = mask(raw)
  // Two readers may disagree on a text. What the parser sees in the result must be what it saw before, masked.
  if (!isMasked(data, text === raw ? data : parseToml(text))) throw new ConfigError()
  return { text, data, tag: await digest(text) }
}

function parseToml(text: string): TomlTable {
  try {
    return parse(text, { integersAsBigInt: 'asNeeded' })
  } catch (error) {
    if (error instanceof TomlError) throw new ConfigError(error.line, error.column)
    throw new ConfigError()
  }
}

function mask(raw: string): string {
  try {
    return redact(raw)
  } catch {
    throw new ConfigError()
  }
}

/** Walks without recursion: `[a.a.a.…]` nests as deep as the file is long. */
function isMasked(before: unknown, after: unknown): boolean {
  const pairs: { one: unknown; two: unknown; secret: boolean }[] = [
    { one: before, two: after, secret: false },
  ]
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const { one, two, secret } = pair
    if (secret && typeof two === 'string' && two !== '' && two !== MASK) return false
    if (typeof two === 'string' && two.includes(MASK)) {
      if (isTree(one)) return false
    } else if (isTree(one)) {
      if (!isTree(two) || Array.isArray(one) !== Array.isArray(two)) return false
      const keys = Object.keys(one)
      if (keys.length !== Object.keys(two).length) return false
      for (const key of keys) {
        if (!Object.hasOwn(two, key)) return false
        pairs.push({ one: one[key], two: two[key], secret: Array.isArray(one) ? secret : namesSecret(key) })
      }
    } else if (one instanceof Date ? String(one) !== String(two) : !Object.is(one, two)) {
      return false
    }
  }
  return true
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Date)
}

/** 128 bits of SHA-256, which every runtime has. */
async function digest(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return Array.from(bytes.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
