import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, lastingPort, launch, type Program, serve, temporaryDirectory } from '../../program.ts'

const LEVELS = ['INFO', 'INFO', 'WARN', 'ERROR']
const line = (i: number) => {
  const time = new Date(Date.UTC(2026, 10, 15, 2, 10, 0, i * 10)).toISOString().replace('T', ' ').slice(0, -1)
  const level = LEVELS[i % 4]!
  return `${time}\t${level}\tstorage/wal.go:${i}\t[Storage] [WAL]: sync ${i} ${i % 10 === 0 ? 'Timeout' : 'ok'}\t{"shard":${i % 5}}\n`
}
const LINES = Array.from({ length: 400 }, (_, i) => line(i))

let logs: string
let node: Program
beforeAll(async () => {
  logs = join(temporaryDirectory(), 'logs')
  mkdirSync(logs)
  writeFileSync(join(logs, 'broker.log'), LINES.join(''))
  writeFileSync(join(logs, 'odd.log'), '2026-11-15 02:00:00.000\tINFO\ta.go:1\t[A]: \x1b]0;owned\x07 bell\n')
  const config = join(logs, '..', 'node.toml')
  writeFileSync(config, '# the node\n[http]\nport = 9000\npassword = "hunter2"\n')
  node = await serve(['--port=0', '--logs', logs, '--config', config, '--timezone', 'UTC'])
})
afterAll(cleanUp)

async function run(args: string[], env: Record<string, string> = {}) {
  const program = launch(args, { env: { NODESTATE_URL: node.url, ...env } })
  const code = await program.exited
  return { code, out: program.stdout(), err: program.stderr() }
}

/** Waits until `look` gives something. */
async function eventually<T>(look: () => T | null | undefined | false): Promise<T> {
  for (;;) {
    const found = look()
    if (found) return found
    await sleep(20)
  }
}

