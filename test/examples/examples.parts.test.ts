import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { partsFolder } from '../parts/parts.mjs'
import { bucketWriter } from '../support/bucket.ts'
import { type Running, start } from '../support/child.ts'
import { type Flare, placeOf, startMiniflare } from '../support/miniflare.ts'
import { type Project, packedProject } from '../support/packed.ts'
import { lacking, part } from '../support/parts.ts'
import { type Issuer, startIssuer } from './issuer.ts'

const modules = join(partsFolder, 'node_modules')
const noExpress = existsSync(join(modules, 'express'))
  ? null
  : lacking('express is not installed: run npm run test:all')
const noFlare =
  (['wrangler', 'miniflare', 'workerd', 'node'] as const).map((name) => part(name).missing).find(Boolean) ??
  null
const title = (text: string, missing: string | null) => (missing ? `${text} (${missing})` : text)

const VIEW = '/api/v1/log/view?file=a.log'
let project: Project
const at = (path: string) => join(project.folder, 'examples', path)
beforeAll(() => {
  project = packedProject()
  cpSync('examples', join(project.folder, 'examples'), { recursive: true })
  mkdirSync(join(project.folder, 'logs'))
  writeFileSync(join(project.folder, 'logs/a.log'), 'hello\n')
})
afterAll(() => project?.remove())

const running: Running[] = []
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop()
})

/** Runs an example as its first comment says; the address that it prints. */
async function run(file: string, env: Record<string, string>): Promise<string> {
  const child = await start(process.execPath, [at(file)], {
    env: { PATH: process.env.PATH!, LOGS: join(project.folder, 'logs'), PORT: '0', ...env },
    isReady: (line) => line.startsWith('http'),
  })
  running.push(child)
  return child.line.replace(/\/$/, '')
}

const get = (url: string, headers: Record<string, string> = {}) => fetch(url, { headers })

