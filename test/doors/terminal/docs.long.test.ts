import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, serve, temporaryDirectory } from '../../program.ts'

/** The commands of docs/terminal.md, as a reader would type them. */
const commands = readFileSync('docs/terminal.md', 'utf8')
  .split('\n')
  .flatMap((line) => (line.startsWith('    nodestate ') ? [line.trim()] : []))

const NODE = { hostIp: '10.0.0.1', grpcPort: 1, httpPort: 2, version: '1', onlineTime: 3 }

/** What the commands name: addresses in the document, and here. */
const urls = new Map<string, string>()

const MINUTES = 2 * 24 * 60

/** A record in each minute of two days: whatever time it is now, the last 02:10 has some, and so has the time before it. */
function days(): string {
  const now = Date.now()
  return Array.from({ length: MINUTES }, (_, i) => {
    const time = new Date(now - (MINUTES - i) * 60_000).toISOString().replace('T', ' ').slice(0, -1)
    return `${time}\tWARN\ta.go:1\t[A]: timeout ${i}\n`
  }).join('')
}

beforeAll(async () => {
  const home = temporaryDirectory()
  for (const id of ['db-4', 'db-7']) {
    mkdirSync(join(home, id, 'logs'), { recursive: true })
    for (const name of ['broker.log', 'storage.log']) writeFileSync(join(home, id, 'logs', name), days())
    writeFileSync(join(home, id, 'config.toml'), 'a = 1\n')
    writeFileSync(join(home, id, 'node.json'), JSON.stringify({ ...NODE, hostName: id }))
  }
  const own = await serve(['--port', '0'])
  const node = await serve(['--port', '0', '--home', join(home, 'db-4'), '--timezone', 'UTC'])
  const fleet = await serve(['--port', '0', '--fleet', home, '--timezone', 'UTC'])
  urls.set('http://127.0.0.1:9000', own.url)
  urls.set('http://db-4:9000', node.url)
  urls.set('http://fleet:9000', fleet.url)
})
afterAll(cleanUp)

/** Runs a command; one that follows is ended when it has printed something. */
async function run(command: string): Promise<{ code: number | null; out: string; err: string }> {
  let script = command.replace(/^nodestate/, `exec "${process.execPath}" "${resolve('dist/entry/cli.js')}"`)
  for (const [shown, real] of urls) script = script.replaceAll(shown, real)
  const child = spawn('bash', ['-c', script], {
    cwd: temporaryDirectory(),
    env: { ...process.env, NODESTATE_URL: urls.get('http://127.0.0.1:9000') },
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (data) => {
    if (out === '' && / -f\b/.test(command)) child.kill('SIGINT')
    out += data
  })
  child.stderr.on('data', (data) => {
    err += data
  })
  const [code] = await once(child, 'close')
  return { code, out, err }
}

describe('docs/terminal.md', () => {
  it('has commands for a node, and for a fleet', () => {
    expect(commands.length).toBeGreaterThan(10)
  })

  it.each(commands)('%s', async (command) => {
    const { code, out, err } = await run(command)
    expect([code, err]).toEqual([0, ''])
    if (!/--compare| > /.test(command)) expect(out).not.toBe('')
  })
})
