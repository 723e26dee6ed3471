import { setOwner } from '../limits/concurrency-limit.ts'
import { addressOf, networkOf } from './peer.ts'

/** Kept on the request itself, which is cheaper than a WeakMap. */
const NAME = Symbol('name')
const BINDINGS = Symbol('bindings')

interface Called {
  [NAME]?: string
  [BINDINGS]?: unknown
}

/** Remembers who a request is from: the name of its token if it has one, and what the server knows of the client. */
export function setCaller(request: Request & Called, name: string | null, bindings: unknown): void {
  if (name !== null) request[NAME] = name
  request[BINDINGS] = bindings
}

/**
 * Makes a request wait fairly for slots: as its token, or else as its address. Only requests that may wait are claimed,
 * because making the signal of a request costs Node more than a short tail needs.
 */
export function claim(request: Request & Called, signal: AbortSignal = request.signal): void {
  const name = request[NAME]
  const address = name === undefined ? addressOf(request[BINDINGS]) : null
  if (name !== undefined) setOwner(signal, `token ${name}`)
  else if (address !== null) setOwner(signal, `address ${networkOf(address)}`)
}
