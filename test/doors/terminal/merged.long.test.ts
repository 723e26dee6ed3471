import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, launch, type Program, serve, temporaryDirectory } from '../../program.ts'

const line = (second: number, text: string, level = 'INFO') =>
  `2026-11-15 02:10:${String(second).padStart(2, '0')}.000\t${level}\ta.go:1\t[A]: ${text}\n`

let node: Program
let fleet: Program
let logs: string
beforeAll(async () => {
  logs = join(temporaryDirectory(), 'logs')
  mkdirSync(logs)
  writeFileSync(join(logs, 'a.log'), line(1, 'one timeout') + line(4, 'four', 'ERROR'))
  writeFileSync(join(logs, 'b.log'), line(2, 'two timeout') + line(3, 'three'))
  writeFileSync(join(logs, 'notes.txt'), 'a note about a timeout\n')
  node = await serve(['--port=0', '--logs', logs, '--timezone', 'UTC'])
  const homes = temporaryDirectory()
  for (const [id, text] of [
    ['db-4', line(1, 'from four')],
    ['db-7', line(2, 'from seven')],
  ]) {
    mkdirSync(join(homes, id!, 'logs'), { recursive: true })
    writeFileSync(join(homes, id!, 'logs', 'a.log'), text!)
    writeFileSync(join(homes, id!, 'config.toml'), 'a = 1\n')
  }
  writeFileSync(join(homes, 'db-7/logs/notes.txt'), 'seven has no times\n')
  fleet = await serve(['--port=0', '--fleet', homes, '--timezone', 'UTC'])
})
afterAll(cleanUp)

async function run(...args: string[]) {
  const program = launch(args, { env: { NODESTATE_URL: node.url } })
  const code = await program.exited
  return { code, out: program.stdout(), err: program.stderr() }
}

