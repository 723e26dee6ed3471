import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { cleanUp, launch, serve, temporaryDirectory } from '../program.ts'

afterEach(cleanUp)

const json = async (url: string) => (await fetch(url)).json()

describe('nodestate demo', () => {
  it('shows three logs of an incident up to now, and the setting that caused it', async () => {
    const cwd = temporaryDirectory()
    const started = Date.now()
    const { url, stdout, stderr } = await serve(['demo', '--port', '0'], { cwd })
    expect(stdout()).toContain('a sample')
    expect(stdout()).toContain('--logs DIR')
    const list = (await json(`${url}/api/v1/log/list`)) as { name: string; size: number }[]
    expect(list.map(({ name }) => name)).toEqual(['access.log', 'postgresql.log', 'storage.log'])
    for (const { size } of list) expect(size).toBeGreaterThan(300_000)
    expect(list.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(6_000_000)

    for (const { name } of list) {
      const { buckets, levels, to } = await json(`${url}/api/v1/log/histogram?file=${name}`)
      expect(to, name).toBeGreaterThan(started - 10 * 60_000)
      const at = (level: string) =>
        buckets.reduce(
          (sum: number, { counts }: { counts: number[] }) => sum + counts[levels.indexOf(level)]!,
          0,
        )
      expect(at('none'), name).toBe(0)
      expect(at('error') + at('fatal'), name).toBeGreaterThan(20)
      // It is told what it is: no record is continued by one without a level.
      expect(levels).toContain('info')
    }

    const history = (await json(`${url}/api/v1/config/history`)) as {
      time: number
      changes: { key: string }[]
    }[]
    expect(history.map(({ changes }) => changes.map(({ key }) => key))).toEqual([
      ['storage.flush-threads'],
      ['storage.memtable-size'],
      [],
    ])
    const [mended, begun] = history.map(({ time }) => new Date(time).toISOString())
    const { findings, complete } = await json(
      `${url}/api/v1/log/compare?file=storage.log&since=${begun}&until=${mended}`,
    )
    expect(complete).toBe(true)
    expect(findings[0]).toMatchObject({
      kind: 'config',
      what: 'storage.memtable-size',
      example: '"256 MiB" → "16 MiB"',
    })
    expect(findings.map(({ what }: { what: string }) => what)).toContain('error')

    const { config, node } = await json(`${url}/api/v1/config`)
    expect(config).toContain('postgres://tsdb:********@')
    expect(Object.keys(node).sort()).toEqual([
      'grpcPort',
      'hostIp',
      'hostName',
      'httpPort',
      'onlineTime',
      'version',
    ])
    expect(stderr()).toBe('')
    expect(readdirSync(cwd)).toEqual([])
  })

  it('grows, and a follower sees it', async () => {
    const { url } = await serve(['demo', '--port', '0'])
    const abort = new AbortController()
    const response = await fetch(`${url}/api/v1/log/view?file=storage.log&follow=true&lines=1`, {
      signal: abort.signal,
    })
    let text = ''
    for await (const part of response.body!) {
      text += new TextDecoder().decode(part)
      if (text.split('\n').length > 4) break
    }
    abort.abort()
    const times = text
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(0, 23))
    expect(times).toEqual(times.toSorted())
    for (const time of times) expect(time).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/)
  })

  it('says on every answer that it is a sample; a service of real logs does not', async () => {
    const demo = await serve(['demo', '--port', '0'])
    const real = await serve(['--logs', temporaryDirectory(), '--port', '0', '--log-level', 'off'])
    const header = async (url: string, path: string) =>
      (await fetch(url + path)).headers.get('X-Nodestate-Sample')
    for (const path of ['/', '/api/v1/config', '/api/v1/log/list', '/api/v1/log/view?file=nothing']) {
      expect(await header(demo.url, path), path).toBe('true')
      expect(await header(real.url, path), path).toBeNull()
    }
    // The page shows a bar by this mark.
    const page = async (url: string) => (await fetch(url)).text()
    expect(await page(demo.url)).toContain('<div id="page" data-sample>')
    expect(await page(real.url)).toContain('<div id="page">')
  })

  it('takes the flags of serve, but none that names something else to show', async () => {
    for (const flag of ['--logs', '--home', '--fleet', '--config']) {
      const program = launch(['demo', flag, '.'])
      expect(await program.exited).toBe(2)
      expect(program.stderr()).toContain(`Cannot use ${flag} with demo`)
    }
    const cwd = temporaryDirectory()
    writeFileSync(join(cwd, 'token'), 'secret')
    const { url } = await serve(['demo', '--port', '0', '--token-file', 'token'], {
      cwd,
      env: { NODESTATE_LOGS: '/nowhere' },
    })
    expect((await fetch(`${url}/api/v1/log/list`)).status).toBe(401)
    const headers = { Authorization: 'Bearer secret' }
    expect(await (await fetch(`${url}/api/v1/log/list`, { headers })).json()).toHaveLength(3)
  })
})

describe('without a source', () => {
  it.each([[[]], [['--config', 'node.toml']], [['--peer-self', 'a', '--peer', 'a=http://127.0.0.1:1']]])(
    'nodestate serve %j refuses, and names what to set',
    async (args) => {
      const cwd = temporaryDirectory()
      writeFileSync(join(cwd, 'node.toml'), '')
      const program = launch(['serve', ...args], { cwd })
      expect(await program.exited).toBe(2)
      expect(program.stdout()).toBe('')
      for (const word of ['--logs', '--home', 'demo']) expect(program.stderr()).toContain(word)
      expect(program.stderr().trimEnd()).not.toContain('\n')
      expect(existsSync(join(cwd, 'logs'))).toBe(false)
    },
  )

  it('npm start shows the sample, and with logs, those', async () => {
    const logs = temporaryDirectory()
    writeFileSync(join(logs, 'mine.log'), 'hello\n')
    for (const [args, words] of [
      [[], 'a sample'],
      [['--logs', logs], `the logs in ${logs}`],
    ] as const) {
      const child = spawn(
        process.execPath,
        [resolve('scripts/start.mjs'), '--port', '0', '--log-level', 'off', ...args],
        {
          cwd: temporaryDirectory(),
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
      expect(line).toContain(words)
      child.kill()
      await once(child, 'close')
    }
  })
})
