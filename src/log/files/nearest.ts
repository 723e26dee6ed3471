import { suggestion } from '../../kit/suggestion.ts'
import type { Entry } from '../../store/store.ts'
import { LogError } from '../error.ts'

/** How many names are compared with a misspelt one: 10 ms of work. */
const COMPARED = 1000

/** The problem of a name that no file has, with the nearest name among those that the client may see. */
export function noSuchFile(name: string, entries: readonly Entry[]): LogError {
  const reach = Math.max(1, Math.floor(name.length / 3))
  const near = entries
    .map(({ key }) => key)
    .filter((key) => Math.abs(key.length - name.length) <= reach || key.startsWith(name))
  const hint = suggestion(name, near.slice(0, COMPARED)) || '; take a name from the list of logs.'
  return new LogError('unknown-file', `There is no log file with this name${hint}`)
}

/** Whether a problem says that there is no such file. */
export function isUnknownFile(error: unknown): boolean {
  return error instanceof LogError && error.code === 'unknown-file'
}
