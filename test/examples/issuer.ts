import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sign } from 'hono/jwt'

/** An identity provider on loopback: real keys, and an address that shows the public ones. */
export interface Issuer {
  url: string
  /** How often the keys were fetched. */
  fetched(): number
  /** Tokens that must be accepted for `audience`. */
  right(audience: string): Promise<Named[]>
  /** Tokens that must be refused. */
  wrong(audience: string): Promise<Named[]>
  stop(): Promise<void>
}
type Named = [title: string, token: string]

const RS = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }

/** Starts one whose public keys are at `path`. */
export async function startIssuer(path: string): Promise<Issuer> {
  const mine = await rsaKey('RS256', 'SHA-256')
  const foreign = await rsaKey('RS256', 'SHA-256')
  const longer = await rsaKey('RS512', 'SHA-512')
  const published = [publicKey(mine, 'one'), publicKey(longer, 'two')]
  let fetched = 0
  const server = createServer((request, response) => {
    fetched++
    response.writeHead(request.url === path ? 200 : 404, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ keys: published }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const now = Math.floor(Date.now() / 1000)
  const by = (key: JsonWebKey, kid: string, claims: object) =>
    sign({ ...claims }, { ...key, kid } as Parameters<typeof sign>[1])
  const claimsFor = (aud: string) => ({ iss: url, aud, sub: 'ops', iat: now - 10, exp: now + 600 })

  return {
    url,
    fetched: () => fetched,
    async right(audience) {
      const claims = claimsFor(audience)
      return [
        ['one audience', await by(mine, 'one', claims)],
        ['several audiences', await by(mine, 'one', { ...claims, aud: ['other', audience] })],
      ]
    },
    async wrong(audience) {
      const claims = claimsFor(audience)
      const { iss: _, ...withoutIssuer } = claims
      const { aud: __, ...withoutAudience } = claims
      const { exp: ___, ...withoutExpiry } = claims
      const [head, , signature] = (await by(mine, 'one', claims)).split('.')
      const forged = part({ ...claims, sub: 'root' })
      return [
        ['another issuer', await by(mine, 'one', { ...claims, iss: 'https://login.example.com' })],
        ['no issuer', await by(mine, 'one', withoutIssuer)],
        ['another audience', await by(mine, 'one', { ...claims, aud: 'other' })],
        ['no audience', await by(mine, 'one', withoutAudience)],
        ['an expiry in the past', await by(mine, 'one', { ...claims, exp: now - 5 })],
        ['no expiry', await by(mine, 'one', withoutExpiry)],
        ['a time before which it is not valid', await by(mine, 'one', { ...claims, nbf: now + 600 })],
        ['the signature of another key', await by(foreign, 'one', claims)],
        ['an unknown key', await by(foreign, 'three', claims)],
        ['claims that were changed', `${head}.${forged}.${signature}`],
        ['a published key of an algorithm that is not allowed', await by(longer, 'two', claims)],
        ['no algorithm', `${part({ alg: 'none', typ: 'JWT', kid: 'one' })}.${part(claims)}.`],
        ['the public key as a shared secret', await sharedSecret(published[0]!, claims)],
        ['nothing that is a token', 'abc'],
      ]
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

async function rsaKey(alg: string, hash: string): Promise<JsonWebKey> {
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash, ...RS }
  const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const { kty, n, e, d, p, q, dp, dq, qi } = await crypto.subtle.exportKey('jwk', pair.privateKey)
  return { kty, n, e, d, p, q, dp, dq, qi, alg } as JsonWebKey
}

function publicKey({ kty, n, e, alg }: JsonWebKey, kid: string) {
  return { kty, n, e, alg, kid, use: 'sig' }
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The classic forgery: HS256 with what everyone may know. */
async function sharedSecret(key: object, claims: object): Promise<string> {
  const text = `${part({ alg: 'HS256', typ: 'JWT', kid: 'one' })}.${part(claims)}`
  const secret = new TextEncoder().encode(JSON.stringify(key))
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', secret, hmac, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', imported, new TextEncoder().encode(text))
  return `${text}.${Buffer.from(signature).toString('base64url')}`
}