describe('several logs in the terminal', () => {
  it('tail merges them by time, and counts merged records', async () => {
    const { code, out, err } = await run('tail', 'a.log', 'b.log', '-n', '3')
    expect(err).toBe('')
    expect(out).toBe(
      `[b.log] ${line(2, 'two timeout')}[b.log] ${line(3, 'three')}[a.log] ${line(4, 'four', 'ERROR')}`,
    )
    expect(code).toBe(0)
  })

  it('prints a log without times after the others', async () => {
    const { code, out } = await run('tail', '*', '-n', '1')
    expect(out).toBe(`[a.log] ${line(4, 'four', 'ERROR')}[notes.txt] a note about a timeout\n`)
    expect(code).toBe(0)
    const found = await run('grep', 'timeout')
    expect(found.out).toBe(
      `a.log:${line(1, 'one timeout')}b.log:${line(2, 'two timeout')}notes.txt:a note about a timeout\n`,
    )
    expect(found.code).toBe(0)
  })

  it('names what cannot answer, and exits with 2', async () => {
    const { code, out, err } = await run('tail', 'a.log', 'notes.txt', 'none.log', '--level', 'error')
    expect(out).toBe(`[a.log] ${line(4, 'four', 'ERROR')}`)
    expect(err).toMatch(/notes\.txt/)
    expect(err).toMatch(/none\.log/)
    expect(code).toBe(2)
  })

  it('prints logs without times when there are no others', async () => {
    const alone = await run('tail', '*.txt', 'none.log')
    expect(alone.out).toBe('[notes.txt] a note about a timeout\n')
    expect(alone.err).toBe('nodestate: none.log was not read: unknown-file.\n')
    expect(alone.code).toBe(2)
    expect(await run('grep', '-c', 'timeout', 'n*.txt')).toEqual({ code: 0, out: 'notes.txt:1\n', err: '' })
    const ranged = await run('tail', '*', '-n', '1', '--since', '2026-11-15')
    expect(ranged).toEqual({
      code: 2,
      out: `[a.log] ${line(4, 'four', 'ERROR')}`,
      err: 'nodestate: notes.txt was not read: no-time.\n',
    })
  })

  it('prints the rotated files of a log without times, too', async () => {
    const place = temporaryDirectory()
    writeFileSync(join(place, 'a.log'), line(1, 'one timeout'))
    writeFileSync(join(place, 'notes.txt.1'), 'an older timeout\n')
    writeFileSync(join(place, 'notes.txt'), 'a timeout\n')
    const rotated = await serve(['--port=0', '--logs', place])
    expect((await run('grep', 'timeout', rotated.url)).out).toBe(
      `a.log:${line(1, 'one timeout')}notes.txt:an older timeout\nnotes.txt:a timeout\n`,
    )
  })

  it('reads the other nodes when one does not answer', async () => {
    const urls = ['--url', 'http://127.0.0.1:1', '--url', node.url]
    const { host } = new URL(node.url)
    const said = /^nodestate: 127\.0\.0\.1:1: The node does not answer.*\n$/
    const tail = await run('tail', 'b.log', '-n', '1', ...urls)
    expect([tail.code, tail.out]).toEqual([2, `[${host}] ${line(3, 'three')}`])
    expect(tail.err).toMatch(said)
    const found = await run('grep', 'one', 'a.log', ...urls)
    expect([found.code, found.out]).toEqual([2, `${host} a.log:${line(1, 'one timeout')}`])
    expect(found.err).toMatch(said)
    const list = await run('ls', '-1', ...urls)
    expect([list.code, list.out]).toEqual([2, 'a.log\nb.log\nnotes.txt\n'])
    expect(list.err).toMatch(said)
    const config = await run('config', '--json', ...urls)
    expect([config.code, 'config' in JSON.parse(config.out)]).toEqual([2, true])
  })

  it('prints JSON for one and for many', async () => {
    const { out } = await run('tail', 'a.log', 'b.log', '--json', '-n', '2')
    const records = out
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text) as { file: string; message: string })
    expect(records.map(({ file, message }) => [file, message])).toEqual([
      ['b.log', 'three'],
      ['a.log', 'four'],
    ])
    const urls = await run('tail', 'a.log', '--json', '-n', '1', '--url', node.url, '--url', `${node.url}/`)
    const { host } = new URL(node.url)
    for (const text of urls.out.trimEnd().split('\n'))
      expect(JSON.parse(text)).toMatchObject({ node: host, file: 'a.log', message: 'four' })
    const all = await run('tail', '*', '--json', '-n', '1')
    expect(
      all.out
        .trimEnd()
        .split('\n')
        .map((text) => JSON.parse(text).file),
    ).toEqual(['a.log', 'notes.txt'])
    expect(JSON.parse((await run('tail', 'b.log', '--json', '-n', '1')).out)).not.toHaveProperty('file')
  })

  it('grep counts and names logs', async () => {
    expect((await run('grep', '-c', 'timeout', 'a.log', 'b.log')).out).toBe('a.log:1\nb.log:1\n')
    expect((await run('grep', '-l', 'three', 'a.log', 'b.log')).out).toBe('b.log\n')
    expect(await run('grep', 'nowhere', '*.log')).toEqual({ code: 1, out: '', err: '' })
  })

  it('grep searches more logs than a link has room for', async () => {
    const many = temporaryDirectory()
    for (let i = 100; i < 400; i++)
      writeFileSync(join(many, `${i}.log`), line(i % 60, `number ${i} ok`, 'ERROR'))
    const full = await serve(['--port=0', '--logs', many])
    const { code, out, err } = await run('grep', 'number 20', full.url, '--level', 'error')
    expect(out).toBe(
      Array.from(
        { length: 10 },
        (_, i) => `20${i}.log:${line((200 + i) % 60, `number 20${i} ok`, 'ERROR')}`,
      ).join(''),
    )
    expect([code, err]).toEqual([0, ''])
    expect((await run('tail', '*', full.url)).err).toMatch(/a place in each of 300 logs/)
  })

  it('reads the nodes of a fleet', async () => {
    const { out } = await run('tail', fleet.url, 'a.log', '--node', 'db-*')
    expect(out).toBe(`[db-4/a.log] ${line(1, 'from four')}[db-7/a.log] ${line(2, 'from seven')}`)
    const json = await run('tail', fleet.url, '*', '--node', 'db-7', '--json')
    expect(
      json.out
        .trimEnd()
        .split('\n')
        .map((text) => JSON.parse(text)),
    ).toMatchObject([
      { node: 'db-7', file: 'a.log', message: 'from seven' },
      { node: 'db-7', file: 'notes.txt', message: 'seven has no times' },
    ])
    expect(json.code).toBe(0)
    expect((await run('grep', '-c', 'seven', fleet.url, '--node', '*')).out).toBe(
      'db-7/a.log:1\ndb-7/notes.txt:1\n',
    )
    const unknown = await run('grep', 'seven', fleet.url, 'a.log', '--node', 'db-7', '--node', 'db-9')
    expect(unknown).toEqual({
      code: 2,
      out: `db-7/a.log:${line(2, 'from seven')}`,
      err: 'nodestate: db-9 was not read: unknown-node.\n',
    })
    expect((await run('ls', fleet.url)).out).toMatch(/^ERRORS .* NODE\n.*db-4\n.*db-7\n$/)
    expect((await run('ls', '-1', fleet.url, '--node', '*')).out).toBe(
      'db-4/a.log\ndb-7/a.log\ndb-7/notes.txt\n',
    )
  })

  it.each([
    [['tail', 'a.log'], 'fleet', /^nodestate: This is a fleet: say which nodes with --node/],
    [['grep', 'timeout'], 'fleet', /^nodestate: This is a fleet: say which nodes with --node/],
    [['tail', 'a.log', '--node', 'db-*'], 'node', /^nodestate: Cannot use --node here/],
    [['tail', 'a.log', '--node', 'db-*', '--json'], 'node', /^nodestate: Cannot use --node here/],
    [['grep', 'timeout', '--node', 'db-*'], 'node', /^nodestate: Cannot use --node here/],
    [['ls', '--node', 'db-*'], 'node', /^nodestate: Cannot use --node here/],
    [['tail', 'a.log', '--noed', 'db-*'], 'fleet', /did you mean --node\?/],
  ])('%j of a %s is trouble', async (args, what, said) => {
    const { code, out, err } = await run(...args, (what === 'fleet' ? fleet : node).url)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(said)
    expect(err.trimEnd().split('\n')).toHaveLength(1)
  })

  it('follows logs with times and without, and marks what comes late', async () => {
    const tail = launch(['tail', node.url, '*', '-f', '-n', '1'])
    const shows = (text: string) => expect.poll(() => tail.stdout(), { timeout: 10_000 }).toContain(text)
    await shows('[notes.txt] a note about a timeout\n')
    await shows('[a.log] ')
    appendFileSync(join(logs, 'a.log'), line(9, 'in time'))
    await shows(`[a.log] ${line(9, 'in time')}`)
    appendFileSync(join(logs, 'b.log'), line(8, 'too late'))
    await shows(`[b.log] (late) ${line(8, 'too late')}`)
    appendFileSync(join(logs, 'notes.txt'), 'another note\n')
    await shows('[notes.txt] another note\n')
    tail.child.kill('SIGINT')
    expect(await tail.exited).toBe(0)
    expect(tail.stderr()).toBe('')
  })
})
