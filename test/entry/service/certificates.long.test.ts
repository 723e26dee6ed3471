import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import { type ConnectionOptions, connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, launch, type Program, serve, temporaryDirectory } from '../../program.ts'

const folder = temporaryDirectory()
const path = (name: string) => join(folder, name)
const read = (name: string) => readFileSync(path(name), 'utf8')
const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })

/** A key and a certificate, signed by itself or by an authority. */
function make(name: string, subject: string, ca?: string): void {
  const key = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    `${name}.key`,
  ]
  const san = ['-addext', 'subjectAltName=IP:127.0.0.1']
  if (ca === undefined)
    openssl('req', '-x509', ...key, '-out', `${name}.pem`, '-days', '2', '-subj', subject, ...san)
  else {
    openssl('req', ...key, '-out', `${name}.csr`, '-subj', subject)
    const by = ['-CA', `${ca}.pem`, '-CAkey', `${ca}.key`, '-CAcreateserial']
    openssl('x509', '-req', '-in', `${name}.csr`, ...by, '-out', `${name}.pem`, '-days', '2')
  }
}

beforeAll(() => {
  make('one', '/CN=one')
  make('two', '/CN=two')
  make('ca', '/CN=our authority')
  make('other-ca', '/CN=another authority')
  make('alice', '/CN=alice', 'ca')
  make('nameless', '/O=nobody', 'ca')
  make('mallory', '/CN=alice', 'other-ca')
  mkdirSync(path('logs'))
  writeFileSync(path('logs/a.log'), 'x\n')
})
afterAll(cleanUp)

/** Puts a pair into place: by writing, or by renaming. */
function install(cert: string, key = cert): void {
  writeFileSync(path('live.pem'), read(`${cert}.pem`))
  writeFileSync(path('live.key.new'), read(`${key}.key`))
  renameSync(path('live.key.new'), path('live.key'))
}

function start(...more: string[]): Promise<Program> {
  const files = ['--tls-cert', path('live.pem'), '--tls-key', path('live.key')]
  return serve(['--port', '0', '--logs', path('logs'), ...files, ...more])
}

/** The subject of the certificate that a new connection gets. */
function subjectAt({ url }: Program): Promise<string> {
  const { port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN))
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

function ask(
  { url }: Program,
  target: string,
  options: ConnectionOptions & { agent?: Agent; token?: string } = {},
) {
  const { token, agent = new Agent(), ...tls } = options
  const headers = token ? { Authorization: `Bearer ${token}` } : {}
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const asked = request(url + target, { agent, rejectUnauthorized: false, headers, ...tls }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text) => {
        body += text
      })
      response.on('end', () => resolve({ status: response.statusCode!, body }))
      response.on('error', reject)
    })
    asked.on('error', reject).end()
  })
}
const LIST = '/api/v1/log/list'

describe('the certificate', () => {
  it('is loaded again when its files change, without a dropped connection', async () => {
    install('one')
    const program = await start('--log-level', 'info')
    expect(await subjectAt(program)).toBe('one')
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const follow = new Promise<string>((resolve, reject) => {
      const target = `${program.url}/api/v1/log/view?file=a.log&follow=true`
      const asked = request(target, { rejectUnauthorized: false }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (data) => {
          text += data
          if (!text.includes('after')) return
          asked.destroy()
          resolve(text)
        })
        response.on('error', (error) => text.includes('after') || reject(error))
      })
      asked.on('error', (error) => reject(error)).end()
    })
    expect((await ask(program, LIST, { agent })).status).toBe(200)
    const socket = Object.values(agent.freeSockets)[0]![0]!
    install('two')
    await expect.poll(() => subjectAt(program), { timeout: 20_000 }).toBe('two')
    // What was open is open still: the idle connection is used again, and the follow goes on.
    expect((await ask(program, LIST, { agent })).status).toBe(200)
    expect(Object.values(agent.freeSockets)[0]![0]).toBe(socket)
    writeFileSync(path('logs/a.log'), 'after\n', { flag: 'a' })
    expect(await follow).toContain('after')
    await expect.poll(program.stderr).toContain('The certificate was read again; it is valid until ')
    agent.destroy()
  })

  it('stays while the new files do not fit together, and the log says so', async () => {
    install('one')
    const program = await start('--log-level', 'warn')
    install('two', 'one')
    await expect.poll(program.stderr, { timeout: 20_000 }).toContain('so the one before stays: ')
    expect(await subjectAt(program)).toBe('one')
    writeFileSync(path('live.pem'), read('two.pem').slice(0, 300))
    await expect.poll(program.stderr, { timeout: 20_000 }).toContain('it is not a certificate in PEM form')
    expect(await subjectAt(program)).toBe('one')
    install('two')
    await expect.poll(() => subjectAt(program), { timeout: 20_000 }).toBe('two')
    expect(program.stderr()).not.toContain('PRIVATE KEY')
  })
})

