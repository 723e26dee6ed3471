import type { TLSSocket } from 'node:tls'

/** The name of each connection's client, which a handshake settles. */
const names = new WeakMap<object, string | null>()
/** Longer names are cut: each line of the logs has one. */
const LONGEST = 100

/** The name in the client certificate of a request, if the connection has one that the server trusts; otherwise null. */
export function certificateName(bindings: unknown): string | null {
  const { incoming } = (bindings ?? {}) as { incoming?: { socket?: TLSSocket } }
  const socket = incoming?.socket
  if (socket?.authorized !== true) return null
  let name = names.get(socket)
  if (name === undefined) {
    name = nameIn(socket)
    names.set(socket, name)
  }
  return name
}

function nameIn(socket: TLSSocket): string | null {
  const { subject, serialNumber } = socket.getPeerCertificate()
  if (!subject) return null
  // A subject may have several common names, whatever the types say.
  const common = [subject.CN as string | string[] | undefined].flat().filter(Boolean).join(' ')
  return (common || `serial ${serialNumber}`).slice(0, LONGEST)
}
