import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { cleanUp, launch, temporaryDirectory } from '../program.ts'
import { type S3Server, startS3Server } from '../support/s3-server.ts'
import { textOf } from './home.ts'

/** A bucket whose PUTs take 200 ms, and logs that grow by 400 lines a second or more, all the time. */
let server: S3Server
let root: string
beforeEach(async () => {
  server = await startS3Server()
  server.putMs = 200
  root = temporaryDirectory()
  mkdirSync(join(root, 'logs'))
})
afterEach(async () => {
  clearInterval(writing)
  await server.close()
  await cleanUp()
})

let writing: ReturnType<typeof setInterval>
let written = 0

function grow(names: readonly string[], linesPerTick: number): void {
  written = 0
  const write = () => {
    for (const name of names) {
      const lines = Array.from(
        { length: linesPerTick },
        (_, i) => `2026-11-14 02:10:00.000\tINFO\tx.go:1\t[A] [B]: line ${written + i} of ${name}\n`,
      )
      appendFileSync(join(root, 'logs', name), lines.join(''))
    }
    written += linesPerTick
  }
  write()
  writing = setInterval(write, 25)
}

function ship(...flags: string[]) {
  const env = {
    AWS_ENDPOINT_URL: server.endpoint,
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
    AWS_REGION: 'r',
  }
  return launch(['ship', ...flags, '--logs', join(root, 'logs'), 's3://logs/db-1'], { env })
}

const shipped = (name: string) => {
  const objects = new Map<string, Uint8Array>()
  for (const [key, { size, read }] of server.objects) objects.set(key.slice('db-1/'.length), read(0, size))
  return textOf(objects, name)
}

const names = (count: number) =>
  Array.from({ length: count }, (_, i) => `broker-${'abcdefghijklmnop'[i]}.log`)

it.each([
  ['one log with 400 lines a second', 1, 10],
  ['one log with 20,000 lines a second', 1, 500],
  ['sixteen logs with 400 lines a second', 16, 10],
])(
  'ships at SIGTERM what was written until then, and ends: %s',
  async (_, logs, lines) => {
    grow(names(logs), lines)
    const running = ship('--flush', '1s')
    while (names(logs).some((name) => shipped(name) === ''))
      await new Promise((resolve) => setTimeout(resolve, 20))
    const before = names(logs).map((name) => readFileSync(join(root, 'logs', name), 'utf8'))
    const begun = performance.now()
    running.child.kill('SIGTERM')
    expect(await running.exited).toBe(0)
    expect(performance.now() - begun).toBeLessThan(10_000)
    for (const [i, name] of names(logs).entries()) expect(shipped(name).startsWith(before[i]!)).toBe(true)
  },
  60_000,
)

it('ships once what was there when it began, and ends', async () => {
  writeFileSync(join(root, 'logs/broker-a.log.1'), 'rotated\n')
  grow(names(1), 10)
  const before = readFileSync(join(root, 'logs/broker-a.log'), 'utf8')
  const begun = performance.now()
  const running = ship('--once')
  expect(await running.exited).toBe(0)
  expect(performance.now() - begun).toBeLessThan(15_000)
  expect(shipped('broker-a.log').startsWith(`rotated\n${before}`)).toBe(true)
  expect(running.stdout()).toMatch(/^shipped 1 log, 2 files, .*; nothing left\n$/)
}, 60_000)

it('ends in time while each PUT takes a minute, and says that the rest is shipped later', async () => {
  writeFileSync(join(root, 'logs/broker-a.log'), 'first\n')
  const running = ship('--flush', '100ms')
  while (shipped('broker-a.log') === '') await new Promise((resolve) => setTimeout(resolve, 20))
  server.putMs = 60_000
  appendFileSync(join(root, 'logs/broker-a.log'), 'second\n')
  const begun = performance.now()
  running.child.kill('SIGTERM')
  expect(await running.exited).toBe(0)
  expect(performance.now() - begun).toBeLessThan(10_000)
  expect(running.stderr()).toContain('what is left is shipped at the next start')
}, 60_000)
