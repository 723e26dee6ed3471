import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, launch, type Program, serve, temporaryDirectory } from '../../program.ts'

const LEVELS = ['INFO', 'INFO', 'WARN', 'ERROR']
const line = (i: number) => {
  const time = new Date(Date.UTC(2026, 10, 15, 2, 10, 0, i * 10)).toISOString().replace('T', ' ').slice(0, -1)
  const end = i % 10 === 0 ? 'Timeout' : 'ok'
  return `${time}\t${LEVELS[i % 4]}\tstorage/wal.go:${i}\t[Storage] [WAL]: sync ${i} ${end}\t{"shard":${i % 5}}\n`
}
const ALL = Array.from({ length: 400 }, (_, i) => line(i))
const OLD = ALL.slice(0, 100)
const NEW = ALL.slice(100)
const TRACE = '2026-11-15 02:20:00.000\tERROR\ta.go:1\t[A]: panic in flush\ngoroutine 7:\n\tmain.flush()\n'
const ODD = '2026-11-15 02:20:00.000\tERROR\ta.go:1\t[A]: \x1b]0;owned\x07 bell\n'
const CRLF = '2026-11-15 02:20:00.000\tINFO\ta.go:1\t[A]: from windows\r\n'
const GREETING = '2026-11-15 02:20:00.000\tINFO\ta.go:1\t[A]: Grüße\n'
const SHARD = 'The newest records do not seem to have a field shrad: did you mean shard?'
const matching = (lines: string[], what: RegExp) => lines.filter((text) => what.test(text)).join('')

let node: Program
beforeAll(async () => {
  const logs = join(temporaryDirectory(), 'logs')
  mkdirSync(logs)
  writeFileSync(join(logs, 'broker.log.1'), OLD.join(''))
  writeFileSync(join(logs, 'broker.log'), NEW.join(''))
  writeFileSync(join(logs, 'storage.log'), line(0) + line(2) + TRACE)
  writeFileSync(join(logs, 'odd.log'), ODD)
  writeFileSync(join(logs, 'crlf.log'), CRLF)
  writeFileSync(join(logs, 'latin.log'), Buffer.from(GREETING, 'latin1'))
  node = await serve(['--port=0', '--logs', logs, '--timezone', 'UTC'])
})
afterAll(cleanUp)

async function grep(...args: string[]) {
  const program = launch(['grep', ...args], { env: { NODESTATE_URL: node.url } })
  const code = await program.exited
  return { code, out: program.stdout(), err: program.stderr() }
}
const found = (out: string) => ({ code: 0, out, err: '' })

