import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { cleanUp, type Program, serve, temporaryDirectory } from '../../program.ts'
import { part } from '../../support/parts.ts'

const lacks = (...names: Parameters<typeof part>[0][]) =>
  names.map((name) => part(name).missing).find(Boolean) ?? null
const title = (text: string, missing: string | null) => (missing ? `${text} (${missing})` : text)
const noConformance = lacks('node', 'conformance')
const noInspector = lacks('node', 'inspector')

const FLEET_TOOLS = ['list_nodes', 'compare_config']
/** Every tool, with arguments that it needs. */
const CALLS: Record<string, string[]> = {
  log_patterns: [],
  what_is_different: ['since=1h'],
  log_histogram: ['step=1m'],
  log_groups: ['by=level'],
  search_logs: ['limit=5', 'order=oldest'],
  log_context: ['time=10m'],
  list_logs: [],
  get_config: ['node=db-4'],
  list_nodes: [],
  compare_config: [],
}

let folder: string
let fleet: Program
let home: Record<string, string | undefined>
beforeAll(async () => {
  folder = temporaryDirectory()
  const stamp = new Date(Date.now() - 60_000).toISOString().replace('T', ' ').slice(0, 23)
  for (const id of ['db-4', 'db-7']) {
    mkdirSync(join(folder, 'fleet', id, 'logs'), { recursive: true })
    writeFileSync(
      join(folder, 'fleet', id, 'logs/broker.log'),
      `${stamp}\tERROR\ta.go:1\t[A]: timeout of ${id}\n`,
    )
    writeFileSync(join(folder, 'fleet', id, 'config.toml'), `workers = ${id.length}\nname = "${id}"\n`)
    const node = { hostIp: '::1', hostName: id, grpcPort: 1, httpPort: 2, version: '1', onlineTime: 3 }
    writeFileSync(join(folder, 'fleet', id, 'node.json'), JSON.stringify(node))
  }
  mkdirSync(join(folder, 'home'))
  home = { ...process.env, HOME: join(folder, 'home') }
  fleet = await serve(
    ['--fleet', join(folder, 'fleet'), '--mcp', '--port=0', '--timezone=UTC', '--log-level=off'],
    { cwd: folder },
  )
})
afterAll(cleanUp)

/** Runs a program of the parts on the newer Node. */
function run(name: 'conformance' | 'inspector', args: string[]): Promise<{ code: unknown; out: string }> {
  const options = { env: home, cwd: folder, timeout: 300_000, maxBuffer: 64 * 1024 * 1024 }
  return new Promise((done) =>
    execFile(part('node').path!, [part(name).path!, ...args], options, (error, stdout, stderr) =>
      done({ code: error ? (error.code ?? error.signal) : 0, out: stdout + stderr }),
    ),
  )
}

describe.skipIf(noConformance)(title('the conformance suite', noConformance), { timeout: 400_000 }, () => {
  it.each(['2026-07-28', '2025-11-25'])(
    'passes for %s, except for what conformance.yaml lists',
    async (revision) => {
      const listed = parse(readFileSync(resolve(import.meta.dirname, 'conformance.yaml'), 'utf8')) as Record<
        string,
        string[]
      >
      const expected = join(folder, `expected-${revision}.yaml`)
      writeFileSync(expected, JSON.stringify({ server: [...listed.server!, ...(listed[revision] ?? [])] }))
      const args = [
        'server',
        '--url',
        `${fleet.url}/mcp`,
        '--requirements',
        revision,
        '--expected-failures',
        expected,
      ]
      const { code, out } = await run('conformance', args)
      expect(code, out.slice(-4000)).toBe(0)
      for (const name of ['tools-list', 'dns-rebinding-protection']) expect(out).toContain(`✓ ${name}`)
    },
  )
})

describe.skipIf(noInspector)(title('the inspector', noInspector), { timeout: 400_000 }, () => {
  const inspect = (target: string[], ...args: string[]) => run('inspector', ['--cli', ...target, ...args])
  const http = () => [`${fleet.url}/mcp`, '--transport', 'http']
  const stdio = () => [process.execPath, resolve('dist/entry/cli.js'), 'mcp', fleet.url]
  const namesIn = (out: string) =>
    (JSON.parse(out) as { tools: { name: string }[] }).tools.map(({ name }) => name)

  describe.each(['modern', 'legacy'])('%s', (era) => {
    it('lists every tool, with schemas that travel well', async () => {
      const { code, out } = await inspect(http(), '--method', 'tools/list', '--strict', '--protocol-era', era)
      expect(code, out).toBe(0)
      expect(namesIn(out).sort()).toEqual(Object.keys(CALLS).sort())
    })

    it.each(Object.entries(CALLS))('calls %s', async (name, args) => {
      const given = args.flatMap((arg) => ['--tool-arg', arg])
      const { code, out } = await inspect(
        http(),
        '--method',
        'tools/call',
        '--tool-name',
        name,
        ...given,
        '--protocol-era',
        era,
      )
      expect(code, out).toBe(0)
      expect(out).not.toContain('"isError": true')
      expect(out).toContain('"text"')
    })

    it('finds the same tools on standard input and output', async () => {
      const list = await inspect(stdio(), '--method', 'tools/list', '--protocol-era', era)
      expect(list.code, list.out).toBe(0)
      expect(namesIn(list.out).sort()).toEqual(Object.keys(CALLS).sort())
      const call = await inspect(
        stdio(),
        '--method',
        'tools/call',
        '--tool-name',
        'search_logs',
        '--protocol-era',
        era,
      )
      expect(call.out).toContain('timeout of db-7')
    })
  })

  it('finds no tools of a fleet at a node', async () => {
    const { out } = await inspect(
      [`${fleet.url}/nodes/db-4/mcp`, '--transport', 'http'],
      '--method',
      'tools/list',
    )
    for (const name of FLEET_TOOLS) expect(namesIn(out)).not.toContain(name)
    const stdio = [process.execPath, resolve('dist/entry/cli.js'), 'mcp', `${fleet.url}/nodes/db-4`]
    const node = await inspect(stdio, '--method', 'tools/call', '--tool-name', 'get_config')
    expect(node.out).toContain('db-4')
  })
})
