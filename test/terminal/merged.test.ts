import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, launch, type Program, serve, temporaryDirectory } from '../program.ts'

const line = (second: number, text: string, level = 'INFO') =>
  `2026-11-15 02:10:${String(second).padStart(2, '0')}.000\t${level}\ta.go:1\t[A]: ${text}\n`

let node: Program
let fleet: Program
beforeAll(async () => {
  const logs = join(temporaryDirectory(), 'logs')
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
    for (const text of urls.out.trimEnd().split('\n'))
      expect(JSON.parse(text)).toMatchObject({ message: 'four' })
  })

  it('grep counts and names logs', async () => {
    expect((await run('grep', '-c', 'timeout', 'a.log', 'b.log')).out).toBe('a.log:1\nb.log:1\n')
    expect((await run('grep', '-l', 'three', 'a.log', 'b.log')).out).toBe('b.log\n')
    expect(await run('grep', 'nowhere', '*.log')).toEqual({ code: 1, out: '', err: '' })
  })

  it('reads the nodes of a fleet', async () => {
    const { out } = await run('tail', fleet.url, 'a.log', '--node', 'db-*')
    expect(out).toBe(`[db-4/a.log] ${line(1, 'from four')}[db-7/a.log] ${line(2, 'from seven')}`)
    const json = await run('tail', fleet.url, '*', '--node', 'db-7', '--json')
    expect(JSON.parse(json.out)).toMatchObject({ node: 'db-7', file: 'a.log' })
    expect((await run('ls', fleet.url)).out).toMatch(/NODE\n.*db-4\n.*db-7\n$/)
    expect((await run('ls', '-1', fleet.url, '--node', '*')).out).toBe('db-4/a.log\ndb-7/a.log\n')
  })
})
