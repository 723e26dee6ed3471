import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { cleanUp, type Program, serve, temporaryDirectory } from '../../program.ts'
import { lacking } from '../../support/parts.ts'

afterEach(cleanUp)

const promtool = spawnSync('promtool', ['--version']).status === 0
const missing = promtool ? '' : ` (${lacking('promtool is not installed: apt-get install prometheus')})`

async function start(...flags: string[]): Promise<Program> {
  const logs = temporaryDirectory()
  writeFileSync(join(logs, 'a.log'), 'one\ntwo\n')
  return serve(['--port=0', '--logs', logs, '--workers=3', '--log-level=off', ...flags])
}

/** Without keep-alive, so that every request may come to another process. */
const get = (url: string, path: string) => fetch(url + path, { headers: { Connection: 'close' } })
const scrape = async ({ url }: Program) => (await get(url, '/metrics')).text()

/** The value of a series, or of all series that start like this together. */
function valueIn(text: string, series: string): number {
  return text
    .split('\n')
    .filter((line) => line.startsWith(series))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
const views = (text: string) => valueIn(text, 'nodestate_http_requests_total{route="/api/v1/log/view"')
const pidsOf = (text: string) =>
  [...text.matchAll(/^process_start_time_seconds\{process="([^"]+)"\}/gm)].map((match) => match[1]!).sort()

async function view({ url }: Program, count: number): Promise<void> {
  const answers = Array.from({ length: count }, async () =>
    (await get(url, '/api/v1/log/view?file=a.log')).text(),
  )
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['one\ntwo\n']))
}

/** The workers of a program, as the system knows them. */
function workersOf({ child }: Program): number[] {
  return readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ').map(Number)
}

describe('/metrics with --workers', () => {
  it('counts what all processes did, whichever answers', async () => {
    const program = await start()
    await view(program, 60)
    await get(program.url, '/api/v1/log/view?file=none')
    for (let scrapes = 0; scrapes < 12; scrapes++) {
      const text = await scrape(program)
      expect(views(text)).toBe(61)
      expect(valueIn(text, 'nodestate_http_requests_total{route="/metrics"')).toBe(scrapes)
      const count = 'nodestate_http_response_size_bytes_count{route="/api/v1/log/view"}'
      expect(valueIn(text, count)).toBe(61)
      expect(text).toContain('nodestate_http_requests_in_flight 1\n')
      expect(text.match(/^nodestate_build_info\{.*runtime="node"\} 1$/gm)).toHaveLength(1)
      expect(text).toContain('nodestate_workers{state="reported"} 3\n')
      expect(text).toContain('nodestate_workers{state="late"} 0\n')
      expect(pidsOf(text)).toEqual(['primary', 'worker-1', 'worker-2', 'worker-3'])
    }
  })

  it.skipIf(!promtool)(`is what promtool accepts, and OpenMetrics on request${missing}`, async () => {
    const program = await start()
    await view(program, 10)
    const checked = spawnSync('promtool', ['check', 'metrics'], {
      input: await scrape(program),
      encoding: 'utf8',
    })
    expect([checked.status, checked.stderr, checked.stdout]).toEqual([0, '', ''])
    const headers = { Accept: 'application/openmetrics-text;version=1.0.0', Connection: 'close' }
    const open = await (await fetch(`${program.url}/metrics`, { headers })).text()
    expect(open).toContain('# TYPE nodestate_http_requests counter\n')
    expect(open.endsWith('# EOF\n')).toBe(true)
  })

  it('keeps the counts of a worker that died, so that no counter drops', async () => {
    const program = await start()
    await view(program, 30)
    expect(views(await scrape(program))).toBe(30)
    const [first] = workersOf(program)
    process.kill(first!, 'SIGKILL')
    await expect
      .poll(async () => (await scrape(program).catch(() => '')).includes('{state="reported"} 3'))
      .toBe(true)
    const text = await scrape(program)
    expect(views(text)).toBe(30)
    expect(pidsOf(text)).toHaveLength(4)
    expect(pidsOf(text)).toContain('worker-4')
    await view(program, 5)
    expect(views(await scrape(program))).toBe(35)
  })

  it('says when a worker does not report, and shows what it reported last', async () => {
    const program = await start()
    await view(program, 30)
    expect(views(await scrape(program))).toBe(30)
    const [first] = workersOf(program)
    process.kill(first!, 'SIGSTOP')
    try {
      const text = await scrape(program)
      expect(text).toContain('nodestate_workers{state="late"} 1\n')
      expect(text).toContain('nodestate_workers{state="reported"} 2\n')
      expect(views(text)).toBe(30)
    } finally {
      process.kill(first!, 'SIGCONT')
    }
  })

  it('is still one process without them, and absent with --no-metrics', async () => {
    const logs = temporaryDirectory()
    const alone = await serve(['--port=0', '--logs', logs, '--log-level=off'])
    const text = await scrape(alone)
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m)
    expect(text).not.toContain('nodestate_workers')
    const none = await start('--no-metrics')
    expect((await get(none.url, '/metrics')).status).toBe(404)
  })
})
