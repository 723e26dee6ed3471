import { suggestion } from './kit/suggestion.ts'
import type { FollowOptions, Limits } from './log/options.ts'

/** Every name of some options. */
export type Names<T> = { readonly [N in keyof Required<T>]: true }

const LIMITS: Names<Limits> = {
  maxSize: true,
  scanBytes: true,
  scanMillis: true,
  scans: true,
  archiveBytes: true,
  windowBytes: true,
  parallelReads: true,
  sources: true,
  memory: true,
}
const FOLLOW: Names<FollowOptions> = {
  followers: true,
  maxMillis: true,
  pollMillis: true,
  shared: true,
  heartbeatMillis: true,
}

/** Options whose absence opens something: `token: env.TOKEN` without the variable must not serve logs to everyone. */
const PROTECTING = ['token', 'tokens', 'identify', 'allowHosts', 'include']

/**
 * Checks the options of an app or a fleet that a typo or a missing variable makes dangerous or useless: `names` are all
 * that there are, `store` is the one with the store, if it needs one. Throws a TypeError with a sentence that names the option.
 */
export function checkOptions<T extends object>(
  options: T,
  names: Names<T>,
  store: (keyof T & string) | null,
): void {
  const given = options as Readonly<Record<string, unknown>>
  checkNames(given, names)
  const { list, stat, read } = ((store && given[store]) ?? {}) as Readonly<Record<string, unknown>>
  if (store !== null && ![list, stat, read].every((method) => typeof method === 'function'))
    throw refused(store, "it must be a store, such as fsStore('/var/log/db') of nodestate/store/fs")
  if ('config' in names && typeof given.config !== 'string' && typeof given.config !== 'function')
    throw refused('config', 'it must be TOML text, or a function that returns it')
  for (const name of PROTECTING)
    if (Object.hasOwn(given, name) && (given[name] === undefined || given[name] === null))
      throw refused(name, `it is ${given[name]}; give it a value, or leave it out`)
  const { token, tokens, limits, follow } = given
  if (token !== undefined && !(typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)))
    throw refused('token', 'it must be printable ASCII without spaces, and not empty')
  if (tokens !== undefined && typeof tokens !== 'function')
    throw refused('tokens', 'it must be a function that returns the tokens')
  if (given.identify !== undefined && typeof given.identify !== 'function')
    throw refused('identify', 'it must be a function that returns a name or null')
  for (const name of ['allowHosts', 'include', 'corsOrigins'])
    if (given[name] !== undefined && !isTexts(given[name])) throw refused(name, 'it must be a list of texts')
  if (limits) checkNames(limits, LIMITS, 'limits.')
  if (follow) checkNames(follow, FOLLOW, 'follow.')
}

function checkNames(given: unknown, names: object, where = ''): void {
  if (typeof given !== 'object' || given === null)
    throw where === ''
      ? new TypeError('Cannot create the app: pass an object with its options, such as { logs, config }.')
      : refused(where.slice(0, -1), 'it must be an object')
  const known = Object.keys(names)
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const hint = suggestion(unknown, known) || `; the options are ${known.join(', ')}.`
  throw new TypeError(`Unknown option ${JSON.stringify(where + unknown)}${hint}`)
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function refused(name: string, reason: string): TypeError {
  return new TypeError(`Cannot use the option ${name}: ${reason}.`)
}
