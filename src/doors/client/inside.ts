import { shareId } from '../../kit/observe/request-id.ts'
import { type Client, createClient } from '../client.ts'

/** Sends a request to the app itself, from the same client as the request that is answered. */
export type Inside = (request: Request) => Response | Promise<Response>

/** A request to the app itself, from the client of `request`, with its token. */
export function insideRequest(
  request: Request,
  url: URL,
  { method = 'GET', headers, signal }: RequestInit = {},
): Request {
  const all = new Headers(headers)
  for (const name of ['Authorization', 'Host']) {
    const value = request.headers.get(name)
    if (value !== null) all.set(name, value)
  }
  const inside = new Request(url, { method, headers: all, signal: signal ?? request.signal })
  shareId(request, inside)
  return inside
}

/** Clients of the app itself, and of a node of its fleet: they may see what the token of `request` may. */
export function insideClients(
  request: Request,
  send: Inside,
): { client: Client; nodeClient(id: string): Client } {
  const fetch = async (url: string | URL | Request, init?: RequestInit) =>
    send(insideRequest(request, new URL(String(url)), init))
  const { origin } = new URL(request.url)
  const clientAt = (path: string) =>
    createClient({ base: `${origin}/${path}`, fetch: fetch as typeof globalThis.fetch })
  return {
    client: clientAt(''),
    nodeClient: (id) => clientAt(`nodes/${encodeURIComponent(id)}/`),
  }
}
