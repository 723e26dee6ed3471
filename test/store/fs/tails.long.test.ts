import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readTail } from '../../../src/log/text/tail.ts'
import type { SlicedStream } from '../../../src/store/fast.ts'
import { fsStore } from '../../../src/store/fs.ts'
import { type Store, StoreError } from '../../../src/store/store.ts'

// Counted, not changed: what a request costs is part of what is promised.
vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>()
  const counted = { ...real, readSync: vi.fn(real.readSync), openSync: vi.fn(real.openSync) }
  return { ...counted, default: counted }
})

let directory: string
let store: Store

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'nodestate-tails-'))
  store = fsStore(directory)
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const put = (name: string, content: string | Uint8Array) => writeFileSync(join(directory, name), content)
const suffix = async (name: string, bytes: number) => {
  const got = await store.read(name, { suffix: bytes })
  return Buffer.from(await new Response(got!.body).arrayBuffer())
}
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
/** Longer than a kernel tick, after which the file's times show every change. */
const settle = () => sleep(30)

function cost() {
  const before = [vi.mocked(fs.readSync).mock.calls.length, vi.mocked(fs.openSync).mock.calls.length]
  return () => ({
    reads: vi.mocked(fs.readSync).mock.calls.length - before[0]!,
    opens: vi.mocked(fs.openSync).mock.calls.length - before[1]!,
  })
}

