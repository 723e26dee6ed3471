// Single sign-on: a request needs a JWT that your identity provider signed for this service.
//   ISSUER=https://login.example.com AUDIENCE=nodestate node server.js
import { Hono } from 'hono'
import { jwk } from 'hono/jwk'
import { createApp } from 'nodestate'
import { full } from 'nodestate/full'
import { serve } from 'nodestate/node'
import { fsStore } from 'nodestate/store/fs'

const { ISSUER: iss, AUDIENCE: aud, LOGS = '/var/log/lindb', PORT = 9000 } = process.env
// Without them, hono would accept any issuer and any audience.
if (!iss || !aud) throw new Error('Set ISSUER and AUDIENCE.')

/** @type {Hono<{ Variables: import('hono/jwt').JwtVariables }>} */
const app = new Hono()
app.use(jwk({ keys, alg: ['RS256', 'ES256'], verification: { iss, aud }, realm: 'nodestate' }))
// hono accepts a token without an expiry.
app.use(async (c, next) => (c.get('jwtPayload').exp ? next() : c.text('Unauthorized', 401)))
app.route('/', createApp({ logs: fsStore(LOGS), config: '', with: full() }))
console.log((await serve(app, { port: Number(PORT) })).url)

/** The issuer's keys, fetched at most every five minutes; with `jwks_uri`, hono would fetch them for every request. */
let cached = { keys: [], until: 0 }
async function keys() {
  if (Date.now() < cached.until) return cached.keys
  const response = await fetch(`${iss}/.well-known/jwks.json`)
  if (!response.ok) throw new Error(`The issuer answered ${response.status}.`)
  cached = { keys: (await response.json()).keys, until: Date.now() + 300_000 }
  return cached.keys
}
