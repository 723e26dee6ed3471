import { writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { isLocalHost } from '../../../src/entry/service/local-hosts.ts'
import { cleanUp, serve, temporaryDirectory } from '../../program.ts'

afterEach(cleanUp)

describe('isLocalHost', () => {
  it.each([
    ['localhost', true],
    ['LOCALHOST:9000', true],
    ['localhost.:9000', true],
    ['page.localhost:80', true],
    ['127.0.0.1:9000', true],
    ['192.0.2.7', true],
    ['[::1]:9000', true],
    ['[2001:db8::7]', true],
    ['db-4', true],
    ['DB-4:9000', true],
    ['evil.example', false],
    ['localhost.evil.example', false],
    ['evil-localhost', false],
    ['db-4.evil.example', false],
    ['127.0.0.1.evil.example:9000', false],
    ['2130706433', false],
    ['', false],
    ['.', false],
  ])('%j: %s', (host, expected) => {
    expect(isLocalHost(host, 'db-4')).toBe(expected)
  })
})

/** The status of a request with this Host header, and the answer. */
function ask(url: string, path: string, host: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    get(new URL(path, url), { headers: { Host: host } }, async (answer) => {
      answer.setEncoding('utf8')
      resolve({ status: answer.statusCode!, text: (await answer.toArray()).join('') })
    }).on('error', reject)
  })
}

const PATHS = ['/api/v1/log/list', '/api/v1/config', '/', '/metrics', '/openapi.json', '/nothing']

async function start(...flags: string[]) {
  const logs = temporaryDirectory()
  writeFileSync(join(logs, 'a.log'), 'one\n')
  writeFileSync(join(logs, 'token'), 's3cr3t')
  return serve(['--port=0', '--logs', logs, ...flags])
}

describe('serve on loopback without a token', () => {
  it('answers local names only, and probes under any name', async () => {
    const { url } = await start()
    const port = new URL(url).port
    for (const host of ['localhost', `x.localhost:${port}`, '127.0.0.1', '[::1]:1', hostname()])
      expect((await ask(url, '/api/v1/log/list', host)).status, host).toBe(200)
    for (const path of PATHS) {
      const { status, text } = await ask(url, path, 'evil.example')
      expect([path, status]).toEqual([path, 421])
      expect(JSON.parse(text)).toMatchObject({ type: '/problems/unknown-host' })
      expect(text).toContain('--allow-host')
    }
    for (const path of ['/healthz', '/readyz', '/healthz?x=/'])
      expect((await ask(url, path, 'evil.example')).status).toBe(200)
    expect((await ask(url, '/api/v1/log/list?/healthz', 'evil.example')).status).toBe(421)
  })

  it.each([['--insecure'], ['--allow-host=evil.example']])('%s answers other names', async (flag) => {
    const { url } = await start(flag)
    expect((await ask(url, '/api/v1/log/list', 'evil.example')).status).toBe(200)
  })

  it('with a token, the token decides', async () => {
    const logs = temporaryDirectory()
    writeFileSync(join(logs, 'token'), 's3cr3t')
    const { url } = await serve(['--port=0', '--logs', logs, '--token-file', join(logs, 'token')])
    expect((await ask(url, '/api/v1/log/list', 'evil.example')).status).toBe(401)
  })
})
