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
