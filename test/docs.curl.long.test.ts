import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { cleanUp, type Program, serve, temporaryDirectory } from './program.ts'
import { apiText } from './support/api-docs.ts'

/** The commands of docs/api.md and its pages: indented blocks that hold a curl, as a reader would paste them. */
const blocks = apiText()
  .split(/\n(?! {4})/)
  .map((block) =>
    block
      .split('\n')
      .filter((line) => line.startsWith('    '))
      .map((line) => line.slice(4)),
  )
  .filter((block) => block.some((line) => /(^|\()curl /.test(line)))
  .flatMap((block) => (block.some((line) => /^\w+=/.test(line)) ? [block.join('\n')] : block))

let program: Program
let logs: string
const now = Date.now()
/** Hours east of UTC to where it is noon: whenever this runs, 02:10 is hours ago and no record but one is near it. */
const east = 12 - new Date(now).getUTCHours()
const zone = `Etc/GMT${east > 0 ? '-' : '+'}${Math.abs(east)}`
const local = (ms: number) => new Date(ms + east * 3_600_000)
const stamp = (ms: number) => local(ms).toISOString().replace('T', ' ').slice(0, 23)
const line = (ms: number, level: string, text: string) =>
  `${stamp(ms)}\t${level}\tquery/broker.go:12\t[Broker] [Query]: ${text}\n`
const access = ([status, seconds]: string[]) =>
  `10.0.0.7 - - [15/Nov/2026:02:10:00 +0000] "GET /a HTTP/1.1" ${status} 12 "-" "curl/8.5" ${seconds}\n`
/** Today at 02:12. */
const night = local(now).setUTCHours(2, 12, 0, 0) - east * 3_600_000

beforeAll(async () => {
  logs = temporaryDirectory()
  const old = (i: number) => line(night - 7_200_000 + i * 1000, 'INFO', `old ${i}`)
  const file = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => old(from + i)).join('')
  writeFileSync(join(logs, 'broker.log.2.gz'), gzipSync(file(0, 300)))
  writeFileSync(join(logs, 'broker.log.1'), file(300, 600) + line(night, 'ERROR', 'it went wrong'))
  const recent = Array.from({ length: 300 }, (_, i) =>
    line(now - 3_600_000 + i * 1000, 'INFO', `recent ${i}`),
  )
  recent.push(line(now - 60_000, 'WARN', 'slow query took 12345ms'), line(now - 30_000, 'ERROR', 'timeout'))
  writeFileSync(join(logs, 'broker.log'), recent.join(''))
  writeFileSync(
    join(logs, 'access.log'),
    [
      ['200', '2.000'],
      ['503', '0.500'],
      ['503', '1.500'],
    ]
      .map(access)
      .join(''),
  )
  program = await serve(['--port', '0', '--logs', logs, '--timezone', zone, '--log-level', 'off'])
})
afterAll(() => cleanUp())

interface Ran {
  code: number
  out: string
}

/** A block with the address of the program, for a shell. */
const textOf = (script: string) =>
  script.replaceAll('{base}', program.url).replaceAll(/(^|\()curl /gm, '$1curl -sS --fail-with-body ')

/** Runs a block as a shell does. */
function run(script: string): Promise<Ran> {
  return new Promise((resolve) => {
    execFile('sh', ['-ec', textOf(script)], { cwd: temporaryDirectory() }, (error, out, err) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, out: out + err })
    })
  })
}

/** Runs a curl that stays open until it has shown what each step waits for, and then ends it. */
async function follow(script: string, ...steps: ((out: string) => void)[]): Promise<void> {
  const child = spawn('sh', ['-ec', `exec ${textOf(script)}`], { cwd: temporaryDirectory() })
  const closed = once(child, 'close')
  let out = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      out += data
    })
  try {
    for (const step of steps) await vi.waitFor(() => step(out), 60_000)
    expect(child.exitCode, out).toBeNull()
  } finally {
    child.kill()
    await closed
  }
}

