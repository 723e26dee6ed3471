import { Problem } from './problem.ts'

/** Throws unless a request may be answered. */
export type Guard = (headers: Headers) => void

/** A guard for `Authorization: Bearer …`. */
export function tokenGuard(token: string): Guard {
  const expected = new TextEncoder().encode(token)
  return (headers) => {
    if (!equalInConstantTime(new TextEncoder().encode(bearerOf(headers)), expected)) throw wrongToken()
  }
}

/** The token of a request; throws a problem if it has none. */
export function bearerOf(headers: Headers): string {
  const header = headers.get('Authorization')
  const given = header === null ? undefined : /^Bearer +(\S+) *$/i.exec(header)?.[1]
  if (given !== undefined) return given
  throw new Problem('unauthorized', 'This service needs a token; send it as "Authorization: Bearer …".', {
    headers: { 'WWW-Authenticate': 'Bearer realm="nodestate"' },
  })
}

export function wrongToken(): Problem {
  return new Problem('unauthorized', 'This token is not valid here; check it and try again.', {
    headers: { 'WWW-Authenticate': 'Bearer realm="nodestate", error="invalid_token"' },
  })
}

export function outOfScope(scope: string): Problem {
  return new Problem(
    'forbidden',
    `This token does not have the scope ${scope}; use another token, or ask the operator for that scope.`,
    {
      headers: {
        'WWW-Authenticate': `Bearer realm="nodestate", error="insufficient_scope", scope="${scope}"`,
      },
    },
  )
}

/** A guard for the Host header; null without names, when any host is accepted. A name without a port covers every port. */
export function hostGuard(names: readonly string[]): Guard | null {
  if (names.length === 0) return null
  const allowed = new Set(names.map((name) => name.toLowerCase()))
  return (headers) => {
    const host = headers.get('Host')?.toLowerCase() ?? ''
    const name = host.replace(/:\d*$/, '')
    if (allowed.has(host) || allowed.has(name) || allowed.has(name.replace(/^\[(.*)\]$/, '$1'))) return
    throw new Problem(
      'unknown-host',
      'This service does not accept that host name; use one that its operator allows.',
    )
  }
}

/** Compares in constant time; the time reveals only the length of what was sent. */
export function equalInConstantTime(given: Uint8Array, expected: Uint8Array): boolean {
  let difference = given.length ^ expected.length
  for (let i = 0; i < given.length; i++) difference |= given[i]! ^ (expected[i % expected.length] ?? 0)
  return difference === 0
}
