import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { partsFolder } from './parts/parts.mjs'
import { cleanUp, type Program, serve, temporaryDirectory } from './program.ts'
import { lacking, part } from './support/parts.ts'

/** The sections of docs/integrations.md, by title: their commands, and their file of code if they have one. */
const sections = new Map(
  readFileSync('docs/integrations.md', 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((text) => {
      const commands = [...text.matchAll(/^ {4}(.*)$/gm)].map(([, line]) => line!)
      const code = /^```ts\n\/\/ \S+\n([\s\S]*?)^```/m.exec(text)?.[1] ?? ''
      return [/.*/.exec(text)![0], { commands, code }] as const
    }),
)

const generator = join(partsFolder, 'node_modules/openapi-typescript/bin/cli.js')
const noPrometheus =
  spawnSync('prometheus', ['--version']).status === 0
    ? null
    : lacking('prometheus is not installed: apt-get install prometheus')
const noGenerator =
  part('node').missing ??
  (existsSync(generator) ? null : lacking('openapi-typescript is not installed: run npm run test:all'))
const noInspector = part('node').missing ?? part('inspector').missing
const logcli = process.env.NODESTATE_TEST_LOGCLI
const title = (text: string, missing: string | null) => (missing ? `${text} (${missing})` : text)

let folder: string
let background: ChildProcess | null = null
beforeEach(() => {
  folder = temporaryDirectory()
  for (const name of ['bin', 'logs']) mkdirSync(join(folder, name))
  symlinkSync(resolve('dist'), join(folder, 'dist'))
  const stamp = new Date(Date.now() - 60_000).toISOString().replace('T', ' ').slice(0, 23)
  const line = `${stamp}\tERROR\twal.go:1\t[Storage]: timeout\t{"shard":17}\n`
  writeFileSync(join(folder, 'logs/broker.log'), line)
  writeFileSync(join(folder, 'logs/secret.log'), 'hidden\n')
})
afterEach(async () => {
  if (!background) return
  const ended = once(background, 'close')
  background.kill()
  await ended
  background = null
})
afterAll(cleanUp)

/** A program of this name for the commands. */
function install(name: string, command: string): void {
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\nexec ${command} "$@"\n`)
  chmodSync(join(folder, 'bin', name), 0o755)
}

function shell(script: string): Promise<{ code: unknown; out: string }> {
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
  return new Promise((done) =>
    execFile('sh', ['-ec', script], { env, cwd: folder, timeout: 120_000 }, (error, stdout, stderr) =>
      done({ code: error ? (error.code ?? error.signal) : 0, out: stdout + stderr }),
    ),
  )
}

/** Runs what comes before `npm start`, starts nodestate with its flags, and gives the commands after it. */
async function begin(name: string): Promise<{ program: Program; commands: string[] }> {
  const { commands } = sections.get(name)!
  const at = commands.findIndex((line) => line.startsWith('npm start -- '))
  expect(at, 'a command that starts nodestate').toBeGreaterThanOrEqual(0)
  for (const line of commands.slice(0, at)) expect(await shell(line)).toEqual({ code: 0, out: '' })
  const flags = commands[at]!.replace('/var/log/lindb', join(folder, 'logs')).split(' ').slice(3)
  const program = await serve([...flags, '--port=0', '--timezone=UTC', '--log-level=off'], { cwd: folder })
  const { host } = new URL(program.url)
  return { program, commands: commands.slice(at + 1).map((line) => line.replaceAll('127.0.0.1:9000', host)) }
}

describe('docs/integrations.md', { timeout: 240_000 }, () => {
  it('has a section for each tool, of about five lines', () => {
    expect([...sections.keys()]).toEqual([
      'Grafana and logcli',
      'Assistants (MCP)',
      'Prometheus',
      'A client in your language',
      'Tokens for each of them',
    ])
    for (const { commands } of sections.values()) expect(commands.length).toBeLessThanOrEqual(5)
  })

  it.skipIf(!logcli)('logcli (needs NODESTATE_TEST_LOGCLI)', async () => {
    install('logcli', logcli!)
    const { commands } = await begin('Grafana and logcli')
    const { code, out } = await shell(commands.join('\n'))
    expect(code, out).toBe(0)
    expect(out).toContain('broker.log')
    expect(out).toContain('[Storage]: timeout')
    expect(out).toMatch(/"level":\s*"error"/)
  })

  it.skipIf(noInspector)(title('assistants', noInspector), async () => {
    const { commands } = await begin('Assistants (MCP)')
    install('npx', `sh -c 'shift; exec "${part('node').path}" "${part('inspector').path}" "$@"' sh`)
    const home = join(folder, 'home')
    mkdirSync(home)
    const { code, out } = await shell(`export HOME='${home}'\n${commands.join('\n')}`)
    expect(code, out).toBe(0)
    expect(out).toContain('"log_patterns"')
    expect(out).toContain('1× error timeout')
  })

  it.skipIf(noPrometheus)(title('Prometheus', noPrometheus), async () => {
    const { program, commands } = await begin('Prometheus')
    await fetch(`${program.url}/api/v1/log/list`)
    const [write, check, run, query] = commands as [string, string, string, string]
    const checked = await shell(`${write}\n${check}`)
    expect(checked.code, checked.out).toBe(0)
    const port = await freePort()
    const words = run.replace(/ &$/, '').split(' ').slice(1)
    background = spawn('prometheus', [...words, `--web.listen-address=127.0.0.1:${port}`], {
      cwd: folder,
      stdio: 'ignore',
    })
    const ask = async () => (await shell(query.replace('9090', String(port)))).out
    await expect
      .poll(ask, { timeout: 60_000, interval: 500 })
      .toMatch(/route="\/api\/v1\/log\/list", status="200"\} => 1 /)
  })

  it.skipIf(noGenerator)(title('a generated client', noGenerator), async () => {
    const { program, commands } = await begin('A client in your language')
    const here = (text: string) => text.replaceAll('http://127.0.0.1:9000', program.url)
    writeFileSync(join(folder, 'client.ts'), here(sections.get('A client in your language')!.code))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    install('node', `'${part('node').path}'`)
    // The generator and the client are installed with the parts, so that nothing is downloaded here.
    install('npx', `sh -c 'shift; exec "${process.execPath}" "${generator}" "$@"' sh`)
    for (const name of ['openapi-fetch', 'openapi-typescript-helpers'])
      cpSync(join(partsFolder, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true })
    install('npm', 'true')
    const { code, out } = await shell(commands.join('\n'))
    expect(code, out).toBe(0)
    expect(out).toMatch(/\[ 'broker\.log', 'secret\.log' \]\n$/)
  })

  it('tokens', async () => {
    const { program, commands } = await begin('Tokens for each of them')
    const { code, out } = await shell(commands.map((line) => line.replace('curl ', 'curl -sS ')).join('\n'))
    expect(code, out).toBe(0)
    expect(JSON.parse(out).map(({ name }: { name: string }) => name)).toEqual(['broker.log'])
    expect((await fetch(`${program.url}/api/v1/log/list`)).status).toBe(401)
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await new Promise((done) => server.close(done))
  return port
}
