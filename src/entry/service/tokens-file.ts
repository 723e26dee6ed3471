import { readFileSync, statSync } from 'node:fs'
import type { Token } from '../../core/access/grant.ts'
import type { TokenSource } from '../../core/access/guard.ts'
import { parseTokens, TokensError } from '../../core/access/tokens.ts'
import { codeOf, reasonOf } from '../settings/reason.ts'
import { SettingsError, shown } from '../settings/row.ts'

/**
 * The tokens of a file, read again whenever it changes: written in place, or renamed into place. One stat per request,
 * some 3 µs, needs no watcher and notices a change with the next request. A file that breaks later is reported once
 * and changes nothing: the tokens that were valid stay valid, and no others become valid. A file without tokens refuses
 * every request. Throws a SettingsError when it cannot be used at the start.
 */
export function tokensFile(path: string, report: (line: string) => void): TokenSource {
  let version = versionOf(path)
  let last = readOrRefuse(path)
  let complaint: string | null = null
  return () => {
    const present = versionOf(path)
    if (present === version) return last.tokens
    version = present
    try {
      const text = readText(path)
      // It may be about to be written; if it stays empty, nobody gets in.
      if (text === '' && isYoung(present)) throw new TokensError('It is empty.')
      if (text !== last.text) {
        last = { text, tokens: parseTokens(text, { allowNone: true }) }
        report(`The tokens file was read again; it has ${counted(last.tokens.length)}.`)
      }
      complaint = null
    } catch (error) {
      const line = `Cannot use the tokens file ${shown(path)}, so its last tokens stay valid: ${why(error)}`
      const isNew = line !== complaint
      // First: who writes the line asks for the tokens, which it must not show.
      complaint = line
      if (isNew) report(line)
    }
    return last.tokens
  }
}

/** Two writes within one tick of the file system's clock look alike: a file this young is read again. */
const YOUNG_MS = 100

function isYoung(version: string): boolean {
  return version.split('/').length > 4
}

function versionOf(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
    const age = Date.now() - Number(ctimeNs / 1_000_000n)
    const young = age >= 0 && age < YOUNG_MS ? `/${performance.now()}` : ''
    return `${ino}/${size}/${mtimeNs}/${ctimeNs}${young}`
  } catch (error) {
    return codeOf(error) ?? 'unknown'
  }
}

function readOrRefuse(path: string): { text: string; tokens: readonly Token[] } {
  // A worker takes the text itself. Here it is a mistake, and showing it would show the tokens.
  if (/\n|\btoken\s*=/.test(path))
    throw new SettingsError('usage', 'Cannot use --tokens: it must be the path of a file.')
  try {
    const text = readText(path)
    return { text, tokens: parseTokens(text) }
  } catch (error) {
    throw new SettingsError('file', `Cannot use --tokens ${shown(path)}: ${why(error)}`, { cause: error })
  }
}

/** A pipe can be read only once, and a FIFO waits for a writer. */
function readText(path: string): string {
  if (!statSync(path).isFile()) throw new TokensError('It is not a regular file.')
  return readFileSync(path, 'utf8')
}

function why(error: unknown): string {
  return error instanceof TokensError ? error.message : `${reasonOf(error)}.`
}

function counted(tokens: number): string {
  return tokens === 1 ? '1 token' : `${tokens} tokens`
}