describe('tail', () => {
  it('prints the last ten lines, byte for byte', async () => {
    expect(await run(['tail', 'broker.log'])).toEqual({ code: 0, out: LINES.slice(-10).join(''), err: '' })
  })

  it('takes the URL as an argument, anywhere', async () => {
    const { out } = await run(['tail', 'broker.log', '-n', '3', node.url], { NODESTATE_URL: '' })
    expect(out).toBe(LINES.slice(-3).join(''))
    expect((await run(['tail', '-n2', node.url, 'broker.log'])).out).toBe(LINES.slice(-2).join(''))
  })

  it('filters by level, text and time, and exits 1 when nothing is left', async () => {
    const filtered = await run(['tail', 'broker.log', '-n', '5', '--level', 'error', '--grep', 'sync 39'])
    expect(filtered.out).toBe(
      LINES.filter((text) => /ERROR.*sync 39/.test(text))
        .slice(-5)
        .join(''),
    )
    expect(filtered.code).toBe(0)
    const window = await run([
      'tail',
      'broker.log',
      '-n',
      '100',
      '--since',
      '2026-11-15 02:10:03',
      '--until',
      '2026-11-15 02:10:03.050',
    ])
    expect(window.out).toBe(LINES.slice(300, 305).join(''))
    expect(await run(['tail', 'broker.log', '--grep', 'nothing like it'])).toEqual({
      code: 1,
      out: '',
      err: '',
    })
  })

  it('prints records as JSON', async () => {
    const { out } = await run(['tail', 'broker.log', '-n', '2', '--json'])
    const records = out
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text))
    expect(records.map((record) => record.level)).toEqual(['warn', 'error'])
    expect(records[1].context).toEqual({ shard: 4 })
  })

  it('colors by level when told to, and marks what was looked for', async () => {
    const text = LINES.at(-1)!.trimEnd()
    const { out } = await run(['tail', 'broker.log', '-n', '1', '--level', 'error', '--color'])
    expect(out).toBe(`\x1b[31m${text}\x1b[0m\n`)
    const marked = await run(['tail', 'broker.log', '-n', '1', '--grep', 'sync', '--color=always'])
    const [before, after] = text.split('sync')
    expect(marked.out).toBe(`\x1b[31m${before}\x1b[0m\x1b[1;7msync\x1b[0m\x1b[31m${after}\x1b[0m\n`)
    expect((await run(['tail', 'broker.log', '-n', '1', '--color=never'])).out).toBe(LINES.at(-1))
  })

  it('shows times in UTC or in the zone of the reader', async () => {
    const utc = await run(['tail', 'broker.log', '-n', '1', '--time', 'utc'])
    expect(utc.out).toMatch(
      /^2026-11-15 02:10:03\.990\tERROR\tstorage\/wal\.go:399\t\[Storage\] \[WAL\]: sync 399 ok\t\{"shard":4\}\n$/,
    )
    const local = await run(['tail', 'broker.log', '-n', '1', '--time', 'local'], { TZ: 'Asia/Kolkata' })
    expect(local.out).toMatch(/^2026-11-15 07:40:03\.990\t/)
  })

  it('prefixes each of several files, and of several nodes', async () => {
    const files = await run(['tail', '-n', '401', 'broker.log', 'odd.log'])
    expect(files.out.split('\n')[0]).toMatch(/^\[odd\.log\] /)
    expect(files.out.split('\n')[400]).toBe(`[broker.log] ${LINES.at(-1)!.trimEnd()}`)
    const last = await run(['tail', '-n', '1', '*.log'])
    expect(last).toEqual({ code: 0, out: `[broker.log] ${LINES.at(-1)}`, err: '' })
    const nodes = await run(['tail', '-n', '1', 'broker.log', '--url', node.url, '--url', `${node.url}/`])
    const { host } = new URL(node.url)
    expect(nodes.out).toBe(`[${host}] ${LINES.at(-1)}`.repeat(2))
  })

  it('follows through a rotation and a restart of the node, and ends cleanly with Ctrl-C', async () => {
    const place = join(temporaryDirectory(), 'logs')
    mkdirSync(place)
    const file = join(place, 'a.log')
    writeFileSync(file, line(0))
    const port = await lastingPort()
    const served = await serve([`--port=${port}`, '--logs', place])
    const tail = launch(['tail', served.url, 'a.log', '-f'])
    await eventually(() => tail.stdout() === line(0))
    appendFileSync(file, line(1))
    await eventually(() => tail.stdout().endsWith(line(1)))
    renameSync(file, `${file}.1`)
    writeFileSync(file, line(2))
    await eventually(() => tail.stdout().endsWith(line(2)))
    await eventually(() => tail.stderr().includes('a.log was rotated.'))
    served.child.kill('SIGTERM')
    await served.exited
    await eventually(() => /Trying again in \d+ s/.test(tail.stderr()))
    appendFileSync(file, line(3))
    await serve([`--port=${port}`, '--logs', place])
    await eventually(() => tail.stdout().endsWith(line(3)))
    await eventually(() => tail.stderr().includes('connected again'))
    tail.child.kill('SIGINT')
    expect(await tail.exited).toBe(0)
    expect(tail.stdout()).toBe([0, 1, 2, 3].map(line).join(''))
    expect(tail.stderr()).not.toMatch(/\n\s+at |Error:/)
  })
})

describe('ls and config', () => {
  it('ls is a table of sizes, times and kinds', async () => {
    const { code, out } = await run(['ls'])
    expect(code).toBe(0)
    const rows = out
      .trim()
      .split('\n')
      .map((row) => row.trim().split(/ {2,}/))
    expect(rows[0]).toEqual(['SIZE', 'FIRST', 'LAST', 'KIND', 'NAME'])
    expect(rows[1]).toEqual([
      `${(LINES.join('').length / 1024).toFixed(1)} KB`,
      '2026-11-15T02:10:00.000Z',
      '2026-11-15T02:10:03.990Z',
      'plain',
      'broker.log',
    ])
    expect((await run(['ls', '-1'])).out).toBe('broker.log\nodd.log\n')
    expect(JSON.parse((await run(['ls', '--json'])).out)).toHaveLength(2)
  })

  it('config prints TOML with its secrets masked', async () => {
    const { out, code } = await run(['config'])
    expect(code).toBe(0)
    expect(out).toBe('# the node\n[http]\nport = 9000\npassword = "********"\n')
    expect((await run(['config', '--color'])).out).toContain('\x1b[36mport\x1b[0m = 9000')
    expect(JSON.parse((await run(['config', '--json'])).out).node.httpPort).toBe(9000)
  })
})

