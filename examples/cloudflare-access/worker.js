// Logs in an R2 bucket, for the people whom Cloudflare Access lets in. Access signs each request; the Worker checks it.
import { Hono } from 'hono'
import { verifyWithJwks } from 'hono/jwt'
import { createApp } from 'nodestate'
import { handle } from 'nodestate/cloudflare'
import { full } from 'nodestate/full'
import { r2Store } from 'nodestate/store/r2'

export default handle(({ BUCKET, TEAM: iss, AUD: aud }) => {
  // Without them, hono would accept any issuer and any audience.
  if (!iss || !aud) throw new Error('Set TEAM and AUD in wrangler.toml.')
  const options = {
    jwks_uri: `${iss}/cdn-cgi/access/certs`,
    allowedAlgorithms: /** @type {const} */ (['RS256']),
    verification: { iss, aud },
  }
  /** @type {RequestInit & { cf: object }} */
  const cache = { cf: { cacheTtl: 300, cacheEverything: true } }
  const verify = (token) => verifyWithJwks(token, options, cache).catch(() => ({ exp: undefined }))

  const app = new Hono()
  app.use(async (c, next) => {
    // hono accepts a token without an expiry.
    const { exp } = await verify(c.req.header('Cf-Access-Jwt-Assertion') ?? '')
    return exp ? next() : c.text('Sign in with Cloudflare Access.', 403)
  })
  return app.route('/', createApp({ logs: r2Store(BUCKET), config: '', with: full() }))
})
