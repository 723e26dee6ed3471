import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { handle as handleApp, type LambdaEvent } from '../../src/entry/aws-lambda.ts'
import type { LambdaEventV1, LambdaEventV2 } from '../../src/entry/lambda/event.ts'
import { lambdaHandler } from '../../src/entry/service/aws-lambda.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp } from '../support/app.ts'
import { type S3Server, startS3Server } from '../support/s3-server.ts'

const NODE = { hostIp: '192.0.2.4', hostName: 'db-4', grpcPort: 1, httpPort: 2, version: '1', onlineTime: 5 }
const BYTES = new Uint8Array([0x61, 0x00, 0xff, 0xfe, 0x0a, 0xc3, 0x28])
const hints = { token: 'set a token', home: 'set a home' }

let server: S3Server
beforeAll(async () => {
  server = await startS3Server()
  server.put('db-4/node.json', JSON.stringify(NODE))
  server.put('db-4/config.toml', 'a = 1\n')
  server.put('db-4/logs/a.log', '\ufefffirst é😀\tx\n"second"\n')
  server.put('db-4/logs/bytes.log', BYTES)
  server.put('db-4/logs/large.log', `${'x'.repeat(999)}\n`.repeat(7_000))
  server.put('db-4/logs/large-bytes.log', new Uint8Array(5_000_000).fill(0xff))
})
afterAll(() => server.close())

let logged: string[] = []
beforeEach(() => {
  logged = []
})

function handle(env: Record<string, string | undefined> = {}) {
  return lambdaHandler({
    env: {
      AWS_ENDPOINT_URL: server.endpoint,
      AWS_REGION: 'eu-central-1',
      NODESTATE_HOME: 's3://logs/db-4',
      NODESTATE_TOKEN: 'secret',
      ...env,
    },
    hints,
    followMillis: 0,
    log: (line) => logged.push(line),
  })
}

function event(
  path: string,
  more: { method?: string; headers?: Record<string, string>; stage?: string } = {},
): LambdaEventV2 {
  const [rawPath = '', rawQueryString = ''] = path.split('?')
  return {
    rawPath: more.stage ? `/${more.stage}${rawPath}` : rawPath,
    rawQueryString,
    headers: { authorization: 'Bearer secret', host: 'abc.lambda-url.example', ...more.headers },
    requestContext: {
      domainName: 'abc.lambda-url.example',
      stage: more.stage ?? '$default',
      http: { method: more.method ?? 'GET' },
    },
  }
}