describe('client certificates', () => {
  const pair = (name: string) => ({ cert: read(`${name}.pem`), key: read(`${name}.key`) })
  const audited = () =>
    read('audit.jsonl')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))

  it('of the authority count as signed in, under their names, beyond loopback too', async () => {
    install('one')
    const program = await start(
      '--host',
      '0.0.0.0',
      '--tls-client-ca',
      path('ca.pem'),
      '--audit-file',
      path('audit.jsonl'),
    )
    const status = async (name?: string) =>
      (await ask(program, LIST, name === undefined ? {} : pair(name))).status
    expect(await status('alice')).toBe(200)
    expect(await status('nameless')).toBe(200)
    expect(await status('mallory')).toBe(401)
    expect(await status()).toBe(401)
    expect(await status('one')).toBe(401)
    expect((await ask(program, LIST, { token: 'anything' })).status).toBe(401)
    expect((await ask(program, '/healthz')).status).toBe(200)
    const refused = JSON.parse((await ask(program, LIST)).body)
    expect(refused.detail).toContain('client certificate')
    const lines = audited().map(({ token, status }) => [token, status])
    expect(lines[0]).toEqual(['alice', 200])
    expect(lines[1]![0]).toMatch(/^serial [\dA-F]+$/)
    expect(lines.slice(2).map(([token]) => token)).toEqual([null, null, null, null, null])
    // A connection that resumes a session is the same client's.
    const agent = new Agent({ maxCachedSessions: 10 })
    for (let i = 0; i < 3; i++)
      expect((await ask(program, LIST, { ...pair('alice'), agent })).status).toBe(200)
    expect(
      audited()
        .slice(-3)
        .map(({ token }) => token),
    ).toEqual(['alice', 'alice', 'alice'])
  })

  it('are an alternative to tokens', async () => {
    install('one')
    writeFileSync(
      path('tokens.toml'),
      '[[tokens]]\nname = "ops"\ntoken = "secret-ops"\nscopes = ["config"]\n',
    )
    const program = await start('--tls-client-ca', path('ca.pem'), '--tokens', path('tokens.toml'))
    expect((await ask(program, LIST, pair('alice'))).status).toBe(200)
    expect((await ask(program, '/api/v1/config', { token: 'secret-ops' })).status).toBe(200)
    expect((await ask(program, LIST, { token: 'secret-ops' })).status).toBe(403)
    expect((await ask(program, LIST, { ...pair('mallory'), token: 'wrong' })).status).toBe(401)
  })

  it('of another authority count when its file changes, and those of the old one no longer', async () => {
    install('one')
    writeFileSync(path('live-ca.pem'), read('ca.pem'))
    const program = await start('--tls-client-ca', path('live-ca.pem'))
    const agent = new Agent({ maxCachedSessions: 10 })
    const status = async (name: string) => (await ask(program, LIST, { ...pair(name), agent })).status
    expect(await status('alice')).toBe(200)
    writeFileSync(path('live-ca.pem'), read('other-ca.pem'))
    await expect.poll(() => status('mallory'), { timeout: 20_000 }).toBe(200)
    expect(await status('alice')).toBe(401)
  })

  it('need a certificate of the service, and an authority', async () => {
    install('one')
    writeFileSync(path('empty.pem'), '')
    const tls = ['--tls-cert', path('live.pem'), '--tls-key', path('live.key')]
    const cases: [string[], number, RegExp][] = [
      [['--tls-client-ca', path('ca.pem')], 2, /Cannot use --tls-client-ca alone: set --tls-cert FILE/],
      [
        [...tls, '--tls-client-ca', path('empty.pem')],
        1,
        /Cannot use --tls-client-ca ".*": it is not a certificate/,
      ],
      [[...tls, '--tls-client-ca', path('none.pem')], 1, /Cannot read --tls-client-ca/],
    ]
    for (const [args, code, sentence] of cases) {
      const { exited, stderr } = launch(['--port', '0', '--host', '0.0.0.0', ...args])
      expect(await exited).toBe(code)
      expect(stderr()).toMatch(sentence)
    }
  })
})
