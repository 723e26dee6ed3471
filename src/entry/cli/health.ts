// The health check of a container: whether the service on this machine answers, with or without TLS.
import { get as getPlain } from 'node:http'
import { get as getSecure } from 'node:https'
import process from 'node:process'

const port = process.argv[2] ?? process.env.NODESTATE_PORT ?? '9000'
// The certificate names the host, not loopback, and identity does not matter here.
const where = { host: '127.0.0.1', port, path: '/healthz', timeout: 2000, rejectUnauthorized: false }

function isHealthy(get: typeof getPlain): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(where, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(false))
    request.on('close', () => resolve(false))
  })
}

const healthy = (await isHealthy(getPlain)) || (await isHealthy(getSecure as typeof getPlain))
process.exit(healthy ? 0 : 1)
