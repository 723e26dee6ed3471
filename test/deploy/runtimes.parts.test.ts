import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Running, start } from '../support/child.ts'
import { startMiniflare } from '../support/miniflare.ts'
import { part } from '../support/parts.ts'

const root = resolve(import.meta.dirname, '../..')
const logs = mkdtempSync(join(tmpdir(), 'nodestate-deploy-'))
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(NODESTATE|AWS)_/.test(name)),
)
const isReady = (line: string) => line.includes(' listens on http')
const urlOf = (running: Running) => /http:\/\/\S+/.exec(running.line)![0]
const title = (text: string, missing: string | null) => (missing ? `${text} (${missing})` : text)

beforeAll(() => writeFileSync(join(logs, 'a.log'), 'hello\n'))
afterAll(() => rmSync(logs, { recursive: true }))

async function expectLogs(url: string): Promise<void> {
  expect(await (await fetch(`${url}/api/v1/log/list`)).json()).toEqual([{ name: 'a.log', size: 6 }])
  expect(await (await fetch(`${url}/api/v1/log/view?file=a.log`)).text()).toBe('hello\n')
}

/** A port that is free now; the narrow permissions of Deno name it. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

const bun = part('bun')
describe.skipIf(bun.missing)(title('Bun', bun.missing), () => {
  it('compiles to one binary that serves', { timeout: 120_000 }, async () => {
    const binary = join(logs, '..', `nodestate-binary-${process.pid}`)
    const args = ['build', '--compile', 'dist/entry/cli/bun.js', '--outfile', binary]
    const built = spawnSync(bun.path!, args, { cwd: root, encoding: 'utf8' })
    expect(built.status, built.stderr).toBe(0)
    const running = await start(binary, ['--logs', logs, '--port', '0'], {
      env: { ...env, PATH: '' },
      isReady,
    })
    try {
      await expectLogs(urlOf(running))
    } finally {
      await running.stop()
      rmSync(binary)
    }
    expect(running.process.exitCode).toBe(0)
  })
})

const deno = part('deno')
describe.skipIf(deno.missing)(title('Deno', deno.missing), () => {
  it('listens again after there was no descriptor left for a connection', async () => {
    const flags = '--no-prompt --allow-net --allow-read --allow-env --allow-sys=hostname,networkInterfaces'
    const command = `ulimit -n 64; exec "$0" run ${flags} dist/entry/cli/deno.js --logs "$1" --port 0`
    const running = await start('bash', ['-c', command, deno.path!, logs], { env, cwd: root, isReady })
    const sockets: Socket[] = []
    try {
      const port = Number(new URL(urlOf(running)).port)
      for (let i = 0; i < 80; i++) sockets.push(connect(port, '127.0.0.1').on('error', () => {}))
      const descriptors = () => readdirSync(`/proc/${running.process.pid}/fd`).length
      await expect.poll(descriptors).toBe(64)
      // It waits before it listens again.
      await sleep(1000)
      for (const socket of sockets) socket.destroy()
      await vi.waitFor(() => expectLogs(urlOf(running)), 60_000)
    } finally {
      await running.stop()
    }
    expect(running.process.exitCode).toBe(0)
  })

  it('serves with the permissions of deploy/README.md and no others', async () => {
    const readme = readFileSync(join(root, 'deploy/README.md'), 'utf8')
    const command = /^ {4}deno (run [\s\S]*?)dist\/entry\/cli\/deno\.js/m
      .exec(readme)![1]!
      .replaceAll('\\\n', ' ')
    const port = await freePort()
    const permissions = command
      .replace('127.0.0.1:9000', `127.0.0.1:${port}`)
      .replace('/var/log/lindb,/etc/lindb/broker.toml', logs)
      .trim()
      .split(/\s+/)
    expect(permissions.filter((flag) => /^(-A|--allow-all|--allow-(write|run|ffi))/.test(flag))).toEqual([])
    const running = await start(
      deno.path!,
      [...permissions, 'dist/entry/cli/deno.js', '--logs', logs, '--port', String(port)],
      { cwd: root, env, isReady },
    )
    try {
      await expectLogs(urlOf(running))
    } finally {
      await running.stop()
    }
    expect(running.process.exitCode).toBe(0)
    expect(running.output()).not.toContain('legacy')
  })
})

// Each command builds first, which is shown once for each runtime: `--ignore-scripts` leaves it out.
describe.each(['bun', 'deno', 'worker'] as const)('npm run serve:%s', { timeout: 180_000 }, (runtime) => {
  const missing = part(runtime === 'worker' ? 'wrangler' : runtime).missing
  const command = ['run', '--silent', '--ignore-scripts', `serve:${runtime}`, '--']
  const npm = (args: string[], more: Record<string, string> = {}) =>
    spawnSync('npm', args, { cwd: root, env: { ...env, ...more }, encoding: 'utf8' })
  const run = (args: string[], more?: Record<string, string>) => npm([...command, ...args], more)

  it.skipIf(missing)(title('takes the flags of npm start', missing), () => {
    const built = npm(['run', '--silent', `serve:${runtime}`, '--', '--version'])
    expect(built.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(run(['--help']).stdout).toContain('--home')
    const wrong = run(['--frobnicate'])
    expect([wrong.status, wrong.stdout]).toEqual([2, ''])
    expect(wrong.stderr).toContain('Unknown flag "--frobnicate"')
    const open = run(['--host', '0.0.0.0', '--port', '0'])
    expect(open.status).toBe(2)
    expect(open.stderr).toContain('without a token')
  })

  it.skipIf(missing)(title('says what npm start says of a bucket or a port', missing), async () => {
    const half = run(['--home', 's3://logs/x', '--port', '0'], { AWS_ACCESS_KEY_ID: 'key' })
    expect([half.status, half.stdout, half.stderr]).toEqual([
      2,
      '',
      'nodestate: Cannot use AWS_ACCESS_KEY_ID alone: set AWS_SECRET_ACCESS_KEY too, or neither.\n',
    ])
    const elsewhere = run(['--home', 's3://logs/../other', '--port', '0'])
    expect([elsewhere.status, elsewhere.stderr]).toEqual([2, expect.stringContaining('s3://bucket/prefix')])
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    const late = run(['--home', 'nodes', '--port', String(port)])
    taken.close()
    expect([late.status, late.stdout]).toEqual([1, ''])
    expect(late.stderr).toMatch(
      new RegExp(`^nodestate: Cannot listen on "127\\.0\\.0\\.1:${port}": the port is in use; .*\\n$`, 'm'),
    )
  })

  it.skipIf(missing)(title('warns as npm start does, and ends well when told to', missing), async () => {
    const args = [...command, '--home', logs, '--port', '0']
    const more = { NODESTATE_LOGZ: '1', NODESTATE_LOG_LEVEL: 'error' }
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const running = await start('npm', args, { cwd: root, env: { ...env, ...more }, isReady })
      expect(running.line).toMatch(
        /^nodestate \d+\.\d+\.\d+ listens on http:\/\/127\.0\.0\.1:\d+ with the logs in /,
      )
      expect((await fetch(`${urlOf(running)}/healthz`)).status).toBe(200)
      expect(running.output()).toContain('nodestate: Ignored NODESTATE_LOGZ: there is no such setting')
      running.process.kill(signal)
      await running.stop()
      // npm ends as its shell does: by the signal, unless the shell makes way for the program.
      const { exitCode, signalCode } = running.process
      expect([0, 'SIGINT', 'SIGTERM']).toContain(exitCode ?? signalCode)
      await expect(fetch(`${urlOf(running)}/healthz`)).rejects.toThrow()
    }
  })
})

const flareMissing =
  (['wrangler', 'miniflare', 'workerd', 'node'] as const).map((name) => part(name).missing).find(Boolean) ??
  null
describe.skipIf(flareMissing)(title('Cloudflare', flareMissing), () => {
  it('wrangler deploy --dry-run passes with the wrangler.toml at the root', { timeout: 120_000 }, () => {
    const out = mkdtempSync(join(tmpdir(), 'nodestate-dry-'))
    const args = [part('wrangler').path!, 'deploy', '--dry-run', '--outdir', out]
    const quiet = { CI: '1', WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' }
    const { status, stdout, stderr } = spawnSync(part('node').path!, args, {
      cwd: root,
      env: { ...env, ...quiet },
      encoding: 'utf8',
    })
    expect(status, stdout + stderr).toBe(0)
    expect(stdout).toMatch(/env\.BUCKET/)
    expect(readdirSync(out)).toContain('worker.js')
    rmSync(out, { recursive: true })
  })

  const folder = join(root, 'dist/worker')
  it.each([
    [{}, 'NODESTATE_TOKEN'],
    [{ NODESTATE_TOKEN: 'secret', NODESTATE_MAX_SIZE: 'hunter2' }, 'not valid'],
  ])('a worker with %j answers 503 and says what to set', async (bindings, said) => {
    const flare = await startMiniflare({ folder, bindings })
    try {
      for (const path of ['', 'healthz', 'api/v1/config', 'api/v1/log/list']) {
        const answer = await fetch(`${flare.url}${path}`)
        expect(answer.status).toBe(503)
        const text = await answer.text()
        expect(JSON.parse(text)).toMatchObject({
          type: '/problems/not-configured',
          detail: expect.stringContaining(said),
        })
        expect(text).not.toContain('hunter2')
      }
    } finally {
      await flare.stop()
    }
  })

  it('a worker with a token wants it', async () => {
    const flare = await startMiniflare({ folder, bindings: { NODESTATE_TOKEN: 'secret' } })
    try {
      expect((await fetch(`${flare.url}api/v1/log/list`)).status).toBe(401)
      const headers = { Authorization: 'Bearer secret' }
      expect(await (await fetch(`${flare.url}api/v1/log/list`, { headers })).json()).toEqual([])
      const config = await fetch(`${flare.url}api/v1/config`, { headers })
      expect(await config.json()).toMatchObject({ type: '/problems/missing-object' })
    } finally {
      await flare.stop()
    }
  })

  /** The modules that these import at once, themselves included. */
  function closure(names: string[]): Set<string> {
    const found = new Set(names)
    for (const name of found) {
      const source = readFileSync(join(folder, name), 'utf8')
      for (const [, next] of source.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) found.add(next!)
    }
    return found
  }
  /** KB of modules, gzipped. */
  const weight = (names: Iterable<string>) =>
    [...names].reduce(
      (sum, name) => sum + gzipSync(readFileSync(join(folder, name)), { level: 9 }).length,
      0,
    ) / 1000

  // In the order in which a deployment comes to need them: each part without what the ones above have loaded.
  const PARTS: [part: string, modules: string[]][] = [
    ['core: settings, R2, the list and the plain tail', ['worker.js']],
    ['config: TOML and its masking', ['config.js', 'config2.js']],
    ['home: logs that were shipped as segments', ['segments.js', 'names.js']],
    ['S3', ['entry-service-open-bucket.js']],
    ['formats', ['formats.js']],
    ['search, follow, archives', ['routes-query-routes.js', 'routes-view-follow.js']],
    ['records as JSON', ['ndjson.js']],
    ['regex and where', ['dfa.js', 'where.js']],
    ['records around a match', ['log-search-context-page.js', 'routes-view-context.js']],
    ['records as CSV', ['log-render-csv.js']],
    [
      'fields, groups, export, download',
      ['routes-fields.js', 'routes-groups.js', 'routes-view-export.js', 'routes-download.js'],
    ],
    [
      'several logs',
      [
        'routes-merged-routes.js',
        'routes-merged-view.js',
        'routes-merged-histogram.js',
        'routes-merged-fields.js',
        'routes-merged-groups.js',
        'routes-merged-follow.js',
        'routes-merged-export.js',
        'routes-merged-lane.js',
      ],
    ],
    ['history of a configuration', ['routes-insight-config-history.js']],
    ['what is different', ['routes-compare-compare.js', 'routes-compare-config.js']],
    ['incident, blame', ['routes-insight-incident-incident.js', 'routes-insight-blame-blame.js']],
    ['join', ['log-joined-log.js', 'log-joined-tracker.js', 'log-joined-groups.js']],
    [
      'metrics, readiness, tokens',
      [
        'kit-observe-ready.js',
        'kit-observe-observer.js',
        'core-access-guard.js',
        'core-access-revocation.js',
        'core-access-tokens.js',
      ],
    ],
    ['Loki', ['doors-loki-api.js']],
    ['OpenAPI', ['doors-openapi-route.js']],
    ['page', ['doors-page-assets.js', 'routes-page.js', 'routes-page-mark.js']],
    ['fleet', ['fleet-fleet.js', 'fleet-logs.js']],
    ['comparison of configurations', ['fleet-compare.js']],
    ['assistants', ['doors-mcp-answer.js', 'doors-mcp-protocol.js', 'dist.js']],
    // What reads files: never loaded, since a worker has none.
    ['never loaded', ['entry-settings-file.js']],
  ]

  /** The bars of docs/performance.md, so that growth is noticed where it happens. */
  const bars = new Map(
    [
      ...readFileSync(join(root, 'docs/performance.md'), 'utf8').matchAll(
        /^\| (.+?) \| .+ \| ([\d.]+) \|$/gm,
      ),
    ].map(([, part, most]) => [part!, Number(most)]),
  )

  it('is as light as it was, part by part', () => {
    const before = new Set<string>()
    const weights = PARTS.map(([part, modules]) => {
      const own = [...closure(modules)].filter((name) => !before.has(name))
      for (const name of own) before.add(name)
      return { part, weight: weight(own), most: bars.get(part) ?? 0 }
    })
    for (const { part, weight, most } of weights) {
      expect(weight, part).toBeLessThanOrEqual(most)
    }
    // Every module belongs to a part.
    expect(readdirSync(folder).filter((name) => !before.has(name))).toEqual([])
  })

  it('loads everything but the core when it is first used', () => {
    expect([...closure(['worker.js'])].sort()).toEqual(['core.js', 'worker.js'])
    const core = readFileSync(join(folder, 'core.js'), 'utf8')
    for (const name of [
      'routes-query-routes',
      'doors-page-assets',
      'doors-loki-api',
      'doors-mcp-answer',
      'doors-openapi-route',
      'fleet-fleet',
      'segments',
    ])
      expect(core).toContain(`import(\`./${name}.js\`)`)
    // A pattern search loads none of what only other requests need.
    const search = closure(['routes-query-routes.js'])
    for (const name of [
      'doors-loki-api.js',
      'doors-openapi-route.js',
      'fleet-fleet.js',
      'doors-page-assets.js',
      'regex.js',
    ])
      expect(search).not.toContain(name)
  })

  it('has no module of ours in two chunks', () => {
    // A sentence of one module each, which no minifier changes.
    const sentences = [
      'is not a cursor of this service',
      'There is no log file with this name',
      'did you mean ',
    ]
    for (const sentence of sentences) {
      const holders = readdirSync(folder).filter((name) =>
        readFileSync(join(folder, name), 'utf8').includes(sentence),
      )
      expect(holders, sentence).toHaveLength(1)
    }
  })
})
