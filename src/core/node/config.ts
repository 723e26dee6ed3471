import { parse, TomlError, type TomlTable } from 'smol-toml'
import { Budget, BudgetError } from '../../kit/limits/budget.ts'
import { isTurnOver, yieldToEventLoop } from '../../kit/limits/yield.ts'
import { MASK, redacting } from '../mask/redact.ts'
import { namesSecret } from '../mask/secret.ts'
import { isSafeSecret } from '../mask/value.ts'
import { configTooLarge, LARGEST_CONFIG } from './home.ts'
import { isTree } from './identity.ts'

export interface Config {
  /** The text as it was written, with its secrets masked. */
  readonly text: string
  /** Its content, secrets included: for the service itself. */
  readonly data: Readonly<TomlTable>
}

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

/** Characters of masked texts that the process remembers, and the largest part of the memory for answers. */
const REMEMBERED = 16 * 1024 * 1024
const PART_REMEMBERED = 8

/** Masked texts by the digest of their source, the least recently used first: the nodes of a fleet are much alike. */
const remembered = new Map<string, string>()
let length = 0

/** What is being masked, by the same digest: everyone who asks meanwhile gets the same. */
const running = new Map<string, Masking>()

/**
 * A configuration and its masked text. It is masked in turns, while anyone who waits for it has time left; then it
 * throws a BudgetError. Throws a ConfigError when it cannot be shown, and a HomeError when it is too large.
 */
export async function maskedConfig(raw: string, budget = new Budget()): Promise<Config> {
  const { text, data } = await masked(raw, budget)
  return { text, data: data ?? parsed(raw) }
}

/** The masked text alone: it is not even parsed if it is remembered. */
export async function maskedText(raw: string, budget = new Budget()): Promise<string> {
  return (await masked(raw, budget)).text
}

async function masked(raw: string, budget: Budget): Promise<{ text: string; data: TomlTable | null }> {
  const bytes = raw.length > LARGEST_CONFIG ? null : new TextEncoder().encode(raw)
  if (bytes === null || bytes.length > LARGEST_CONFIG) throw configTooLarge()
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).join()
  const known = remembered.get(digest)
  if (known !== undefined) {
    remembered.delete(digest)
    remembered.set(digest, known)
    return { text: known, data: null }
  }
  for (;;) {
    const masking = running.get(digest) ?? new Masking(raw)
    running.set(digest, masking)
    try {
      const config = await masking.wait(budget)
      remember(digest, config.text, (budget.memory?.total ?? Number.POSITIVE_INFINITY) / PART_REMEMBERED)
      return config
    } catch (error) {
      // It may have ended for others, who left, just before this one came.
      if (!(error instanceof BudgetError) || isOver(budget)) throw error
    } finally {
      if (running.get(digest) === masking) running.delete(digest)
    }
  }
}

function isOver({ signal, millisLeft }: Budget): boolean {
  return signal?.aborted || millisLeft === 0
}

function remember(digest: string, text: string, most: number): void {
  if (remembered.has(digest) || text.length > most) return
  remembered.set(digest, text)
  length += text.length
  for (const [oldest, { length: size }] of remembered) {
    if (length <= Math.min(REMEMBERED, most)) return
    remembered.delete(oldest)
    length -= size
  }
}

/** The masking of one text, for everyone who waits for it. */
class Masking {
  readonly #waiting: Budget[] = []
  readonly #raw: string
  #result: Promise<Config> | null = null

  constructor(raw: string) {
    this.#raw = raw
  }

  wait(budget: Budget): Promise<Config> {
    this.#waiting.push(budget)
    this.#result ??= this.#run()
    return this.#result
  }

  async #run(): Promise<Config> {
    await this.#turn()
    const data = parsed(this.#raw)
    try {
      const text = await this.#inTurns(redacting(this.#raw))
      await this.#turn()
      const after = text === this.#raw ? data : parsed(text)
      // The scanner and the parser may disagree. What the parser sees in the result must be what it saw before, masked.
      if (await this.#inTurns(isMasked(data, after))) return { text, data }
    } catch (error) {
      if (error instanceof BudgetError) throw error
    }
    throw new ConfigError()
  }

  async #inTurns<T>(steps: Generator<void, T>): Promise<T> {
    for (;;) {
      if (isTurnOver()) await this.#turn()
      const { done, value } = steps.next()
      if (done) return value
    }
  }

  async #turn(): Promise<void> {
    if (isTurnOver()) await yieldToEventLoop()
    if (this.#waiting.every(isOver)) throw new BudgetError()
  }
}

function parsed(text: string): TomlTable {
  try {
    return parse(text, { integersAsBigInt: 'asNeeded' })
  } catch (error) {
    throw error instanceof TomlError ? new ConfigError(error.line, error.column) : new ConfigError()
  }
}

/** Leaves that are compared in one go. */
const STRETCH = 128

/** Walks without recursion: `[a.a.a.…]` nests as deep as the file is long. */
function* isMasked(before: unknown, after: unknown): Generator<void, boolean> {
  const pairs: { one: unknown; two: unknown; secretKey: string | null }[] = [
    { one: before, two: after, secretKey: null },
  ]
  let count = 0
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    if (++count % STRETCH === 0) yield
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
        if (pairs.length % STRETCH === 0) yield
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
