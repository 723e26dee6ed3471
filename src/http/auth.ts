import { Problem } from './problem.ts'

/** Throws unless the request carries the token. */
export type Guard = (headers: Headers) => void

/** A guard for `Authorization: Bearer …`; without a token it lets everyone in. */
export function tokenGuard(token: string | undefined): Guard {
  if (token === undefined) return () => {}
  const expected = new TextEncoder().encode(token)
  return (headers) => {
    const header = headers.get('Authorization')
    const given = header === null ? undefined : /^Bearer +(\S+) *$/i.exec(header)?.[1]
    if (given === undefined)
      throw unauthorized(
        'Send the token of this service as "Authorization: Bearer …".',
        'Bearer realm="nodestate"',
      )
    if (!equalInConstantTime(new TextEncoder().encode(given), expected))
      throw unauthorized(
        'The token is not the one of this service; check it and send it again.',
        'Bearer realm="nodestate", error="invalid_token"',
      )
  }
}

/** A guard for the Host header; without names any host is answered. A name without a port stands for every port. */
export function hostGuard(names: readonly string[]): Guard {
  if (names.length === 0) return () => {}
  const allowed = new Set(names.map((name) => name.toLowerCase()))
  return (headers) => {
    const host = headers.get('Host')?.toLowerCase() ?? ''
    const name = host.replace(/:\d*$/, '')
    if (allowed.has(host) || allowed.has(name) || allowed.has(name.replace(/^\[(.*)\]$/, '$1'))) return
    throw new Problem(
      'unknown-host',
      'This service is not known by that host name; ask for it by a name it allows.',
    )
  }
}

function unauthorized(detail: string, challenge: string): Problem {
  return new Problem('unauthorized', detail, { headers: { 'WWW-Authenticate': challenge } })
}

/** Takes as long for a wrong first byte as for a wrong last one; only the given length shows in the time. */
function equalInConstantTime(given: Uint8Array, expected: Uint8Array): boolean {
  let difference = given.length ^ expected.length
  for (let i = 0; i < given.length; i++) difference |= given[i]! ^ (expected[i % expected.length] ?? 0)
  return difference === 0
}
