import { bearerOf, equalInConstantTime, wrongToken } from '../http/auth.ts'
import { EVERYTHING, type Grant, SCOPES, type Token } from './grant.ts'

/** Where tokens come from: called for every request, so it must return the same array while nothing has changed. */
export type TokenSource = () => readonly Token[] | Promise<readonly Token[]>

interface Known {
  digest: Uint8Array
  grant: Grant
}

/**
 * A guard for several tokens: returns the grant of the request's token, or throws a problem. `single` allows everything.
 * Only digests are compared, all of them in constant time, so the time reveals nothing about any token.
 */
export function accessGuard(tokens: TokenSource, single?: string): (headers: Headers) => Promise<Grant> {
  const prepared = new WeakMap<readonly Token[], Promise<Known[]>>()
  const alone = single === undefined ? null : sha256(single)
  return async (headers) => {
    const given = await sha256(bearerOf(headers))
    const list = await tokens()
    let known = prepared.get(list)
    if (known === undefined) {
      known = Promise.all(list.map(prepare))
      prepared.set(list, known)
    }
    let grant: Grant | null = null
    for (const { digest, grant: its } of await known) if (equalInConstantTime(given, digest)) grant = its
    if (alone !== null && equalInConstantTime(given, await alone)) grant = EVERYTHING
    if (grant === null) throw wrongToken()
    return grant
  }
}

async function prepare({ name, token, scopes, files, nodes }: Token): Promise<Known> {
  const hex = /^sha256:([\da-f]{64})$/i.exec(token)?.[1]
  const digest = hex === undefined ? await sha256(token) : bytesOf(hex)
  const grant = { name, scopes: new Set(scopes ?? SCOPES), files: files ?? null, nodes: nodes ?? null }
  return { digest, grant }
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) =>
    Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16),
  )
}