/** What the answer of a command must show, by a part of the command. */
const EXPECTED: [part: string, check: (out: string) => void][] = [
  ['lines=10&format=csv', (out) => expect(out).toMatch(/^time,level,message\r\n[\s\S]*,error,timeout\r\n$/)],
  ['columns=time,status,path', (out) => expect(out).toContain(',503,/a\r\n')],
  ['log/compare', (out) => expect(JSON.parse(out)).toMatchObject({ complete: true })],
  ['Accept: text/csv', (out) => expect(out).toMatch(/,error,timeout\r\n$/)],
  ['config/blame', (out) => expect(JSON.parse(out)).toMatchObject({ keys: expect.any(Array) })],
  ['config/history', (out) => expect(JSON.parse(out)).toMatchObject([{ changes: [] }])],
  ['config?at=now', (out) => expect(JSON.parse(out).time).toBeLessThanOrEqual(Date.now())],
  ['log/groups', (out) => expect(JSON.parse(out).groups).toMatchObject([{ count: 2, p95: 1500, max: 1500 }])],
  ['where=status>=500', (out) => expect(out).toBe(access(['503', '1.500']))],
  ['where=level:error', (out) => expect(out).toBe(line(now - 30_000, 'ERROR', 'timeout'))],
  ['since=02:10&first=20', (out) => expect(out.split('\n')[0]).toMatch(/it went wrong$/)],
  ['log/fields', (out) => expect(JSON.parse(out).records).toBe(2)],
  ['$view$prev', (out) => expect(out).toMatch(/recent 201\n$/)],
  ['$view$next', (out) => expect(out).toBe('')],
  ['view?file=broker.log&lines=100"', (out) => expect(out.split('\n').length).toBe(101)],
  ['since=02:10&until=02:15', (out) => expect(out).toBe(line(night, 'ERROR', 'it went wrong'))],
  ['since=15m&level=warn', (out) => expect(out.split('\n').length).toBe(3)],
  ['level=error&context=3', (out) => expect(out.split('\n').length).toBe(5)],
  ['q=slow query', (out) => expect(out).toBe(line(now - 60_000, 'WARN', 'slow query took 12345ms'))],
  ['pattern=slow', (out) => expect(out).toBe(line(now - 60_000, 'WARN', 'slow query took 12345ms'))],
  ['regex=', (out) => expect(out).toBe(line(now - 60_000, 'WARN', 'slow query took 12345ms'))],
  ['broker.log.2.gz', (out) => expect(out).toMatch(/old 299\n$/)],
  ['lines=100000', (out) => expect(out.split('\n').length).toBe(300 + 301 + 302 + 1)],
  [
    'ndjson',
    (out) => expect(JSON.parse(out.split('\n')[9]!)).toMatchObject({ level: 'error', message: 'timeout' }),
  ],
  ['text/event-stream', (out) => expect(out).toMatch(/id: [\w-]+\ndata: .*timeout\n\n/)],
  ['follow=true', (out) => expect(out).toContain('timeout\n')],
  ['config?detail=true', (out) => expect(JSON.parse(out).known).toEqual([])],
  ['log/list?etag=true', (out) => expect(JSON.parse(out)[0].etag).toMatch(/^"[^"]+"$/)],
  ['log/list?detail=true', (out) => expect(JSON.parse(out).length).toBe(4)],
  ['log/histogram', (out) => expect(JSON.parse(out).buckets.length).toBeGreaterThan(0)],
  ['-r -4096', (out) => expect(out.length).toBe(4096)],
  ['curl -OJ', (out) => expect(out).toBe('')],
  ['curl -C -', (out) => expect(out).toBe('')],
]

describe('each command of docs/api', () => {
  it('is known here', () => {
    expect(blocks.length).toBeGreaterThan(15)
    for (const [part] of EXPECTED)
      expect(
        blocks.some((block) => block.includes(part)),
        part,
      ).toBe(true)
  })
  it.each(blocks)('works: %s', async (block) => {
    const found = EXPECTED.find(([part]) => block.includes(part))
    expect(found, `a check for ${block}`).toBeDefined()
    const [, check] = found!
    if (block.includes('follow=true')) return follow(block, check)
    const { code, out } = await run(block)
    expect(code, out).toBe(0)
    check(out)
  })
  it('shows what is appended while it follows', async () => {
    const last = line(now - 30_000, 'ERROR', 'timeout')
    const more = line(now, 'INFO', 'just now')
    await follow(
      'curl -N "{base}/api/v1/log/view?file=broker.log&lines=1&follow=true"',
      (out) => {
        expect(out).toBe(last)
        appendFileSync(join(logs, 'broker.log'), more)
      },
      (out) => expect(out).toBe(last + more),
    )
  })
})
