import { type Client, createClient } from '../../client.ts'
import { token } from './token.ts'

/** A client for what is mounted at an address, with the token of this tab. */
export function clientAt(base: URL): Client {
  return createClient({ base, token: () => token.get() })
}
