import { parse, TomlError } from 'smol-toml'
import { includeFilter } from '../../log/files/include.ts'
import { SCOPES, type Scope, type Token } from './grant.ts'

/** A tokens file that cannot be used. The message says where and what to do, and quotes nothing: it holds secrets. */
export class TokensError extends Error {
  override readonly name = 'TokensError'
}

/** A name goes into a log line: no control or format characters. */
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u

/**
 * Parses a tokens file: TOML with `[[tokens]]`. Anything unknown is refused, because a guess might grant access. Without
 * tokens it is refused, too, unless `allowNone`: then nobody gets in.
 */
export function parseTokens(text: string, { allowNone = false } = {}): Token[] {
  const { tokens, ...others } = parseToml(text)
  if (Object.keys(others).length > 0) throw new TokensError('It may only have [[tokens]] tables.')
  if (allowNone && (tokens === undefined || (Array.isArray(tokens) && tokens.length === 0))) return []
  if (!Array.isArray(tokens) || tokens.length === 0)
    throw new TokensError('It has no tokens; add a [[tokens]] table for each.')
  const found = tokens.map((table: unknown, i) => tokenOf(table, `token ${i + 1}`))
  for (const key of ['name', 'token'] as const)
    if (new Set(found.map((token) => token[key])).size < found.length)
      throw new TokensError(`Two tokens have the same ${key}; each needs its own.`)
  return found
}

function parseToml(text: string): Record<string, unknown> {
  try {
    return parse(text)
  } catch (error) {
    const where = error instanceof TomlError ? ` at line ${error.line}, column ${error.column}` : ''
    throw new TokensError(`It is not valid TOML${where}.`)
  }
}

function tokenOf(table: unknown, which: string): Token {
  if (typeof table !== 'object' || table === null || Array.isArray(table))
    throw new TokensError(`In ${which}, expected a table.`)
  const { name, token, scopes, files, nodes, ...others } = table as Record<string, unknown>
  if (Object.keys(others).length > 0)
    throw new TokensError(
      `In ${which}, there is an unknown key; the keys are name, token, scopes, files and nodes.`,
    )
  if (typeof name !== 'string' || !NAME.test(name))
    throw new TokensError(`In ${which}, the name must be a text of 1 to 100 printable characters.`)
  if (typeof token !== 'string' || !isToken(token))
    throw new TokensError(
      `In ${which}, the token must be sha256: and 64 hex digits, or printable ASCII without spaces.`,
    )
  return {
    name,
    token: token.startsWith('sha256:') ? token.toLowerCase() : token,
    ...(scopes !== undefined && { scopes: scopesOf(scopes, which) }),
    ...(files !== undefined && { files: patternsOf(files, which, 'files', 'broker*.log') }),
    ...(nodes !== undefined && { nodes: patternsOf(nodes, which, 'nodes', 'db-*') }),
  }
}

function isToken(token: string): boolean {
  if (/^sha256:/i.test(token)) return /^sha256:[\da-f]{64}$/i.test(token)
  return /^[\x21-\x7e]+$/.test(token)
}

function scopesOf(value: unknown, which: string): Scope[] {
  const isScope = (one: unknown): one is Scope => (SCOPES as readonly unknown[]).includes(one)
  if (Array.isArray(value) && value.every(isScope)) return value
  throw new TokensError(`In ${which}, scopes must be a list of ${SCOPES.join(', ')}.`)
}

function patternsOf(value: unknown, which: string, key: string, example: string): string[] {
  const isPattern = (one: unknown): one is string => typeof one === 'string' && one !== ''
  if (!Array.isArray(value) || !value.every(isPattern))
    throw new TokensError(`In ${which}, ${key} must be a list of shell patterns such as "${example}".`)
  try {
    includeFilter(value)
  } catch {
    throw new TokensError(`In ${which}, the braces of a pattern expand to too many names.`)
  }
  return value
}