describe('lambda', () => {
  it('answers a function URL', async () => {
    const result = await handle()(event('/api/v1/config'))
    expect(result).toMatchObject({ statusCode: 200, isBase64Encoded: false })
    expect(result.headers['content-type']).toBe('application/json')
    expect(JSON.parse(result.body)).toEqual({ config: 'a = 1\n', node: NODE })
  })

  it('answers an API Gateway with a stage in the path', async () => {
    const result = await handle()(event('/api/v1/log/list', { stage: 'prod' }))
    expect(result.statusCode).toBe(200)
    expect(JSON.parse(result.body).map((entry: { name: string }) => entry.name)).toContain('a.log')
  })

  it('gives text as it is, its byte order mark too', async () => {
    const result = await handle()(event('/api/v1/log/view?file=a.log'))
    expect(result).toMatchObject({ body: '\ufefffirst é😀\tx\n"second"\n', isBase64Encoded: false })
  })

  it('gives bytes that are no text as base64', async () => {
    const result = await handle()(event('/api/v1/log/view?file=bytes.log'))
    expect(result.isBase64Encoded).toBe(true)
    expect(new Uint8Array(Buffer.from(result.body, 'base64'))).toEqual(BYTES)
  })

  it('answers HEAD without a body, and other methods with 405', async () => {
    const head = await handle()(event('/api/v1/log/view?file=a.log', { method: 'HEAD' }))
    expect(head).toMatchObject({ statusCode: 200, body: '' })
    expect(head.headers.etag).toMatch(/^"/)
    expect(await handle()(event('/api/v1/log/list', { method: 'POST' }))).toMatchObject({ statusCode: 405 })
  })

  it('answers at the root of a stage, and takes a decoded path for a path', async () => {
    const root = event('', { stage: 'prod' })
    expect(root.rawPath).toBe('/prod')
    expect((await handle()(root)).headers['content-type']).toMatch(/^text\/html/)
    const path = { ...event('/'), rawPath: '/api/v1/log/list?file=#x' }
    expect(JSON.parse((await handle()(path)).body)).toMatchObject({ type: '/problems/unknown-path' })
  })

  it('answers what is no request with a problem, and never throws', async () => {
    for (const method of ['TRACE', 'CONNECT']) {
      const result = await handle()(event('/api/v1/log/list', { method }))
      expect([result.statusCode, result.headers.allow]).toEqual([405, 'GET, HEAD'])
    }
    const wrong = [
      {},
      { httpMethod: 'GET', path: '/' },
      event('/', { headers: { 'x-name': 'a\u{1f600}' } }),
      event('/', { headers: { host: 'a b' } }),
      event('/', { method: 'NO SUCH' }),
    ]
    for (const each of wrong) {
      const result = await handle()(each as LambdaEvent)
      expect(result.statusCode).toBe(400)
      expect(JSON.parse(result.body)).toMatchObject({ type: '/problems/bad-request' })
    }
    expect(logged.length).toBe(wrong.length)
  })

  it.each(['large.log', 'large-bytes.log'])('says what to ask for when %s does not fit', async (file) => {
    const whole = await handle()(event(`/api/v1/log/view?file=${file}&size=99999999`))
    expect(whole.statusCode).toBe(413)
    expect(JSON.parse(whole.body)).toMatchObject({ type: '/problems/answer-too-large' })
    const part = await handle()(event(`/api/v1/log/view?file=${file}&size=4000000`))
    expect(part.statusCode).toBe(200)
    expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThan(6 * 1024 * 1024)
  })

  it.each([{}, { accept: 'text/event-stream' }])('says that it cannot follow, to %j', async (headers) => {
    const result = await handle()(event('/api/v1/log/view?file=a.log&follow=true', { headers }))
    expect(result.statusCode).toBe(501)
    expect(JSON.parse(result.body)).toMatchObject({ type: '/problems/unsupported' })
  })

  it.each(['follow=true', 'follow=1', 'follow', 'follow='])(
    'says at once that an app of your own cannot follow: %s',
    async (query) => {
      const app = createApp({ logs: memoryStore({ 'a.log': 'one\n' }), config: '' })
      for (const headers of [{}, { accept: 'text/event-stream' }]) {
        const own = handleApp(app)
        const result = await own(event(`/api/v1/log/view?file=a.log&${query}`, { headers }))
        expect(result.statusCode).toBe(501)
        expect(JSON.parse(result.body)).toMatchObject({ type: '/problems/unsupported' })
        expect((await own(event('/api/v1/log/view?file=a.log&follow=false'))).body).toBe('one\n')
      }
    },
  )

  it('wants the token', async () => {
    const result = await handle()(event('/api/v1/config', { headers: { authorization: 'Bearer wrong' } }))
    expect(result.statusCode).toBe(401)
  })

  it.each([
    [{ NODESTATE_TOKEN: undefined }, 'set a token'],
    [{ NODESTATE_HOME: undefined }, 'set a home'],
    [{ NODESTATE_HOME: '/var/log' }, 'set a home'],
    [
      { NODESTATE_TOKENS: 'tokens.toml', NODESTATE_INSECURE: '1' },
      'NODESTATE_TOKENS must hold the text of a tokens file, because there are no files here. It is not valid TOML at line 1, column 1.',
    ],
    [
      { NODESTATE_TOKENS: '[[tokens]]\nname = "a"\ntoken = "hunter2"\nnode = "x"', NODESTATE_INSECURE: '1' },
      'NODESTATE_TOKENS must hold the text of a tokens file, because there are no files here. In token 1, there is an unknown key; the keys are name, token, scopes, files and nodes.',
    ],
  ])('refuses to answer with %j, and says what to set', async (env, detail) => {
    for (const path of ['/api/v1/config', '/', '/healthz']) {
      const result = await handle(env)(event(path))
      expect(result.statusCode).toBe(503)
      expect(JSON.parse(result.body)).toMatchObject({ type: '/problems/not-configured', detail })
    }
  })

  it.each([
    { NODESTATE_MAX_SIZE: 'hunter2' },
    { AWS_ACCESS_KEY_ID: 'hunter2' },
    { AWS_ENDPOINT_URL: 'hunter2' },
  ])('tells the log and not the client what is wrong with %j', async (env) => {
    const result = await handle(env)(event('/api/v1/config'))
    expect(result.statusCode).toBe(503)
    expect(result.body).not.toContain('hunter2')
    expect(logged.join()).toContain(Object.keys(env)[0]!.replace('ACCESS_KEY_ID', 'SECRET_ACCESS_KEY'))
  })

  it('takes the tables of a tokens file from NODESTATE_TOKENS', async () => {
    const tables = '[[tokens]]\nname = "ops"\ntoken = "ops"\nscopes = ["logs"]\nfiles = ["a*"]\n'
    const guarded = handle({ NODESTATE_TOKEN: undefined, NODESTATE_TOKENS: tables })
    const ask = async (path: string, token: string) =>
      (await guarded(event(path, { headers: { authorization: `Bearer ${token}` } }))).statusCode
    expect(await ask('/api/v1/log/view?file=a.log', 'ops')).toBe(200)
    expect(await ask('/api/v1/log/view?file=large.log', 'ops')).toBe(404)
    expect(await ask('/api/v1/config', 'ops')).toBe(403)
    expect(await ask('/api/v1/log/list', 'secret')).toBe(401)
  })

  it('answers without a token when that is wanted', async () => {
    const open = handle({ NODESTATE_TOKEN: undefined, NODESTATE_INSECURE: '1' })
    expect((await open(event('/api/v1/log/list', { headers: { authorization: '' } }))).statusCode).toBe(200)
  })
})

describe('an API Gateway REST API', () => {
  const rest = (path: string, more: Partial<LambdaEventV1> = {}): LambdaEventV1 => ({
    httpMethod: 'GET',
    path,
    headers: { Authorization: 'Bearer secret', Host: 'abc.execute-api.example' },
    requestContext: { stage: 'prod', domainName: 'abc.execute-api.example' },
    ...more,
  })

  it('gets its answers, with parameters that the gateway decoded', async () => {
    const result = await handle()(
      rest('/api/v1/log/view', { queryStringParameters: { file: 'a.log', q: '"second" & more' } }),
    )
    expect(result).toMatchObject({ statusCode: 200, body: '' })
    const found = await handle()(
      rest('/api/v1/log/view', {
        queryStringParameters: { file: 'a.log', q: 'ignored' },
        multiValueQueryStringParameters: { file: ['a.log'], q: ['"second"'] },
      }),
    )
    expect(found).toMatchObject({ statusCode: 200, body: '"second"\n' })
    expect(found.multiValueHeaders).toBeUndefined()
  })

  it('gets a parameter that was given twice as one that was given twice', async () => {
    const twice = rest('/api/v1/log/view', { multiValueQueryStringParameters: { file: ['a.log', 'b.log'] } })
    expect((await handle()(twice)).statusCode).toBe(400)
  })
})

describe('an Application Load Balancer', () => {
  const balanced = (path: string, more: Partial<LambdaEventV1> = {}): LambdaEventV1 => ({
    httpMethod: 'GET',
    path,
    headers: { authorization: 'Bearer secret', host: 'lb.example' },
    requestContext: { elb: { targetGroupArn: 'arn:x' } },
    ...more,
  })

  it('gets its answers, with parameters as the client wrote them', async () => {
    const query = { file: 'a.log', q: '%22second%22' }
    const result = await handle()(balanced('/api/v1/log/view', { queryStringParameters: query }))
    expect(result).toMatchObject({ statusCode: 200, body: '"second"\n' })
  })

  it('with several values of a header gets several values of a header', async () => {
    const result = await handle()(
      balanced('/api/v1/log/list', {
        headers: null,
        multiValueHeaders: { authorization: ['Bearer secret'], host: ['lb.example'] },
      }),
    )
    expect(result.statusCode).toBe(200)
    expect(result.multiValueHeaders?.['content-type']).toEqual(['application/json'])
  })

  it.each<[string, Partial<LambdaEventV1>, number]>([
    ['a follow', { queryStringParameters: { file: 'a.log', follow: 'true' } }, 501],
    ['a method that Fetch does not have', { httpMethod: 'TRACE' }, 405],
    ['a header that HTTP cannot carry', { multiValueHeaders: { accept: ['a\nb'] } }, 400],
  ])('with several values of a header gets them with a refusal: %s', async (_, more, status) => {
    const multiValueHeaders = { authorization: ['Bearer secret'], host: ['lb.example'] }
    const result = await handle()(balanced('/api/v1/log/view', { headers: null, multiValueHeaders, ...more }))
    expect(result.statusCode).toBe(status)
    expect(result.multiValueHeaders?.['content-type']).toEqual(['application/problem+json'])
  })

  it('is told what fits into its 1 MB', async () => {
    const ask = (size: string) =>
      handle()(balanced('/api/v1/log/view', { queryStringParameters: { file: 'large-bytes.log', size } }))
    const whole = await ask('5000000')
    expect(whole.statusCode).toBe(413)
    expect(JSON.parse(whole.body).detail).toContain('700000')
    const part = await ask('700000')
    expect(part.statusCode).toBe(200)
    expect(JSON.stringify(part).length).toBeLessThan(1024 * 1024)
  })
})

describe('handle(app)', () => {
  it("serves an app of one's own", async () => {
    const app = createApp({ logs: memoryStore({ 'x.log': 'hello\n' }), config: '' })
    const result = await handleApp(app)(event('/api/v1/log/view?file=x.log'))
    expect(result).toMatchObject({ statusCode: 200, body: 'hello\n' })
  })

  it('fails when the app throws', async () => {
    const app = { fetch: () => Promise.reject(new Error('of the app')) }
    await expect(handleApp(app)(event('/'))).rejects.toThrow('of the app')
  })
})
