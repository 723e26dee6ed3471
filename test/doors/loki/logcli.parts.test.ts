import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, type Program, serve, temporaryDirectory } from '../../program.ts'
import { constructs } from './constructs.ts'

const run = promisify(execFile)
const logcli = process.env.NODESTATE_TEST_LOGCLI

const START = Date.UTC(2026, 10, 15, 2)
/** Ten records share each millisecond. */
const record = (i: number) => {
  const stamp = new Date(START + Math.floor(i / 10)).toISOString().replace('T', ' ').slice(0, 23)
  return `${stamp}\t${i % 4 === 3 ? 'ERROR' : 'INFO'}\twal.go:${i % 9}\t[Storage]: sync ${i}\t{"shard":${i % 7}}`
}
const RECORDS = Array.from({ length: 12_000 }, (_, i) => record(i))
const RANGE = ['--from=2026-11-15T02:00:00Z', '--to=2026-11-15T02:00:10Z']

// One query of docs/integrations.md for each kind of answer and refusal. logql.test.ts sends all of them.
const KINDS: [query: string, said: RegExp][] = [
  ['{file="broker.log"} | json | drop level, __error__=~".+"', /sync 11999/],
  ['rate({file="broker.log"} |= "timeout" [1m])', /^\[\]\s*$/],
  ['sum by (user) (count_over_time({file="broker.log"} | json [2h]))', /"values"/],
  ['vector(1)+vector(1)', /"2"/],
]
const REFUSED: [query: string, said: RegExp][] = [
  ['{file="broker.log"} | unpack', /nodestate does not/],
  ['{file="broker.log"} | json | cost > 44 or user="ann" and shard="17"', /brackets/],
  ['sum_over_time({file="broker.log"} | json | unwrap cost [5m])', /nodestate does not/],
]

// Loki's own client is not in Debian: NODESTATE_TEST_LOGCLI names it, as .ci/run does where it is at hand.
// Where it runs under emulation, a call takes ten seconds.
describe.skipIf(!logcli)('logcli (needs NODESTATE_TEST_LOGCLI)', { timeout: 240_000 }, () => {
  let node: Program
  beforeAll(async () => {
    const logs = join(temporaryDirectory(), 'logs')
    mkdirSync(logs)
    writeFileSync(join(logs, 'broker.log'), `${RECORDS.join('\n')}\n`)
    node = await serve(['--port=0', '--logs', logs, '--loki', '--timezone=UTC', '--host-name=db-4'])
  })
  afterAll(cleanUp)

  async function ask(...args: string[]) {
    const { stdout, stderr } = await run(logcli!, [`--addr=${node.url}`, ...args], { maxBuffer: 64 << 20 })
    return { stdout, stderr }
  }
  const lines = ({ stdout }: { stdout: string }) => stdout.trimEnd().split('\n')

  it('lists labels and series', async () => {
    expect(lines(await ask('labels', '-q'))).toEqual(['file', 'level', 'node'])
    expect(lines(await ask('labels', '-q', 'file'))).toEqual(['broker.log'])
    const { stdout } = await ask('series', '-q', '{level="error"}')
    expect(stdout.trim()).toBe('{file="broker.log", level="error", node="db-4"}')
    const all = await ask('series', '-q', '{}')
    expect(all.stdout.match(/level="\w+"/g)!.sort()).toEqual(['level="error"', 'level="info"'])
  })

  it.each([
    ['backward', [], [...RECORDS].reverse()],
    ['forward', ['--forward'], RECORDS],
  ])('pages %s through 12,000 records that share their milliseconds', async (_, flags, wanted) => {
    const query = ['query', '-q', '-o', 'raw', '--limit=20000', '--batch=1000', ...RANGE, ...flags]
    const found = lines(await ask(...query, '{file="broker.log"}'))
    expect(found.length).toBe(wanted.length)
    expect(found.join('\n') === wanted.join('\n')).toBe(true)
  })

  it('filters, and prints statistics', async () => {
    const query = ['query', '-o', 'raw', '--limit=5000', '--stats', ...RANGE]
    const { stdout, stderr } = await ask(...query, '{file="broker.log"} |= "sync 119" | json | level="error"')
    const wanted = RECORDS.filter((line) => line.includes('sync 119') && line.includes('ERROR')).reverse()
    expect(stdout.trimEnd().split('\n')).toEqual(wanted)
    expect(stderr).toMatch(/Summary\.ExecTime/)
    expect(stderr).toMatch(new RegExp(`Summary\\.TotalLinesProcessed\\s+${wanted.length}\\n`))
    expect(stderr).toMatch(/Summary\.TotalBytesProcessed\s+[1-9]/)
  })

  it('asks for several ranges at once', async () => {
    const part = join(temporaryDirectory(), 'part')
    const query = [
      'query',
      '-q',
      '-o',
      'raw',
      '--limit=0',
      '--parallel-duration=1s',
      '--parallel-max-workers=4',
    ]
    const parts = [`--part-path-prefix=${part}`, '--merge-parts', '--forward']
    const found = lines(await ask(...query, ...parts, ...RANGE, '{file="broker.log"}'))
    expect(found.join('\n') === RECORDS.join('\n')).toBe(true)
  })

  it('counts over time', async () => {
    const { stdout } = await ask(
      'instant-query',
      '-q',
      '--now=2026-11-15T02:00:10Z',
      'sum(count_over_time({file="broker.log"}[1m]))',
    )
    expect(JSON.parse(stdout)[0].value[1]).toBe('12000')
  })

  it.each(KINDS)('prints the answer to %s', async (query, said) => {
    expect(constructs).toContainEqual({ query, isSupported: true })
    expect((await ask('query', '-q', ...RANGE, '--step=1s', query)).stdout).toMatch(said)
  })

  it.each(REFUSED)('fails with the reason for %s', async (query, stderr) => {
    expect(constructs).toContainEqual({ query, isSupported: false })
    const asked = ask('query', '-q', ...RANGE, '--step=1s', query)
    await expect(asked).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(stderr) })
  })
})
