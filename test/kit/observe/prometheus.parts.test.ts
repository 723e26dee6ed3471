import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ShipMetrics } from '../../../src/ship/metrics.ts'
import { cleanUp, type Program, serve } from '../../program.ts'
import { type Running, start } from '../../support/child.ts'
import { lacking } from '../../support/parts.ts'

const has = (name: string) => spawnSync(name, ['--version']).status === 0
const missing =
  has('promtool') && has('prometheus')
    ? null
    : lacking('prometheus is not installed: apt-get install prometheus')
const title = (text: string) => (missing ? `${text} (${missing})` : text)

const folder = mkdtempSync(join(tmpdir(), 'nodestate-prometheus-'))
let node: Program
beforeAll(async () => {
  writeFileSync(join(folder, 'a.log'), 'one\n')
  writeFileSync(join(folder, 'node.toml'), 'a = 1\n')
  node = await serve(
    ['--port=0', '--logs', folder, '--config', join(folder, 'node.toml'), '--log-level=off'],
    {
      env: { NODESTATE_TOKEN: 's3cret' },
    },
  )
  const headers = { Authorization: 'Bearer s3cret' }
  for (const path of [
    '/api/v1/config',
    '/api/v1/log/list',
    '/api/v1/log/view?file=a.log',
    '/api/v1/log/view?file=b',
  ])
    await fetch(node.url + path, { headers })
})
afterAll(async () => {
  await cleanUp()
  rmSync(folder, { recursive: true, force: true })
})

async function metrics(accept?: string, program = node): Promise<string> {
  const headers = { Authorization: 'Bearer s3cret', ...(accept && { Accept: accept }) }
  return (await fetch(`${program.url}/metrics`, { headers })).text()
}

describe.skipIf(missing)(title('promtool'), () => {
  it('finds nothing wrong with the metrics', async () => {
    const checked = spawnSync('promtool', ['check', 'metrics'], { input: await metrics(), encoding: 'utf8' })
    expect([checked.status, checked.stderr, checked.stdout]).toEqual([0, '', ''])
  })

  it('finds nothing wrong with the alert rules, and they fire when they should', () => {
    const run = (...args: string[]) =>
      spawnSync('promtool', args, { cwd: 'deploy/prometheus', encoding: 'utf8' })
    for (const name of ['rules', 'ship', 'slo']) {
      expect(run('check', 'rules', `${name}.yaml`).stdout).toContain('SUCCESS')
      const tested = run('test', 'rules', `${name}.test.yaml`)
      expect(tested.status, tested.stdout + tested.stderr).toBe(0)
    }
  })
})

describe('the metrics', () => {
  it('are those that the dashboard and the alerts ask for', async () => {
    const coordinator = await serve(['--port=0', '--peer', `db-1=${node.url}`, '--log-level=off'], {
      env: { NODESTATE_TOKEN: 's3cret' },
    })
    const text = `${await metrics()}${await metrics(undefined, coordinator)}`
    const shownIn = (text: string) => [...new Set(text.match(/^(nodestate|process)_\w+/gm))]
    const askedIn = (file: string) =>
      [...readFileSync(join('deploy', file), 'utf8').matchAll(/\b(nodestate|process)_\w+/g)].map(
        ([name]) => name,
      )
    for (const file of ['grafana/nodestate.json', 'prometheus/rules.yaml', 'prometheus/slo.yaml'])
      for (const name of askedIn(file)) expect(shownIn(text), `${file}: ${name}`).toContain(name)
    const ship = new ShipMetrics()
    ship.heartbeat = Date.now()
    ship.onCounted({ 'a.log': { lastLine: null, minutes: {} } })
    const status = { life: 1, size: 0, lagBytes: 0, lagSeconds: 0, open: [] }
    const shipped = ship.render(new Map([['a.log', status]]), { files: 0, bytes: 0, left: [] })
    for (const name of askedIn('prometheus/ship.yaml')) expect(shownIn(shipped), name).toContain(name)
    expect(text).toContain('le="0.25"')
    expect(text).toMatch(/^nodestate_event_loop_delay_seconds\{percentile="99"\} [\d.e-]+$/m)
    expect(text).not.toContain('s3cret')
  })
})

describe.skipIf(missing)(title('a real Prometheus'), () => {
  let prometheus: Running
  let base: string
  beforeAll(async () => {
    const port = await freePort()
    base = `http://127.0.0.1:${port}`
    const target = new URL(node.url).host
    writeFileSync(join(folder, 'token'), 's3cret')
    writeFileSync(
      join(folder, 'prometheus.yml'),
      readFileSync('deploy/prometheus/scrape.yaml', 'utf8')
        .replace('db-4:9000', target)
        .replace('/etc/prometheus/nodestate.token', join(folder, 'token'))
        .replace('15s', '1s'),
    )
    const args = [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]
    // It reports on stderr; the shell brings that where lines are waited for.
    prometheus = await start('sh', ['-c', 'exec prometheus "$@" 2>&1', 'sh', ...args], {
      isReady: (line) => line.includes('ready to receive web requests'),
    })
  })
  afterAll(() => prometheus.stop())

  async function query(
    expression: string,
  ): Promise<{ metric: Record<string, string>; value: [number, string] }[]> {
    const answer = await fetch(`${base}/api/v1/query?query=${encodeURIComponent(expression)}`)
    return (await answer.json()).data.result
  }

  it('scrapes it with its token, in OpenMetrics', async () => {
    await expect.poll(async () => (await query('up'))[0]?.value[1]).toBe('1')
    const requests = await query('nodestate_http_requests_total{route="/api/v1/log/view"}')
    expect(requests.map(({ metric, value }) => [metric.status, value[1]]).sort()).toEqual([
      ['200', '1'],
      ['404', '1'],
    ])
    const targets = await (await fetch(`${base}/api/v1/targets`)).json()
    expect(targets.data.activeTargets[0].lastError).toBe('')
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
