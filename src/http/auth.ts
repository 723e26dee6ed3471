import { Problem } from './problem.ts'

/** Throws unless the request carries the token. */
export type Guard = (headers: Headers) => void

/** A guard for `Authorization: Bearer …`; without a token it admits everyone. */
export function tokenGuard(token: string | undefined): Guard {
  if (token === undefined) return () => {}
  const expected = new TextEncoder().encode(token)
  return (headers) => {
    const header = headers.get('Authorization')
    const given = header === null ? undefined : /^Bearer +(\S+) *$/i.exec(header)?.[1]
    if (given === undefined)
      throw unauthorized(
        'This service needs a token; send it as "Authorization: Bearer …".',
        'Bearer realm="nodestate"',
      )
    if (!equalInConstantTime(new TextEncoder().encode(given), expected))
      throw unauthorized(
        'This token is not valid here; check it and try again.',
        'Bearer realm="nodestate", error="invalid_token"',
      )
  }
}

/** A guard for the Host header; without names, any host is accepted. A name without a port covers every port. */
export function hostGuard(names: readonly string[]): Guard {
  if (names.length === 0) return () => {}
  const allowed = new Set(names.map((name) => name.toLowerCase()))
  return (headers) => {
    const host = headers.get('Host')?.toLowerCase() ?? ''
    const name = host.replace(/:\d*$/, '')
    if (allowed.has(host) || allowed.has(name) || allowed.has(name.replace(/^\[(.*)\]$/, '$1'))) return
    throw new Problem(
      'unknown-host',
      'This service does not answer to that host name; use a name that its operator allows.',
    )
  }
}

function unauthorized(detail: string, challenge: string): Problem {
  return new Problem('unauthorized', detail, { headers: { 'WWW-Authenticate': challenge } })
}

/** Takes as long for a wrong first byte as for a wrong last one; the time reveals only the length of what was sent. */
function equalInConstantTime(given: Uint8Array, expected: Uint8Array): boolean {
  let difference = given.length ^ expected.length
  for (let i = 0; i < given.length; i++) difference |= given[i]! ^ (expected[i % expected.length] ?? 0)
  return difference === 0
}