it('examples/README.md names every example', () => {
  const folders = readdirSync('examples', { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const text = readFileSync('examples/README.md', 'utf8')
  const named = [...text.matchAll(/\]\((?:https:\S+\/examples\/)?([\w-]+)\//g)].map(([, name]) => name)
  expect(named.sort()).toEqual(folders.map(({ name }) => name).sort())
})

it.each(['basic-auth', 'jwk', 'express'])('%s does not start open', (name) => {
  if (name === 'express' && !noExpress) project.install('express', modules)
  const { status, stderr } = spawnSync(process.execPath, [at(`${name}/server.js`)], {
    env: { PORT: '0' },
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  expect(stderr).toMatch(name === 'express' && noExpress ? /express/ : /Error: Set \w+/)
})

it('basic-auth asks for a name and a password', async () => {
  const url = await run('basic-auth/server.js', { USERNAME: 'ops', PASSWORD: 'pässword' })
  const basic = (text: string) => ({ Authorization: `Basic ${Buffer.from(text).toString('base64')}` })
  const refused = await get(url + VIEW)
  expect(refused.status).toBe(401)
  expect(refused.headers.get('WWW-Authenticate')).toBe('Basic realm="nodestate"')
  for (const wrong of ['ops:', 'ops:password', 'root:pässword', ':'])
    for (const path of ['/', VIEW, '/api/v1/config'])
      expect((await get(url + path, basic(wrong))).status, wrong).toBe(401)
  expect(await (await get(url + VIEW, basic('ops:pässword'))).text()).toBe('hello\n')
  expect((await get(`${url}/`, basic('ops:pässword'))).headers.get('Content-Type')).toMatch(/^text\/html/)
})

it.skipIf(noExpress)(title('express serves under a path of its own', noExpress), async () => {
  project.install('express', modules)
  const url = await run('express/server.js', { TOKEN: 's3cret' })
  expect((await get(url + VIEW)).status).toBe(401)
  expect(await (await get(url + VIEW, { Authorization: 'Bearer s3cret' })).text()).toBe('hello\n')
  expect(await (await get(new URL('/', url).href)).text()).toBe('Your own pages')
  expect((await get(`${url}/`)).headers.get('Content-Type')).toMatch(/^text\/html/)
})

describe('jwk', () => {
  let issuer: Issuer
  beforeAll(async () => {
    issuer = await startIssuer('/.well-known/jwks.json')
  })
  afterAll(() => issuer.stop())

  it('takes what the issuer signed for this service, and nothing else', async () => {
    const url = await run('jwk/server.js', { ISSUER: issuer.url, AUDIENCE: 'nodestate' })
    const ask = async (token: string) => get(url + VIEW, { Authorization: `Bearer ${token}` })
    for (const [name, token] of await issuer.right('nodestate'))
      expect(await (await ask(token)).text(), name).toBe('hello\n')
    for (const [name, token] of await issuer.wrong('nodestate')) {
      const refused = await ask(token)
      expect(refused.status, name).toBe(401)
      expect(await refused.text(), name).toBe('Unauthorized')
    }
    for (const path of ['/', VIEW, '/api/v1/config', '/nowhere'])
      expect((await get(url + path)).status).toBe(401)
    expect(issuer.fetched()).toBe(1)
  })
})

describe.skipIf(noFlare)(title('on Cloudflare and in front of a bucket', noFlare), () => {
  let flare: Flare
  let issuer: Issuer
  beforeAll(async () => {
    issuer = await startIssuer('/cdn-cgi/access/certs')
    const bindings = { TEAM: issuer.url, AUD: 'tag' }
    flare = await startMiniflare({ main: at('cloudflare-access/worker.js'), bindings })
    const bucket = bucketWriter(placeOf(flare))
    await bucket.put('a.log', 'hello\n')
    await bucket.put('db-4/logs/a.log', 'of db-4\n')
    await bucket.put('db-4/config.toml', '[http]\nport = 9000\npassword = "hunter2"\n')
    const node = { hostIp: '192.0.2.4', hostName: 'db-4', grpcPort: 9001, httpPort: 9000, version: '1' }
    await bucket.put('db-4/node.json', JSON.stringify({ ...node, onlineTime: 1 }))
  })
  afterAll(async () => {
    await flare?.stop()
    await issuer?.stop()
  })

  it('cloudflare-access takes what Access signed for it, and nothing else', async () => {
    const ask = (token?: string, path = VIEW) =>
      get(new URL(path, flare.url).href, token === undefined ? {} : { 'Cf-Access-Jwt-Assertion': token })
    for (const [name, token] of await issuer.right('tag')) {
      expect(await (await ask(token)).text(), name).toBe('hello\n')
      expect((await ask(token, '/')).headers.get('Content-Type')).toMatch(/^text\/html/)
    }
    for (const [name, token] of await issuer.wrong('tag')) expect((await ask(token)).status, name).toBe(403)
    for (const path of ['/', VIEW, '/api/v1/config']) expect((await ask(undefined, path)).status).toBe(403)
  })

  it('cloudflare-access refuses to run without a team and an audience', async () => {
    const open = await startMiniflare({ main: at('cloudflare-access/worker.js'), bindings: { AUD: 'tag' } })
    try {
      const [[, token]] = (await issuer.right('tag')) as [[string, string]]
      const answer = await get(new URL(VIEW, open.url).href, { 'Cf-Access-Jwt-Assertion': token })
      expect(answer.status).toBe(503)
    } finally {
      await open.stop()
    }
  })

  it('cloudflare-access is a project that wrangler takes', { timeout: 120_000 }, () => {
    const args = [part('wrangler').path!, 'deploy', '--dry-run', '--outdir', join(project.folder, 'dry')]
    const { status, stdout, stderr } = spawnSync(part('node').path!, args, {
      cwd: at('cloudflare-access'),
      env: { ...process.env, NODE_OPTIONS: '', CI: '1', WRANGLER_SEND_METRICS: 'false' },
      encoding: 'utf8',
    })
    expect(status, stdout + stderr).toBe(0)
    for (const name of ['BUCKET', 'TEAM', 'AUD']) expect(stdout).toContain(`env.${name}`)
  })

  it('lambda answers events with what is in the bucket', () => {
    const event = (path: string, headers = {}) => {
      const [rawPath, rawQueryString = ''] = path.split('?')
      const requestContext = { http: { method: 'GET' }, stage: '$default', domainName: 'x' }
      return { version: '2.0', rawPath, rawQueryString, headers, requestContext }
    }
    const signed = { authorization: 'Bearer s3cret' }
    const events = [event(VIEW), event(VIEW, signed), event('/api/v1/config', signed)]
    writeFileSync(
      join(project.folder, 'examples/lambda/call.js'),
      `import { handler } from './lambda.js'
const answers = []
for (const event of ${JSON.stringify(events)}) answers.push(await handler(event))
console.log(JSON.stringify(answers))\n`,
    )
    const { stdout, stderr } = spawnSync(process.execPath, [at('lambda/call.js')], {
      env: {
        BUCKET: flare.bucket,
        TOKEN: 's3cret',
        AWS_ENDPOINT_URL: flare.s3,
        AWS_ACCESS_KEY_ID: flare.accessKeyId,
        AWS_SECRET_ACCESS_KEY: flare.secretAccessKey,
      },
      encoding: 'utf8',
    })
    expect(stderr).toBe('')
    const [refused, view, config] = JSON.parse(stdout)
    expect(refused.statusCode).toBe(401)
    expect(view).toMatchObject({ statusCode: 200, body: 'of db-4\n' })
    expect(JSON.parse(config.body)).toMatchObject({ node: { hostName: 'db-4' } })
    expect(config.body).not.toContain('hunter2')
  })
})