/** The same numbers for the same seed. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

describe('the tails in memory', () => {
  it('cost a look and no read while the file is unchanged', async () => {
    put('a.log', 'line\n'.repeat(10_000))
    await suffix('a.log', 4097)
    await settle()
    await suffix('a.log', 4097)
    const spent = cost()
    for (let i = 0; i < 10; i++) expect((await suffix('a.log', 4097)).length).toBe(4097)
    expect((await suffix('a.log', 100)).toString()).toBe('line\n'.repeat(20))
    expect(spent()).toEqual({ reads: 0, opens: 0 })
  })

  it('cost a look and no read when the client has them already, long or short, read before or not', async () => {
    put('a.log', 'line\n'.repeat(1_000_000))
    const { etag } = (await store.stat('a.log'))!
    const spent = cost()
    for (const bytes of [0, 10, 4097, 262_145, 5_000_000])
      await expect(store.read('a.log', { suffix: bytes }, { ifNoneMatch: etag })).rejects.toMatchObject({
        code: 'unchanged',
      })
    expect(spent()).toEqual({ reads: 0, opens: 0 })
  })

  it('are what the file has, whatever happens to it', async () => {
    const random = randomNumbers(25)
    const path = join(directory, 'a.log')
    const line = () => `${'abcdef'[random(6)]}`.repeat(random(300)) + '\n'.repeat(random(3))
    const changes = [
      () => appendFileSync(path, line()),
      () => truncateSync(path, random(fs.statSync(path).size + 1)),
      () => writeFileSync(path, readFileSync(path).fill('abcdef'[random(6)]!)),
      () => {
        writeFileSync(`${path}.new`, line())
        renameSync(`${path}.new`, path)
      },
      () => rmSync(path),
      () => {},
    ]
    for (let i = 0; i < 400; i++) {
      if (!fs.existsSync(path)) writeFileSync(path, line())
      if (i % 4 === 0) await settle()
      if (random(2) === 0) await store.read('a.log', { suffix: 1 + random(400) })
      if (random(2) === 0) changes[random(changes.length)]!()
      const length = random(400)
      const entry = await store.stat('a.log')
      const read = await store.read('a.log', { suffix: length })
      if (entry === null) {
        expect(read).toBeNull()
        continue
      }
      const expected = readFileSync(path)
      const from = Math.max(0, expected.length - length)
      expect(read).toMatchObject({ entry, offset: from, length: expected.length - from })
      expect(Buffer.from(read!.body as Uint8Array)).toEqual(expected.subarray(from))
    }
  })

  it('see an append at once', async () => {
    put('a.log', 'line\n'.repeat(10_000))
    await suffix('a.log', 4097)
    for (let i = 0; i < 200; i++) {
      appendFileSync(join(directory, 'a.log'), `appended ${i}\n`)
      expect((await suffix('a.log', 4097)).toString().endsWith(`appended ${i}\n`)).toBe(true)
    }
  })

  it('never change what they gave out before', async () => {
    put('a.log', 'a'.repeat(100_000))
    const got: { body: Buffer; copy: Buffer }[] = []
    for (let i = 0; i < 60; i++) {
      if (i % 4 === 0) put('a.log', String.fromCharCode(97 + (i % 26)).repeat(100_000))
      else appendFileSync(join(directory, 'a.log'), `${i}`.repeat(i * 50))
      if (i % 10 === 9) truncateSync(join(directory, 'a.log'), 50_000)
      const body = (await store.read('a.log', { suffix: 3000 + i * 100 }))!.body as Uint8Array<ArrayBuffer>
      const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
      got.push({ body: bytes, copy: Buffer.from(bytes) })
      expect(bytes.equals(readFileSync(join(directory, 'a.log')).subarray(-bytes.length))).toBe(true)
    }
    for (const { body, copy } of got) expect(body.equals(copy)).toBe(true)
  })

  it('see a rewrite of the same length in the same moment', async () => {
    for (let i = 0; i < 200; i++) {
      put('a.log', `${i % 10}`.repeat(1000))
      expect((await suffix('a.log', 500)).toString()).toBe(`${i % 10}`.repeat(500))
    }
  })

  it('see other bytes in the middle, with the old bytes at both ends', async () => {
    const size = 3 * 1024 * 1024
    const whole = Buffer.alloc(size, 'x')
    put('a.log', whole)
    await suffix('a.log', size)
    await settle()
    await suffix('a.log', size)
    whole[size / 2] = 121
    put('a.log', whole)
    expect((await suffix('a.log', size)).equals(whole)).toBe(true)
    expect((await suffix('a.log', size)).equals(whole)).toBe(true)
  })

  it('see a regrowth whose times were set back to those of the old text, for ctime tells', async () => {
    put('a.log', 'old\n'.repeat(2000))
    utimesSync(join(directory, 'a.log'), 1000, 1000)
    await suffix('a.log', 100)
    await settle()
    await suffix('a.log', 100)
    put('a.log', 'new\n'.repeat(2000))
    utimesSync(join(directory, 'a.log'), 1000, 1000)
    expect((await suffix('a.log', 8)).toString()).toBe('new\nnew\n')
  })

  it('keep bounded memory, whatever is asked', async () => {
    const block = Buffer.alloc(3 * 1024 * 1024, 'm')
    for (let i = 0; i < 12; i++) put(`m${i}.log`, block)
    const held = () => {
      const { arrayBuffers } = process.memoryUsage()
      return arrayBuffers
    }
    collect()
    const before = held()
    for (let round = 0; round < 3; round++)
      for (let i = 0; i < 12; i++) {
        const { body } = (await store.read(`m${i}.log`, { suffix: block.length }))!
        const sliced = body as SlicedStream
        for (let slice = await sliced.next(); slice; slice = await sliced.next()) expect(slice[0]).toBe(109)
      }
    // Memory is given back by another thread, some time after the collection.
    const more = () => {
      collect()
      return held() - before
    }
    await expect.poll(more).toBeLessThan(20e6)
  })
})

/** The line that belongs there; see writer.mjs. */
function lineOf(generation: number, number: number): string {
  const filling = generation % 2 ? 100 : 20 + ((Math.imul(generation + number, 2654435761) >>> 0) % 180)
  return `${String(generation).padStart(6, '0')} ${String(number).padStart(8, '0')} ${'x'.repeat(filling)}\n`
}

/** Says what is wrong with a tail; null when it is the end of one state of the file. */
function wrong(text: string, size: number): string | null {
  if (text.length > size) return `${text.length} bytes instead of ${size}`
  const match = /^(\d{6}) (\d{8}) /.exec(text)
  if (!match) return text.length <= 220 ? null : `does not start with a line: ${text.slice(0, 40)}`
  const generation = Number(match[1])
  let number = Number(match[2])
  for (let at = 0; at < text.length; number++) {
    const line = lineOf(generation, number)
    const there = text.slice(at, at + line.length)
    // A reader may see the first part of a write.
    if (there !== line && !(at + there.length === text.length && line.startsWith(there)))
      return `at ${at}: ${JSON.stringify(there.slice(0, 30))} instead of ${JSON.stringify(line.slice(0, 30))}`
    at += line.length
  }
  return null
}

