import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openBucket } from '../../../src/entry/service/open-bucket.ts'

let server: Server
let endpoint: string
let asked: { url: string; headers: IncomingHttpHeaders }[] = []
beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push({ url: request.url!, headers: request.headers })
    response.writeHead(200, {
      ETag: '"1"',
      'Last-Modified': 'Thu, 01 Jan 2026 00:00:00 GMT',
      'Content-Length': 3,
    })
    response.end('abc')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())
beforeEach(() => {
  asked = []
})

const KEYS = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret' }

async function read(env: Record<string, string>) {
  const read = await openBucket({ scheme: 's3', bucket: 'logs', prefix: 'db 4' }, env, {
    below: 'logs',
  }).read('a+b.log')
  expect(Buffer.from(read!.body as Uint8Array).toString()).toBe('abc')
  expect(asked.length).toBe(1)
  const { url, headers } = asked[0]!
  const scope = /Credential=AKID\/\d{8}\/([^/]+)\/s3\/aws4_request/.exec(headers.authorization ?? '')?.[1]
  return { url, headers, scope }
}

describe('the AWS_ variables', () => {
  it('name the service, the region and the credentials', async () => {
    const { url, headers, scope } = await read({
      ...KEYS,
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: 'eu-central-1',
    })
    expect([url, scope]).toEqual(['/logs/db%204/logs/a%2Bb.log', 'eu-central-1'])
    expect(headers['x-amz-security-token']).toBeUndefined()
  })

  it('of S3 alone, and of the region proper, are stronger', async () => {
    const { scope } = await read({
      ...KEYS,
      AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_DEFAULT_REGION: 'us-west-2',
      AWS_REGION: 'eu-central-1',
    })
    expect(scope).toBe('eu-central-1')
  })

  it('that are empty count as not there', async () => {
    const { headers, scope } = await read({
      ...KEYS,
      AWS_ENDPOINT_URL: endpoint,
      AWS_ENDPOINT_URL_S3: '',
      AWS_REGION: '',
      AWS_DEFAULT_REGION: 'us-west-2',
      AWS_SESSION_TOKEN: '',
    })
    expect(scope).toBe('us-west-2')
    expect(headers['x-amz-security-token']).toBeUndefined()
  })

  it('bring a session token, which is signed too', async () => {
    const { headers } = await read({ ...KEYS, AWS_ENDPOINT_URL: endpoint, AWS_SESSION_TOKEN: 'session' })
    expect(headers['x-amz-security-token']).toBe('session')
    expect(headers.authorization).toMatch(/SignedHeaders=[^,]*x-amz-security-token/)
  })

  it('without credentials leave a request unsigned, whatever else is set', async () => {
    const { headers } = await read({ AWS_ENDPOINT_URL: endpoint, AWS_SESSION_TOKEN: 'session' })
    expect(headers.authorization).toBeUndefined()
    expect(Object.keys(headers).filter((name) => name.startsWith('x-amz-'))).toEqual([])
  })
})
