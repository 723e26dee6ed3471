import { get as getPlain } from 'node:http'
import { get as getSecure } from 'node:https'

/** Whether the service at a port of this machine answers, with or without TLS. */
export async function isHealthy(port: string): Promise<boolean> {
  // The certificate names the host, not loopback, and identity does not matter here.
  const where = { host: '127.0.0.1', port, path: '/healthz', timeout: 2000, rejectUnauthorized: false }
  const answers = (get: typeof getPlain): Promise<boolean> =>
    new Promise((resolve) => {
      const request = get(where, (answer) => {
        answer.resume()
        resolve(answer.statusCode === 200)
      })
      request.on('timeout', () => request.destroy())
      request.on('error', () => resolve(false))
      request.on('close', () => resolve(false))
    })
  return (await answers(getPlain)) || answers(getSecure as typeof getPlain)
}