describe('a tail while a writer appends, truncates, replaces, copy-truncates and regrows', () => {
  const MILLISECONDS = Number(process.env.NODESTATE_MODEL_MS ?? 3000)

  /** On a busy machine it takes longer until enough was seen. */
  const AT_MOST = MILLISECONDS + 120_000

  it.each([1, 2])('has never a wrong byte (seed %i)', { timeout: AT_MOST + 20_000 }, async (seed) => {
    put('model.log', '')
    const writer = spawn(process.execPath, [
      join(import.meta.dirname, 'writer.mjs'),
      directory,
      String(seed),
      String(AT_MOST),
    ])
    const ended = new Promise<NodeJS.Signals | null>((resolve) => writer.on('close', (_, by) => resolve(by)))
    const start = performance.now()
    let done = false
    void ended.then(() => {
      done = true
    })
    // What was surely there before a request began.
    let known: [number, number] = [0, 0]
    createInterface(writer.stdout).on('line', (line) => {
      known = line.split(' ').map(Number) as [number, number]
    })
    const counts = { short: 0, long: 0, cut: 0, absent: 0 }
    const held: { body: Uint8Array; copy: string }[] = []
    const sizes = [1, 90, 300, 4096, 65_536, 262_144, 524_288, 1_048_576, 1_100_000, 4_000_000]

    const ask = async (reader: number) => {
      for (let turn = reader; !done; turn++) {
        if (performance.now() - start > MILLISECONDS && counts.short > 100 && counts.long > 10) return
        const size = sizes[turn % sizes.length]!
        const [generation, number] = known
        let text = ''
        try {
          const read = async (range: { suffix: number }, options: object) => {
            const got = await store.read('model.log', range, options)
            if (!got) throw new StoreError('unavailable', 'absent')
            return got
          }
          const { body, length } = await readTail(read as never, size)
          if (body instanceof Uint8Array) {
            text = Buffer.from(body).toString('latin1')
            if (turn % 50 === 0) held.push({ body, copy: text })
            counts.short++
          } else {
            // Sometimes as a server takes it, sometimes as a stream, sometimes slowly.
            const slices = body as SlicedStream
            const reader = turn % 2 ? null : slices.getReader()
            for (;;) {
              const slice = reader ? ((await reader.read()).value ?? null) : await slices.next()
              if (slice === null) break
              text += Buffer.from(slice).toString('latin1')
              slices.release(slice)
              if (turn % 3 === 0) await sleep(1)
            }
            counts.long++
          }
          expect(text.length).toBe(length)
        } catch (error) {
          if (!(error instanceof StoreError)) throw error
          if (error.message === 'absent') counts.absent++
          else {
            expect(error.code).toBe('changed')
            expect(size, error.message).toBeGreaterThan(1_048_576)
            counts.cut++
          }
          await sleep(0)
          continue
        }
        expect(wrong(text, size)).toBeNull()
        // Fresh: nothing that was written before the request is missing from its end.
        const last = text.length > 220 ? /(\d{6}) (\d{8}) x*\n?[^\n]*$/.exec(text.slice(-450)) : null
        if (last && Number(last[1]) === generation) expect(Number(last[2]) + 2).toBeGreaterThanOrEqual(number)
        else if (last) expect(Number(last[1])).toBeGreaterThan(generation - 1)
        if (turn % 4 === 0) await sleep(1)
        else await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await Promise.all([ask(0), ask(3), ask(7)])
    writer.kill('SIGTERM')
    expect(await ended).toBe('SIGTERM')
    expect(counts.short).toBeGreaterThan(100)
    expect(counts.long).toBeGreaterThan(10)
    for (const { body, copy } of held) expect(Buffer.from(body).toString('latin1')).toBe(copy)
  })
})
