import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cleanUp, launch, temporaryDirectory } from '../../program.ts'
import { type Running, start } from '../../support/child.ts'
import { part } from '../../support/parts.ts'

const [bun, deno] = [part('bun'), part('deno')]
const SERVE = ['scripts/serve.mjs']
const RUNTIMES = [
  { name: 'Node', missing: null, command: ['dist/entry/cli.js'] },
  { name: 'Bun', missing: bun.missing, command: [...SERVE, 'bun'] },
  { name: 'Deno', missing: deno.missing, command: [...SERVE, 'deno'] },
]
const SECRET = 'a-token-that-only-its-digest-tells'
const LOG = 'x'.repeat(99)

type Line = Record<'time' | 'token' | 'address' | 'method' | 'url' | 'status' | 'bytes' | 'id', unknown>

let folder: string
let file: string
let running: Running | null = null
beforeEach(() => {
  folder = temporaryDirectory()
  file = join(folder, 'audit.jsonl')
  mkdirSync(join(folder, 'logs'))
  writeFileSync(join(folder, 'logs/a.log'), `${LOG}\n`.repeat(10))
  const digest = createHash('sha256').update(SECRET).digest('hex')
  writeFileSync(
    join(folder, 'tokens.toml'),
    `[[tokens]]\nname = "grafana"\ntoken = "sha256:${digest}"\n[[tokens]]\nname = "ops"\ntoken = "plain-token"\n`,
  )
})
afterEach(async () => {
  await running?.stop()
  running = null
})
afterAll(cleanUp)

async function serveOn(command: string[], more: string[] = []): Promise<string> {
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith('NODESTATE_'))
  const flags = ['--logs', join(folder, 'logs'), '--port', '0', '--log-level', 'off', '--audit-file', file]
  running = await start(process.execPath, [...command, ...flags, ...more], {
    env: Object.fromEntries(clean),
    isReady: (line) => line.includes('listens on http'),
  })
  return /http:\/\/[^\s/]+/.exec(running.line)![0]
}

const linesIn = (path: string): Line[] =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : []
const auditOf = async (count: number, path = file): Promise<Line[]> => {
  await expect.poll(() => linesIn(path).length, { timeout: 10_000 }).toBe(count)
  return linesIn(path)
}
const ask = (url: string, token?: string, init: RequestInit = {}) =>
  fetch(url, { ...init, headers: { ...(token && { Authorization: `Bearer ${token}` }) } })

