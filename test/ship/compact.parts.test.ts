import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { cleanUp, launch, serve, temporaryDirectory } from '../program.ts'
import { type S3Server, startS3Server } from '../support/s3-server.ts'
import { livesOf } from './home.ts'

const KEYS = { accessKeyId: 'key', secretAccessKey: 'secret' }
let server: S3Server
let root: string
let env: Record<string, string>
beforeEach(async () => {
  // It checks signatures, also those of DELETE.
  server = await startS3Server(KEYS)
  root = temporaryDirectory()
  mkdirSync(join(root, 'logs'))
  env = {
    AWS_ENDPOINT_URL: server.endpoint,
    AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
    AWS_REGION: 'us-east-1',
  }
})
afterEach(async () => {
  await cleanUp()
  await server.close()
})

const file = () => join(root, 'logs/broker.log')
const lines = (from: number, count: number) =>
  Array.from(
    { length: count },
    (_, i) => `2026-11-14 02:10:00.000\tINFO\tx.go:1\t[A] [B]: line ${from + i}\n`,
  ).join('')

async function run(...args: string[]) {
  const program = launch(args, { env })
  return { code: await program.exited, out: program.stdout(), said: program.stderr() }
}
const ship = () =>
  run('ship', '--once', '--segment-bytes', '1MiB', '--logs', join(root, 'logs'), 's3://logs/prod/db-1')
const home = () =>
  new Map([...server.objects].map(([key, { size, read }]) => [key.slice('prod/db-1/'.length), read(0, size)]))
const segments = () => [...server.objects.keys()].filter((key) => key.endsWith('.log.gz')).sort()

/** A rotated file of six segments, and the one that is written, of five and young text. */
async function shipped(): Promise<string> {
  writeFileSync(file(), lines(0, 100_000))
  await ship()
  renameSync(file(), `${file()}.1`)
  writeFileSync(file(), lines(100_000, 80_000))
  expect((await ship()).code).toBe(0)
  appendFileSync(file(), lines(180_000, 3))
  expect((await ship()).code).toBe(0)
  expect(segments().length).toBeGreaterThan(9)
  return readFileSync(`${file()}.1`, 'utf8') + readFileSync(file(), 'utf8')
}

it('makes one segment of many, under a reader, and the shipper goes on and finds everything there', async () => {
  const text = await shipped()
  const reader = await serve(['serve', '--port=0', '--home', 's3://logs/prod/db-1'], { env })
  const view = async () =>
    (await fetch(`${reader.url}/api/v1/log/view?file=broker.log&rotated=true&size=100000000`)).text()
  expect((await view()) === text).toBe(true)
  const before = segments().length
  expect(await run('compact', 's3://logs/prod')).toEqual({
    code: 0,
    out: `1 home: made 2 segments of ${before}, deleted 0 expired objects\n`,
    said: '',
  })
  expect(segments()).toHaveLength(2)
  expect((await view()) === text).toBe(true)
  const [last] = segments().slice(-1)
  expect(gunzipSync(home().get(last!.slice('prod/db-1/'.length))!).toString()).toBe(
    readFileSync(`${file()}.1`, 'utf8'),
  )
  expect((await run('compact', 's3://logs/prod/db-1')).out).toBe(
    '1 home: made 0 segments of 0, deleted 0 expired objects\n',
  )
  expect((await run('ship', '--verify', '--logs', join(root, 'logs'), 's3://logs/prod/db-1')).code).toBe(0)
  appendFileSync(file(), lines(180_003, 3))
  await ship()
  expect(
    livesOf(home(), 'broker.log')
      .map((life) => life.text?.toString())
      .join('') ===
      text + lines(180_003, 3),
  ).toBe(true)
})

it('finishes what a run that was killed had begun', async () => {
  const text = await shipped()
  const small = new Map([...server.objects].filter(([key]) => key.endsWith('.log.gz')))
  await run('compact', 's3://logs/prod/db-1')
  // The long segments are there, and only some of the short ones are gone.
  for (const [key, object] of [...small].slice(1)) server.objects.set(key, object)
  expect((await run('compact', 's3://logs/prod/db-1')).code).toBe(0)
  expect(segments()).toHaveLength(2)
  expect(
    livesOf(home(), 'broker.log')
      .map((life) => life.text?.toString())
      .join('') === text,
  ).toBe(true)
})

it('deletes what has expired, from the beginning on; readers say that the log begins late', async () => {
  const text = await shipped()
  const [, ...rest] = segments().reverse()
  const old = new Date(Date.now() - 31 * 24 * 3_600_000)
  const [oldest] = segments().reverse()
  for (const key of [oldest!, rest.at(-1)!]) server.objects.get(key)!.modified = old
  const { out } = await run('compact', '--expire', '30d', 's3://logs/prod')
  expect(out).toMatch(/^1 home: .*, deleted 1 expired objects\n$/)
  const reader = await serve(['serve', '--port=0', '--home', 's3://logs/prod/db-1'], { env })
  const answer = await fetch(`${reader.url}/api/v1/log/view?file=broker.log&rotated=true&size=100000000`)
  const left = await answer.text()
  expect(answer.headers.get('X-Nodestate-Note')).toContain('begins-late')
  expect(left.length).toBeLessThan(text.length)
  expect(text.endsWith(left)).toBe(true)
  // Everything of the rotated file is old: nothing of it is left.
  for (const [key, object] of server.objects) if (key.includes('99999998')) object.modified = old
  await run('compact', '--expire', '30d', 's3://logs/prod')
  expect([...server.objects.keys()].filter((key) => key.includes('99999998'))).toEqual([])
  expect(await (await fetch(`${reader.url}/api/v1/log/view?file=broker.log&size=100000000`)).text()).toBe(
    readFileSync(file(), 'utf8'),
  )
})

it('says what to do about a wrong command line, or a place without homes', async () => {
  expect(await run('compact', '--expire', 'soon', 's3://logs/prod')).toMatchObject({ code: 2 })
  expect((await run('compact')).said).toContain('Name one home')
  expect(await run('compact', 's3://logs/empty')).toMatchObject({ code: 1, out: '' })
})