describe('grep', () => {
  it('prints what matches, oldest first and byte for byte, and exits 0', async () => {
    expect(await grep('timeout', 'broker.log')).toEqual(found(matching(NEW, /Timeout/)))
    expect(await grep('Timeout', node.url, 'broker.log')).toEqual(found(matching(NEW, /Timeout/)))
  })

  it('needs no text beside conditions: an argument that names a log is one', async () => {
    const three = matching(NEW, /"shard":3/)
    expect(await grep('--where', 'shard:3', 'broker.log')).toEqual(found(three))
    expect(await grep('broker.log', '--where', 'shard:3')).toEqual(found(three))
    expect(await grep('brok*.log', '--where', 'shard:3', '--count')).toEqual(found('broker.log:80\n'))
    expect(await grep('timeout', 'broker.log', '--where', 'shard:0')).toEqual(
      found(matching(NEW, /Timeout.*"shard":0/)),
    )
    const all = await grep('--level', 'error', '-l')
    expect(all.out).toContain('storage.log')
    expect(await grep('-v', 'broker.log')).toMatchObject({ code: 0 })
    expect(await grep()).toMatchObject({ code: 2, err: expect.stringContaining('Say what to search for') })
  })

  it('suggests the name of a misspelt log or field', async () => {
    const log = await grep('Timeout', 'brokr.log')
    expect(log).toMatchObject({ code: 2, out: '' })
    expect(log.err).toContain('did you mean broker.log?')
    const field = await grep('Timeout', 'broker.log', '--where', 'shrad:3')
    expect(field).toEqual({
      code: 1,
      out: '',
      err: `nodestate: ${SHARD}\n`,
    })
    expect(await grep('broker.log', '-C', '2', '--where', 'shrad >= 3')).toEqual(field)
  })

  it('exits 1 and prints nothing when nothing matches', async () => {
    expect(await grep('no such words', 'broker.log')).toEqual({ code: 1, out: '', err: '' })
    expect(await grep('TIMEOUT', 'broker.log')).toEqual({ code: 1, out: '', err: '' })
    expect(await grep('-l', 'no such words', 'broker.log')).toEqual({ code: 1, out: '', err: '' })
    expect(await grep('-c', 'no such words', 'broker.log')).toEqual({ code: 1, out: '0\n', err: '' })
  })

  it.each([
    [['', 'broker.log'], /nodestate grep TEXT FILE/],
    [['timeout', 'none.log'], /none\.log/],
    [['-E', '(', 'broker.log'], /pattern/],
    [['-m', 'x', 'timeout', 'broker.log'], /max-count/],
    [['--since', 'whenever', 'timeout', 'broker.log'], /since/],
    [['timeout', 'http://127.0.0.1:1', 'broker.log'], /does not answer/],
  ])('%j is trouble: one sentence and exit code 2', async (args, said) => {
    const { code, out, err } = await grep(...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(said)
    expect(err.trimEnd().split('\n')).toHaveLength(1)
  })

  it('-c counts, -l names, -m stops', async () => {
    expect(await grep('-c', 'Timeout', 'broker.log')).toEqual(found('30\n'))
    expect(await grep('-l', 'Timeout', 'broker.log')).toEqual(found('broker.log\n'))
    const three = NEW.filter((text) => text.includes('Timeout')).slice(0, 3)
    expect(await grep('-m', '3', 'Timeout', 'broker.log')).toEqual(found(three.join('')))
    expect(await grep('-c', '-m3', 'Timeout', 'broker.log')).toEqual(found('3\n'))
  })

  it('-C prints the records around each match, each once, with a line between groups', async () => {
    const around = (count: number, isMatch: (i: number) => boolean) => {
      const groups: number[][] = []
      for (const i of NEW.keys()) {
        if (
          !NEW.slice(Math.max(0, i - count), i + count + 1).some((_, n) =>
            isMatch(Math.max(0, i - count) + n),
          )
        )
          continue
        if (groups.at(-1)?.at(-1) === i - 1) groups.at(-1)!.push(i)
        else groups.push([i])
      }
      return groups.map((group) => group.map((i) => NEW[i]).join('')).join('--\n')
    }
    const tenth = (i: number) => i % 10 === 0
    for (const count of [0, 1, 4, 5, 9])
      expect(await grep('-C', `${count}`, 'Timeout', 'broker.log')).toEqual(found(around(count, tenth)))
    const two = (i: number) => i === 0 || i === 10
    expect(await grep('-C3', '-m2', 'Timeout', 'broker.log')).toEqual(found(around(3, two)))
    const json = await grep('-C1', '-m1', '--json', 'sync 200 ', 'broker.log')
    expect(
      json.out
        .trimEnd()
        .split('\n')
        .map((text) => JSON.parse(text).match),
    ).toEqual([false, undefined, false])
    const named = await grep('-C1', '-E', 'sync (120|140) ', 'broker.log', 'storage.log')
    const lines = [119, 120, 121, null, 139, 140, 141].map((i) => (i === null ? '--\n' : ALL[i]))
    expect(named).toEqual(found(lines.map((text) => `broker.log:${text}`).join('')))
    expect(await grep('-C1', '-c', 'Timeout', 'broker.log')).toEqual(found('30\n'))
    expect(await grep('-C1', 'no such words', 'broker.log')).toEqual({ code: 1, out: '', err: '' })
    expect(await grep('-C', '100', 'Timeout', 'broker.log')).toMatchObject({ code: 2, out: '' })
  })

  it('--encoding says how a log is written', async () => {
    const query = ['Grüße', 'latin.log']
    expect(await grep(...query)).toMatchObject({ code: 1 })
    expect(await grep(...query, '--encoding', 'latin1')).toEqual(found(GREETING))
    expect(await grep(...query, '--encoding', 'ebcdic')).toMatchObject({ code: 2, out: '' })
  })

  it('counts records, not lines', async () => {
    expect(await grep('panic', 'storage.log')).toEqual(found(TRACE))
    expect(await grep('-c', 'panic', 'storage.log')).toEqual(found('1\n'))
    expect(await grep('-m1', 'panic', 'storage.log')).toEqual(found(TRACE))
  })

  it('-E takes a pattern, -v turns it around', async () => {
    expect(await grep('-E', 'sync 1[05]0 (ok|Timeout)', 'broker.log')).toEqual(
      found(matching(NEW, /sync 1[05]0 /)),
    )
    expect(await grep('-v', 'ok', 'broker.log')).toEqual(found(matching(NEW, /Timeout/)))
    expect(await grep('-vE', 'sync \\d*[1-9] ', 'broker.log')).toEqual(found(matching(NEW, /sync \d*0 /)))
    expect(await grep('-cv', 'Timeout', 'broker.log')).toEqual(found('270\n'))
  })

  it('merges several logs with their rotated files, each line with its name', async () => {
    const both = await grep('-E', 'sync (0|120) |panic', 'broker.log', 'storage.log')
    const trace = TRACE.trimEnd()
      .split('\n')
      .map((text) => `storage.log:${text}\n`)
    expect(both).toEqual(
      found(`broker.log:${line(0)}storage.log:${line(0)}broker.log:${line(120)}${trace.join('')}`),
    )
    expect(await grep('-c', 'Timeout', 'broker.log', 'storage.log', 'odd.log')).toEqual(
      found('broker.log:40\nstorage.log:1\nodd.log:0\n'),
    )
    expect(await grep('-l', 'panic', 'broker.log', 'storage.log')).toEqual(found('storage.log\n'))
    expect(await grep('-m1', 'Timeout', 'broker.log', 'storage.log')).toEqual(
      found(`broker.log:${line(0)}storage.log:${line(0)}`),
    )
  })

  it('--json prints records', async () => {
    const { code, out } = await grep('--json', '-m2', 'Timeout', 'broker.log')
    const records = out
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text))
    expect(code).toBe(0)
    expect(records.map(({ level, context }) => [level, context])).toEqual([
      ['info', { shard: 0 }],
      ['warn', { shard: 0 }],
    ])
    expect(records.map(({ raw }) => raw.trimEnd())).toEqual([line(100).trimEnd(), line(110).trimEnd()])
  })

  it('--rotated searches the files before, too', async () => {
    expect(await grep('--rotated', 'Timeout', 'broker.log')).toEqual(found(matching(ALL, /Timeout/)))
    expect(await grep('--rotated', '-c', 'Timeout', 'broker.log')).toEqual(found('40\n'))
  })

  it('--since, --until and --level narrow it', async () => {
    const window = ['--since', '2026-11-15 02:10:02', '--until', '2026-11-15 02:10:03']
    expect(await grep('Timeout', 'broker.log', ...window)).toEqual(
      found(matching(ALL.slice(200, 300), /Timeout/)),
    )
    expect(await grep('Timeout', 'broker.log', '--level', 'warn')).toEqual(
      found(matching(NEW, /WARN.*Timeout/)),
    )
  })

  it('colors the text of the record itself, and marks what was looked for', async () => {
    const error = line(303).trimEnd()
    const [before, after] = error.split('sync 303')
    expect(await grep('--color', 'sync 303', 'broker.log')).toEqual(
      found(`\x1b[31m${before}\x1b[0m\x1b[1;7msync 303\x1b[0m\x1b[31m${after}\x1b[0m\n`),
    )
    expect(await grep('--color', '-E', 'sync 303 ', 'broker.log')).toEqual(found(`\x1b[31m${error}\x1b[0m\n`))
  })

  it('leaves control characters alone where the output is not a terminal', async () => {
    expect(await grep('bell', 'odd.log')).toEqual(found(ODD))
    expect(await grep('-m1', 'bell', 'odd.log')).toEqual(found(ODD))
    expect(await grep('from windows', 'crlf.log')).toEqual(found(CRLF))
  })

  it('ends quietly when nobody reads on', () => {
    const command = `"${process.execPath}" dist/entry/cli.js grep sync broker.log --rotated | head -1`
    const { stdout, stderr, status } = spawnSync('sh', ['-c', command], {
      env: { ...process.env, NODESTATE_URL: node.url },
      encoding: 'utf8',
      timeout: 120_000,
    })
    expect([stdout, stderr, status]).toEqual([line(0), '', 0])
  })
})