for (const { name, missing, command } of RUNTIMES) {
  describe.skipIf(missing)(`--audit-file on ${name}${missing ? ` (${missing})` : ''}`, () => {
    it('says who read what, failed sign-ins included, and no secret', async () => {
      const url = await serveOn(command, ['--tokens', join(folder, 'tokens.toml')])
      const began = Date.now()
      const view = await ask(`${url}/api/v1/log/view?file=a.log&size=300`, SECRET)
      await view.text()
      await (await ask(`${url}/api/v1/config`, 'wrong')).text()
      await (await ask(`${url}/api/v1/log/list`)).text()
      await ask(`${url}/api/v1/log/view?file=a.log`, 'plain-token', { method: 'HEAD' })
      for (const secret of [SECRET, 'plain-token', 'wrong-token'])
        await (await ask(`${url}/api/v1/log/list?token=${secret}&x=${secret}&y=%2574`, secret)).text()
      await (
        await ask(`${url}/api/v1/log/list?${SECRET}&z=${encodeURIComponent(SECRET.replace('a', '%61'))}`)
      ).text()
      await (await ask(`${url}/healthz`)).text()
      const lines = await auditOf(8)
      expect(Object.keys(lines[0]!)).toEqual([
        'time',
        'token',
        'address',
        'method',
        'url',
        'status',
        'bytes',
        'id',
      ])
      const [first, wrong, none, head, ...told] = lines
      expect(first).toMatchObject({
        token: 'grafana',
        address: '127.0.0.1',
        method: 'GET',
        url: '/api/v1/log/view?file=a.log&size=300',
        status: 200,
        bytes: 300,
        id: view.headers.get('X-Request-Id'),
      })
      expect(Math.abs(Date.parse(String(first!.time)) - began)).toBeLessThan(60_000)
      expect(wrong).toMatchObject({ token: null, url: '/api/v1/config', status: 401 })
      expect(wrong!.bytes).toBeGreaterThan(50)
      expect(none).toMatchObject({ token: null, status: 401 })
      expect(head).toMatchObject({ token: 'ops', method: 'HEAD', status: 200, bytes: 0 })
      expect(told.map((line) => line.token)).toEqual(['grafana', 'ops', null, null])
      for (const line of told.slice(0, 3)) expect(line.url).toBe('/api/v1/log/list?token=***&x=***&y=%2574')
      const text = readFileSync(file, 'utf8')
      for (const secret of [SECRET, 'plain-token', 'wrong-token']) expect(text).not.toContain(secret)
    })

    it('has a follow when it ends, with what was sent, and what was cut', async () => {
      const url = await serveOn(command)
      const abort = new AbortController()
      const follow = await fetch(`${url}/api/v1/log/view?file=a.log&follow=true&lines=1`, {
        signal: abort.signal,
      })
      const reader = follow.body!.getReader()
      let received = 0
      const read = async (until: string) => {
        for (let text = ''; !text.includes(until); ) {
          const { value } = await reader.read()
          received += value!.length
          text += new TextDecoder().decode(value)
        }
      }
      await read(LOG)
      appendFileSync(join(folder, 'logs/a.log'), 'appended\n')
      await read('appended')
      expect(linesIn(file)).toEqual([])
      abort.abort()
      const [line] = await auditOf(1)
      expect(line).toMatchObject({ status: 200, token: null })
      expect(line!.bytes).toBeGreaterThanOrEqual(received)
      expect(line!.bytes).toBeLessThan(received + 200)

      writeFileSync(join(folder, 'logs/large.log'), `${LOG}\n`.repeat(1_000_000))
      await new Promise<void>((done) => {
        const request = get(`${url}/api/v1/log/view?file=large.log&size=100000000`, (response) => {
          response.once('data', () => request.destroy())
          response.once('close', done)
          response.on('error', () => {})
        })
        request.on('error', () => {})
      })
      const cut = (await auditOf(2))[1]!
      expect(cut.bytes).toBeGreaterThan(0)
      expect(cut.bytes).toBeLessThan(100_000_000)
    })

    it('goes on in a new file when the old one was renamed, and has open answers when it stops', async () => {
      const url = await serveOn(command)
      await (await fetch(`${url}/api/v1/log/list?n=1`)).text()
      await auditOf(1)
      renameSync(file, `${file}.1`)
      await (await fetch(`${url}/api/v1/log/list?n=2`)).text()
      await (await fetch(`${url}/api/v1/log/list?n=3`)).text()
      expect((await auditOf(2)).map((line) => line.url)).toEqual([
        '/api/v1/log/list?n=2',
        '/api/v1/log/list?n=3',
      ])
      expect(linesIn(`${file}.1`)).toHaveLength(1)
      const follow = await fetch(`${url}/api/v1/log/view?file=a.log&follow=true`)
      const reader = follow.body!.getReader()
      await reader.read()
      await running!.stop()
      await reader.cancel().catch(() => {})
      const last = (await auditOf(3))[2]!
      expect(last.url).toBe('/api/v1/log/view?file=a.log&follow=true')
      expect(last.bytes).toBeGreaterThan(0)
    })
  })
}

describe('--audit-file', () => {
  it('writes to standard error, whatever the level of the log', async () => {
    file = '-'
    const url = await serveOn(['dist/entry/cli.js'])
    await (await fetch(`${url}/api/v1/log/list`)).text()
    await expect.poll(() => running!.output()).toMatch(/^\{"time":"[^"]+","token":null,.*"status":200,.*\}$/m)
  })

  it('is for its owner and group alone', async () => {
    const url = await serveOn(['dist/entry/cli.js'])
    await (await fetch(`${url}/api/v1/log/list`)).text()
    await auditOf(1)
    expect(statSync(file).mode & 0o137).toBe(0)
  })

  it('that cannot be written keeps the service from starting', async () => {
    for (const path of [join(folder, 'none/audit.jsonl'), folder]) {
      const { exited, stderr } = launch(['--port', '0', '--audit-file', path])
      expect(await exited).toBe(1)
      expect(stderr()).toMatch(/^nodestate: Cannot write --audit-file ".*": [^\n]*\.\n$/)
    }
    const empty = launch(['--port', '0'], { env: { NODESTATE_AUDIT_FILE: '' } })
    expect(await empty.exited).toBe(2)
    expect(empty.stderr()).toContain('NODESTATE_AUDIT_FILE')
  })
})
