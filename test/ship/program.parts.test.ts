import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { s3Store } from '../../src/store/s3.ts'
import { cleanUp, launch, temporaryDirectory } from '../program.ts'
import { clockEnv, noFaketime } from '../support/faketime.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { type Flare, placeOf, startMiniflare } from '../support/miniflare.ts'
import { lacking, part } from '../support/parts.ts'
import { livesOf, objectsIn, objectsOf, textOf } from './home.ts'

let root: string
let logs: string
let home: string
beforeEach(() => {
  root = temporaryDirectory()
  logs = join(root, 'logs')
  home = join(root, 'home')
  mkdirSync(logs)
})
afterEach(cleanUp)

const text = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => `2026-11-14 02:10:00.000\tINFO\tline ${from + i}\n`).join('')

type Program = ReturnType<typeof launch>

/** Waits until a running program has brought something about; its end is a failure. */
async function until(program: Program, isReached: () => boolean): Promise<void> {
  let code: number | null | undefined
  program.exited.then((exit) => {
    code = exit
  })
  while (!isReached()) {
    if (code !== undefined) throw new Error(`exited with ${code}: ${program.stderr()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
const shipped = () => {
  try {
    return textOf(objectsIn(home), 'broker.log')
  } catch {
    return ''
  }
}
const beat = () =>
  JSON.parse(readFileSync(join(home, 'ship.json'), 'utf8')) as { run: string; stopped: boolean }

/** Runs to the end: the exit code, and what it said. */
async function run(args: string[], env: Record<string, string> = {}) {
  const program = launch(['ship', ...args], { env })
  return { code: await program.exited, said: program.stderr() }
}

/** The same with what it printed. */
async function printed(args: string[]) {
  const program = launch(['ship', ...args])
  return { code: await program.exited, out: program.stdout(), said: program.stderr() }
}

describe('nodestate ship', () => {
  it.each([
    [[], 'Name the destination'],
    [['s3://logs/b', 's3://logs/d'], 'name one destination'],
    [['--flush', 'soon', 's3://logs/b'], '--flush'],
    [['--segment-bytes', '17MiB', 's3://logs/b'], '--segment-bytes'],
    [['--metrics-listen', '9101', 's3://logs/b'], '--metrics-listen'],
    [['--home', 'x', '--logs', 'y', 's3://logs/b'], '--home and --logs'],
    [['--nope', 's3://logs/b'], '--nope'],
    [['ftp://a/b'], 'ftp://a/b'],
  ])('exits with 2 and one sentence for %j', async (args, expected) => {
    const { code, said } = await run(args)
    expect(said).toContain(expected)
    expect(said).toMatch(/^nodestate: [^\n]+\.\n$/)
    expect(code).toBe(2)
  })

  it('exits with 1 when it cannot listen for scrapes', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as AddressInfo
    const { code, said } = await run(['--logs', logs, '--metrics-listen', `127.0.0.1:${port}`, home])
    taken.close()
    expect([code, said]).toEqual([
      1,
      `nodestate: Cannot listen on 127.0.0.1:${port} for metrics: EADDRINUSE.\n`,
    ])
  })

  it('waits for a log directory that is not there yet, with a warning; once, it exits with 1', async () => {
    rmSync(logs, { recursive: true })
    const { code, said } = await run(['--once', '--logs', logs, home])
    expect([code, said]).toEqual([1, `nodestate: There is no log directory ${JSON.stringify(logs)}.\n`])
    const waiting = launch(['ship', '--flush', '100ms', '--logs', logs, home])
    await until(waiting, () => waiting.stderr() !== '')
    expect(waiting.stderr()).toBe('nodestate: The log directory is not there yet; waiting for it.\n')
    mkdirSync(logs)
    writeFileSync(join(logs, 'broker.log'), text(0, 3))
    await until(waiting, () => shipped() === text(0, 3))
    waiting.child.kill('SIGTERM')
    expect(await waiting.exited).toBe(0)
  })

  it('says in one line what it shipped, and exits with 1 if files are left', async () => {
    writeFileSync(join(logs, 'broker.log.1'), text(0, 30_000))
    writeFileSync(join(logs, 'broker.log'), text(30_000, 100))
    writeFileSync(join(logs, 'slow.log'), text(0, 3))
    mkdirSync(join(logs, 'archive'))
    writeFileSync(join(logs, 'broker.log.4.xz'), 'not shipped')
    const once = ['--once', '--logs', logs, home]
    const others =
      'nodestate: Folders, links and formats that are not shipped: "archive", "broker.log.4.xz".\n'
    expect(await printed(once)).toEqual({
      code: 0,
      out: 'shipped 2 logs, 3 files, 1.2 MB; nothing left\n',
      said: others,
    })
    expect(await printed(once)).toEqual({ code: 0, out: 'nothing new; nothing left\n', said: others })
    const config = join(logs, '../broker.toml')
    writeFileSync(config, 'a = 1\n')
    const withConfig = [...once.slice(0, -1), '--config', config, home]
    const version = 'shipped a new version of the configuration; nothing left\n'
    expect((await printed(withConfig)).out).toBe(version)
    expect((await printed(withConfig)).out).toBe('nothing new; nothing left\n')
    writeFileSync(join(logs, 'broker.log.2.gz'), gzipSync(text(0, 1000)).subarray(0, 300))
    writeFileSync(Buffer.concat([Buffer.from(`${logs}/bad`), Buffer.from([0xff])]), 'x\n')
    expect(await printed(once)).toEqual({
      code: 1,
      out: 'nothing new; 2 files left\n',
      said: `nodestate: A file name is not UTF-8 and is left alone: "badÿ".\n${others}nodestate: "broker.log.2.gz" is left: the archive is broken.\n`,
    })
  })

  it('compares the directory with the destination, and creates nothing', async () => {
    writeFileSync(join(logs, 'broker.log.1'), text(0, 30))
    writeFileSync(join(logs, 'broker.log'), text(30, 10))
    const check = ['--verify', '--logs', logs, home]
    expect(await printed(check)).toEqual({
      code: 1,
      out: 'missing broker.log\nmissing broker.log.1\n',
      said: 'nodestate: 2 of 2 files must not be deleted yet.\n',
    })
    expect(existsSync(home)).toBe(false)
    await printed(['--once', '--logs', logs, home])
    const before = [...objectsIn(home).keys()]
    expect(await printed(check)).toEqual({
      code: 0,
      out: '2 files of 1 log verified; nothing missing\n',
      said: '',
    })
    appendFileSync(join(logs, 'broker.log'), text(40, 1))
    expect((await printed(check)).out).toMatch(/^incomplete broker\.log \(\d+ of \d+ bytes\)\n$/)
    expect([...objectsIn(home).keys()]).toEqual(before)
    rmSync(logs, { recursive: true })
    expect(await printed(check)).toEqual({
      code: 1,
      out: '',
      said: `nodestate: There is no log directory ${JSON.stringify(logs)}.\n`,
    })
  })

  it('replaces a shipper on the same host before its next segment: that one exits with 3', async () => {
    const file = join(logs, 'broker.log')
    writeFileSync(file, text(0, 3))
    const args = ['ship', '--flush', '100ms', '--logs', logs, home]
    const earlier = launch(args)
    await until(earlier, () => shipped() === text(0, 3))
    const first = beat().run
    const later = launch(args)
    await until(later, () => beat().run !== first)
    appendFileSync(file, text(3, 3))
    expect(await earlier.exited).toBe(3)
    await until(later, () => shipped() === text(0, 6))
    later.child.kill('SIGTERM')
    expect(await later.exited).toBe(0)
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('ships what there is at %s and exits with 0', async (signal) => {
    const file = join(logs, 'broker.log')
    writeFileSync(file, text(0, 3))
    const running = launch(['ship', '--flush', '1h', '--logs', logs, home])
    await until(running, () => objectsIn(root).has('home/node.json'))
    appendFileSync(file, `${text(3, 3)}no newline`)
    running.child.kill(signal)
    expect(await running.exited).toBe(0)
    expect(shipped()).toBe(readFileSync(file, 'utf8'))
  })

  it.skipIf(noFaketime)(
    `hands over to a later one on the same host: the earlier exits with 3${noFaketime ? ` (${noFaketime})` : ''}`,
    async () => {
      const file = join(logs, 'broker.log')
      writeFileSync(file, text(0, 3))
      const args = ['ship', '--flush', '100ms', '--logs', logs, home]
      // Its clock runs sixty times as fast, also the one that it measures by: the next heartbeat is a second away.
      const earlier = launch(args, { env: { ...clockEnv('+0 x60'), FAKETIME_DONT_FAKE_MONOTONIC: '0' } })
      await until(earlier, () => shipped() === text(0, 3))
      const first = beat().run
      const later = launch(args)
      await until(later, () => beat().run !== first)
      const second = beat().run
      expect(await earlier.exited).toBe(3)
      expect(earlier.stderr()).toBe('nodestate: Another shipper of this host has taken over.\n')
      expect(beat().run).toBe(second)
      appendFileSync(file, text(3, 3))
      await until(later, () => shipped() === text(0, 6))
      later.child.kill('SIGTERM')
      expect(await later.exited).toBe(0)
      expect(beat().run).toBe(second)
    },
  )

  it('stops with 0 when it is told to, even if a later one has taken over', async () => {
    const file = join(logs, 'broker.log')
    writeFileSync(file, text(0, 3))
    const args = ['ship', '--flush', '100ms', '--logs', logs, home]
    const earlier = launch(args)
    await until(earlier, () => shipped() === text(0, 3))
    const { run: first } = beat()
    expect((await run(['--once', '--logs', logs, home])).code).toBe(0)
    expect(beat().run).not.toBe(first)
    appendFileSync(file, text(3, 3))
    earlier.child.kill('SIGTERM')
    expect(await earlier.exited).toBe(0)
    expect(shipped()).toBe(text(0, 6))
    // It was the last one to write.
    expect(beat()).toMatchObject({ run: first, stopped: true })
  })

  it("waits while another host's heartbeat is younger than 150 s, then goes on", async () => {
    writeFileSync(join(logs, 'broker.log'), text(0, 3))
    mkdirSync(home)
    const other = { host: 'db-9', run: 'other', version: '1', node: null, logs: {}, error: null }
    writeFileSync(join(home, 'ship.json'), JSON.stringify(other))
    const said = 'nodestate: Another host, "db-9", ships to the same destination; waiting for it to stop.\n'

    const stopped = launch(['ship', '--logs', logs, home])
    await until(stopped, () => stopped.stderr() === said)
    stopped.child.kill('SIGTERM')
    expect(await stopped.exited).toBe(0)
    expect([...objectsIn(home).keys()]).toEqual(['ship.json'])

    // The storage's clock counts: here, the file's time of change.
    const beaten = Date.now() - 140_000
    utimesSync(join(home, 'ship.json'), beaten / 1000, beaten / 1000)
    const waiting = launch(['ship', '--flush', '100ms', '--logs', logs, home])
    await until(waiting, () => waiting.stderr() === said)
    expect([...objectsIn(home).keys()]).toEqual(['ship.json'])
    await until(waiting, () => beat().run !== 'other')
    expect(statSync(join(home, 'ship.json')).mtimeMs - beaten).toBeGreaterThanOrEqual(150_000)
    await until(waiting, () => shipped() === text(0, 3))
    waiting.child.kill('SIGTERM')
    expect(await waiting.exited).toBe(0)
    expect(waiting.stderr()).toBe(said)
  })
})

const noScript = existsSync('/usr/bin/script')
  ? null
  : lacking('script is not installed: apt-get install bsdutils')
describe.skipIf(noScript)(`nodestate ship on a terminal${noScript ? ` (${noScript})` : ''}`, () => {
  it('shows a line for each log: bytes, rate and lag', async () => {
    writeFileSync(join(logs, 'broker.log'), text(0, 100))
    writeFileSync(join(logs, 'a\x1b[2Jb.log'), text(0, 1))
    const args = ['--flush', '100ms', '--logs', logs, home].map((arg) => `'${arg}'`)
    const command = [process.execPath, resolve('dist/entry/cli.js'), 'ship', ...args].join(' ')
    const child = spawn('script', ['-qefc', `stty cols 60; exec ${command}`, '/dev/null'], { cwd: root })
    onTestFinished(() => void child.kill())
    let shown = ''
    child.stdout.on('data', (data) => {
      shown += data
    })
    const closed = once(child, 'close')
    const appears = async (pattern: RegExp) => {
      while (!pattern.test(shown)) await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await appears(/^broker\.log {2}3\.\d KiB {2}0 B\/s {2}no lag\r$/m)
    const more = text(100, 100_000)
    appendFileSync(join(logs, 'broker.log'), more)
    await appears(/^broker\.log {2}\d\.\d MiB {2}\d+\.\d [KM]iB\/s {2}/m)
    await appears(/^broker\.log {2}\d\.\d MiB {2}.*no lag\r$/m)
    // A report stays above the lines, which are written again below it.
    writeFileSync(Buffer.concat([Buffer.from(`${logs}/bad`), Buffer.from([0xff])]), 'x\n')
    await appears(
      /\[2A\r.\[Jnodestate: A file name is not UTF-8[^\n]*\n[^\n]*b\.log {2}[^\n]*\nbroker\.log {2}/,
    )
    // A name with control characters moves no cursor.
    expect(shown).toContain('a?[2Jb.log  ')
    expect(shown).not.toContain('\x1b[2J')
    child.stdin.write('\x03')
    expect(await closed).toEqual([0, null])
    expect(shipped()).toBe(text(0, 100) + more)
  })
})

const needs = (['miniflare', 'node', 'workerd'] as const).map((name) => part(name).missing).find(Boolean)
describe.skipIf(needs)(`nodestate ship to a bucket${needs ? ` (${needs})` : ''}`, () => {
  let flare: Flare
  let proxy: FaultProxy
  const env = () => ({
    AWS_ENDPOINT_URL: proxy.endpoint,
    AWS_ACCESS_KEY_ID: flare.accessKeyId,
    AWS_SECRET_ACCESS_KEY: flare.secretAccessKey,
    AWS_REGION: 'us-east-1',
  })
  beforeAll(async () => {
    flare = await startMiniflare()
    proxy = await startFaultProxy(flare.s3)
  })
  afterEach(() => proxy.each(() => ({ kind: 'pass' })))
  afterAll(async () => {
    await proxy?.close()
    await flare?.stop()
  })

  it('exits with one sentence without a bucket, credentials or permission', async () => {
    writeFileSync(join(logs, 'broker.log'), text(0, 3))
    const bucket = `s3://${flare.bucket}/refused`
    const args = ['--logs', logs]
    const outcomes = [
      await run([...args, 's3://nowhere-at-all/x'], env()),
      await run([...args, bucket], { ...env(), AWS_SECRET_ACCESS_KEY: 'wrong' }),
      await run([...args, bucket], { ...env(), AWS_SECRET_ACCESS_KEY: '' }),
    ]
    const denied = '<Error><Code>AccessDenied</Code></Error>'
    proxy.each((method) =>
      method === 'PUT' ? { kind: 'answer', status: 403, body: denied } : { kind: 'pass' },
    )
    outcomes.push(await run([...args, bucket], env()))
    expect(outcomes).toEqual([
      { code: 1, said: 'nodestate: There is no bucket s3://nowhere-at-all.\n' },
      {
        code: 1,
        said: `nodestate: No permission to list s3://${flare.bucket}: check the credentials and their policy.\n`,
      },
      {
        code: 2,
        said: 'nodestate: Cannot use AWS_ACCESS_KEY_ID alone: set AWS_SECRET_ACCESS_KEY too, or neither.\n',
      },
      {
        code: 1,
        said: 'nodestate: No permission to write there: check the credentials and their policy.\n',
      },
    ])
  })

  it('shows its metrics to a scrape', async () => {
    const file = join(logs, 'broker.log')
    writeFileSync(file, text(0, 100))
    const size = text(0, 100).length
    const args = ['ship', '--logs', logs, '--flush', '100ms', '--metrics-listen', '127.0.0.1:0']
    const running = launch([...args, `s3://${flare.bucket}/metrics`], { env: env() })
    await until(running, () => running.stderr().includes('/metrics'))
    const url = /http:\S+\/metrics/.exec(running.stderr())![0]
    const scrape = async () => {
      const answer = await fetch(url)
      expect(answer.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8')
      return answer.text()
    }
    let scraped = ''
    while (!scraped.includes(`nodestate_ship_shipped_bytes_total ${size}\n`)) scraped = await scrape()
    const types = [...scraped.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type])
    expect(types).toEqual([
      ['nodestate_ship_lag_bytes', 'gauge'],
      ['nodestate_ship_lag_seconds', 'gauge'],
      ['nodestate_ship_waiting_files', 'gauge'],
      ['nodestate_ship_waiting_bytes', 'gauge'],
      ['nodestate_ship_left_files', 'gauge'],
      ['nodestate_ship_heartbeat_timestamp_seconds', 'gauge'],
      ['nodestate_ship_shipped_bytes_total', 'counter'],
      ['nodestate_ship_requests_total', 'counter'],
      ['nodestate_ship_lost_total', 'counter'],
      ['nodestate_log_records_total', 'counter'],
    ])
    expect(scraped).toContain('nodestate_ship_lag_bytes{log="broker.log"} 0\n')
    expect(scraped).toContain('nodestate_ship_lag_seconds{log="broker.log"} 0\n')
    expect(scraped).toContain('nodestate_ship_lost_total 0\n')
    for (const sample of ['op="put",status="200"', 'op="list",status="200"', 'op="get",status="404"'])
      expect(scraped).toMatch(new RegExp(`^nodestate_ship_requests_total\\{${sample}\\} [1-9]\\d*$`, 'm'))
    expect((await fetch(url.replace('/metrics', '/other'))).status).toBe(404)

    // While the storage fails, what waits is seen, and so are its answers.
    proxy.each(() => ({ kind: 'answer', status: 503 }))
    appendFileSync(file, text(100, 10))
    const waits = text(100, 10).length
    while (
      !scraped.includes(`nodestate_ship_lag_bytes{log="broker.log"} ${waits}\n`) ||
      !/lag_seconds\{log="broker.log"\} 0*[.\d]*[1-9]/.test(scraped) ||
      !/requests_total\{op="put",status="503"\} [1-9]/.test(scraped)
    )
      scraped = await scrape()
    proxy.each(() => ({ kind: 'pass' }))
    while (!scraped.includes(`nodestate_ship_shipped_bytes_total ${size + waits}\n`)) scraped = await scrape()
    expect(scraped).toContain('nodestate_ship_lag_bytes{log="broker.log"} 0\n')
    running.child.kill('SIGTERM')
    expect(await running.exited).toBe(0)
  })

  it('holds a removed file while the storage fails, but only as long as --hold says', async () => {
    const file = join(logs, 'broker.log')
    writeFileSync(file, text(0, 3))
    const prefix = 'hold'
    const store = s3Store({ ...placeOf(flare), prefix })
    const lives = async () => livesOf(await objectsOf(store), 'broker.log')
    const args = ['--logs', logs, '--flush', '100ms', '--hold', '2s', '--metrics-listen', '127.0.0.1:0']
    const running = launch(['ship', ...args, `s3://${flare.bucket}/${prefix}`], { env: env() })
    while ((await lives())[0]?.text?.toString() !== text(0, 3)) await until(running, () => true)
    const isOpen = (name: string) => openFiles(running.child.pid!).includes(join(logs, name))

    proxy.each(() => ({ kind: 'answer', status: 503 }))
    appendFileSync(file, text(3, 3))
    renameSync(file, `${file}.1`)
    writeFileSync(file, text(10, 2))
    await until(running, () => isOpen('broker.log.1') && isOpen('broker.log'))
    unlinkSync(`${file}.1`)
    await until(running, () => isOpen('broker.log.1 (deleted)'))
    // It has its old name if it was removed during the check that would have seen the new one.
    await until(running, () => /Gave up "broker\.log(\.1)?", which was removed/.test(running.stderr()))
    await until(running, () => !isOpen('broker.log.1 (deleted)'))

    proxy.each(() => ({ kind: 'pass' }))
    while ((await lives())[1]?.text?.toString() !== text(10, 2)) await until(running, () => true)
    const [first] = await lives()
    // What had been read before it was given up may still arrive.
    expect([text(0, 3), text(0, 6)]).toContain(first!.text!.toString())
    expect(first!.ends).toEqual([{ size: first!.text!.length, how: 'lost' }])
    const url = /http:\S+\/metrics/.exec(running.stderr())![0]
    expect(await (await fetch(url)).text()).toContain('nodestate_ship_lost_total 1\n')
    running.child.kill('SIGTERM')
    expect(await running.exited).toBe(0)
  })
})

/** The files that a process has open. */
function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).flatMap((fd) => {
    try {
      return readlinkSync(join(folder, fd))
    } catch {
      return []
    }
  })
}