describe('trouble is one sentence and exit code 2', () => {
  it.each([
    [['tail', 'none.log'], /^nodestate: .*none\.log.*\n$/],
    [['tail'], /Say which log/],
    [['tail', 'broker.log', '--lines', 'x'], /Cannot use --lines "x": it must be a whole number/],
    [['tail', 'broker.log', '--token', 'secret'], /every user of a machine can read its command lines/],
    [['tail', 'broker.log', '--level', 'loud'], /level/],
    [['grep'], /Say what to search for/],
    [['ls', 'ftp://x'], /a URL looks like http/],
    [['ls', 'http://127.0.0.1:1'], /does not answer/],
    [['completion', 'tcsh'], /bash, zsh or fish/],
    [['help', 'me'], /Unknown command "me"/],
  ])('%j', async (args, said) => {
    const { code, out, err } = await run(args)
    expect(code).toBe(2)
    expect(out).toBe('')
    expect(err).toMatch(said)
    expect(err.trimEnd().split('\n')).toHaveLength(1)
    expect(err).not.toContain('secret')
  })

  it('a node that wants a token says how to give it', async () => {
    const guarded = await serve(['--port=0', '--logs', logs], { env: { NODESTATE_TOKEN: 'a'.repeat(32) } })
    expect((await run(['ls', guarded.url])).err).toMatch(/set NODESTATE_TOKEN or use --token-file/)
    expect((await run(['ls', '-1', guarded.url], { NODESTATE_TOKEN: 'a'.repeat(32) })).code).toBe(0)
    const file = join(logs, '..', 'token')
    writeFileSync(file, `${'a'.repeat(32)}\n`)
    expect((await run(['ls', '-1', guarded.url, '--token-file', file])).code).toBe(0)
  })

  it('a closed pipe is silent', () => {
    const command = `"${process.execPath}" dist/entry/cli.js tail -f -n 400 broker.log | head -1`
    const { stdout, stderr, status } = spawnSync('sh', ['-c', command], {
      env: { ...process.env, NODESTATE_URL: node.url },
      encoding: 'utf8',
      timeout: 120_000,
    })
    expect([stdout, stderr, status]).toEqual([LINES[0], '', 0])
  })
})

describe('help and completion', () => {
  it('help shows every command, and how each is used', async () => {
    const { out } = await run(['help'])
    for (const name of ['serve', 'tail', 'grep', 'diff', 'incident', 'ls', 'config', 'completion']) {
      expect(out).toContain(`\n  ${name} `)
      const help = await run(['help', name])
      expect(help.code).toBe(0)
      expect(help.out).toMatch(/^Usage: nodestate /)
    }
  })

  it('bash accepts its script and completes commands and flags', async () => {
    const script = (await run(['completion', 'bash'])).out
    const complete = (...words: string[]) =>
      spawnSync(
        'bash',
        [
          '-c',
          `nodestate() { "${process.execPath}" dist/entry/cli.js "$@"; }; ${script}\nCOMP_WORDS=(${words.join(' ')} ""); COMP_CWORD=${words.length}; _nodestate; echo "\${COMPREPLY[@]}"`,
        ],
        { encoding: 'utf8' },
      ).stdout.trim()
    expect(complete('nodestate').split(' ')).toContain('tail')
    expect(complete('nodestate', 'tail').split(' ')).toContain('--follow')
  })

  it.each(['zsh', 'fish'])('%s has a script, too', async (shell) => {
    const { out, code } = await run(['completion', shell])
    expect(code).toBe(0)
    expect(out).toContain('nodestate')
    expect(out).toContain('follow')
  })
})
