import { setOwner } from '../../kit/limits/concurrency-limit.ts'
import { HOP } from '../../store/peer/hop.ts'
import { Problem } from './problem.ts'

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

/** Whether a request came from a coordinator: it is answered from the node's own logs only. */
export function isPeerRequest({ headers }: Request): boolean {
  return headers.has(HOP)
}

/** Throws if a coordinator asks for other nodes: two that name each other would ask for ever. */
export function refusePeerRequest(request: Request): void {
  if (isPeerRequest(request))
    throw new Problem('loop', 'This request came from a coordinator; ask this service for its own logs only.')
}

/** An answer without a parameter that a coordinator gave would be a wrong one. */
export function unknownToPeer(): Problem {
  return new Problem(
    'bad-parameter',
    'This version does not know one of the parameters, and a coordinator must not take its answer for one that does; ask without it.',
  )
}

/** What a server passes beside a request, as far as its client is concerned: Node's bindings, or an address. */
interface Bindings {
  address?: unknown
  incoming?: { socket?: { remoteAddress?: string | undefined } }
}

/** The address of the client, or of the proxy in front of it; null where the runtime does not say. */
export function addressOf(bindings: unknown): string | null {
  const { address, incoming } = (bindings ?? {}) as Bindings
  const found = address ?? incoming?.socket?.remoteAddress
  if (typeof found !== 'string' || found === '') return null
  // A socket that listens on IPv6 has IPv4 clients, too.
  return found.replace(/^::ffff:(?=[\d.]+$)/i, '')
}

/** What one client can be told from others by: an IPv4 address, or the 64 bits of an IPv6 address that a site is given. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [start = '', end] = address.replace(/%.*$/, '').toLowerCase().split('::')
  const groups = start === '' ? [] : start.split(':')
  const last = end === undefined || end === '' ? [] : end.split(':')
  if (end !== undefined)
    groups.push(...Array(Math.max(0, 8 - groups.length - last.length)).fill('0'), ...last)
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
