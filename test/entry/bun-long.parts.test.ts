import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, type ClientRequest, get, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from '../support/child.ts'
import { part } from '../support/parts.ts'

const bun = part('bun')
const root = resolve(import.meta.dirname, '../..')
const MIB = 1024 * 1024
const SIZE = 5 * MIB
/** About the most that is kept in memory. */
const LONGEST = 7_700_000

/** Lines of text, at least this many bytes. */
const numbered = (bytes: number, word: string) => {
  let text = ''
  for (let i = 0; text.length < bytes; i++) text += `${word} ${i} of a log that is longer than a slice\n`
  return Buffer.from(text)
}
const text = numbered(7.5 * MIB, 'line')
const large = numbered(50 * MIB, 'row')

/** What a tail of this many bytes must be. */
const tailOf = (whole: Buffer, size: number) =>
  whole.subarray(whole.length <= size ? 0 : whole.indexOf(10, whole.length - size - 1) + 1)

describe.skipIf(bun.missing)(`long answers on Bun${bun.missing ? ` (${bun.missing})` : ''}`, () => {
  let directory: string
  let onBun: Running
  let port: number

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'nodestate-bun-'))
    writeFileSync(join(directory, 'big.log'), text)
    writeFileSync(join(directory, 'large.log'), large)
    onBun = await serve([bun.path!, 'dist/entry/cli/bun.js', 'serve'])
    port = portOf(onBun)
  })
  afterAll(async () => {
    await onBun?.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  const serve = ([command, ...args]: string[]) => {
    const flags = [
      '--logs',
      directory,
      '--port',
      '0',
      '--log-level',
      'error',
      '--cors-origin',
      'https://a.example',
    ]
    return start(command!, [...args, ...flags], {
      cwd: root,
      isReady: (line) => line.includes(' listens on '),
    })
  }
  const portOf = (running: Running) => Number(/127\.0\.0\.1:(\d+)/.exec(running.line)![1])
  const view = (file: string, size = SIZE) => `/api/v1/log/view?file=${file}&size=${size}`
  const targets = () => {
    const descriptors = `/proc/${onBun.process.pid}/fd`
    return readdirSync(descriptors).flatMap((name) => {
      try {
        return [readlinkSync(join(descriptors, name))]
      } catch {
        return []
      }
    })
  }
  const send = (path: string, headers = {}, method = 'GET', at = port, agent: Agent | false = false) =>
    new Promise<IncomingMessage>((done, failed) => {
      request({ host: '127.0.0.1', port: at, path, headers, method, agent }, done).on('error', failed).end()
    })
  const bytesOf = async (response: IncomingMessage) => {
    const parts: Buffer[] = []
    for await (const piece of response) parts.push(piece)
    return Buffer.concat(parts)
  }

  it('are right to the byte with sixteen clients at once, each again and again', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 16 })
    const rounds = Array.from({ length: 16 }, async (_, i) => {
      for (let round = 0; round < 6; round++) {
        const size = [SIZE, MIB, SIZE - i * 10_007][round % 3]!
        const body = await bytesOf(await send(view('big.log', size), {}, 'GET', port, agent))
        expect(body.equals(tailOf(text, size)), `${size}`).toBe(true)
      }
    })
    await Promise.all(rounds)
    agent.destroy()
  })

  it('of 50 MiB are right to the byte with sixteen clients at once', async () => {
    const bodies = Array.from({ length: 16 }, async () => {
      const response = await send(view('large.log', 60 * MIB))
      let at = 0
      for await (const piece of response as AsyncIterable<Buffer>) {
        if (!large.subarray(at, at + piece.length).equals(piece)) throw new Error(`Another byte after ${at}`)
        at += piece.length
      }
      return at
    })
    expect(await Promise.all(bodies)).toEqual(Array(16).fill(large.length))
  })

  it('have the headers that they have on Node', async () => {
    const onNode = await serve([process.execPath, 'dist/entry/cli.js', 'serve'])
    try {
      const { etag } = (await send(view('big.log'), {}, 'HEAD')).headers
      const origin = { Origin: 'https://a.example' }
      const download = '/api/v1/log/download?file=big.log'
      const asked: [string, Record<string, string>, string?][] = [
        [view('big.log'), {}],
        [view('big.log', MIB), {}],
        [view('big.log', MIB), {}],
        [view('big.log', MIB), { Range: 'bytes=0-99' }],
        [view('big.log'), origin],
        [view('big.log'), { Range: 'bytes=0-99' }],
        [view('big.log', 100 * MIB), {}],
        [view('big.log'), { 'If-None-Match': etag! }],
        [view('big.log'), { 'If-None-Match': `"a", ${etag}` }],
        [download, {}],
        [download, origin],
        [download, {}, 'HEAD'],
        [download, { Range: 'bytes=1000000-4999999' }],
        [download, { Range: 'bytes=-3000000', 'If-Range': etag! }],
        [download, { Range: 'bytes=-3000000', 'If-Range': '"other"' }],
        [download, { 'If-None-Match': etag! }],
        [download, { 'If-Match': '"other"' }],
        [download, { Range: `bytes=${text.length}-` }],
      ]
      for (const [path, headers, method] of asked) {
        const name = `${method ?? 'GET'} ${path} ${JSON.stringify(headers)}`
        const answers = []
        for (const at of [portOf(onNode), port]) {
          const response = await send(path, headers, method, at)
          const rest = { ...response.headers }
          // Bun sends a stream in chunks and drops the length that it was given.
          for (const own of [
            'date',
            'connection',
            'keep-alive',
            'content-length',
            'transfer-encoding',
            'x-request-id',
          ])
            delete rest[own]
          answers.push({ status: response.statusCode, headers: rest, body: await bytesOf(response) })
        }
        const [there, here] = answers
        expect({ ...here, body: null }, name).toEqual({ ...there, body: null })
        expect(here!.body.equals(there!.body), name).toBe(true)
      }
    } finally {
      await onNode.stop()
    }
  })

  /** An answer of which only the head was taken so far, and which is longer than what sockets hold. */
  const begun = async (file: string) => {
    const response = await send(view(file, LONGEST))
    response.pause()
    return response
  }
  it('leave no descriptor behind, whether they are taken or left', async () => {
    await bytesOf(await send(view('big.log')))
    await sleep(1_000)
    const before = targets().length
    for (let round = 0; round < 10; round++)
      await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          const response = await begun('big.log')
          if (i % 2) response.destroy()
          else expect(await bytesOf(response)).toHaveLength(tailOf(text, LONGEST).length)
        }),
      )
    await expect.poll(() => targets().length, { timeout: 60_000 }).toBeLessThanOrEqual(before)
  })

  it('are told to wait when there is no descriptor left', async () => {
    const few = await serve([
      'sh',
      '-c',
      'ulimit -n 48; exec "$@"',
      'sh',
      bun.path!,
      'dist/entry/cli/bun.js',
      'serve',
    ])
    try {
      const at = portOf(few)
      await bytesOf(await send(view('big.log'), {}, 'GET', at))
      // Clients that begin to ask take all that is left.
      const open = () => readdirSync(`/proc/${few.process.pid}/fd`).length
      const begin = () => {
        const socket = connect(at, '127.0.0.1')
        socket.on('error', () => {}).write(`GET ${view('big.log')} HTTP/1.1\r\nHost: localhost\r\n`)
        return socket
      }
      const sockets = [begin()]
      await sleep(500)
      for (let i = 0; i < 60; i++) sockets.push(begin())
      await expect.poll(open).toBeGreaterThanOrEqual(48)
      await sleep(300)
      const answer = new Promise<string>((done) => {
        let head = ''
        sockets[0]!.setEncoding('latin1').on('data', (piece: string) => {
          head += piece
          if (head.includes('}')) done(head)
        })
      })
      sockets[0]!.write('\r\n')
      expect(await answer).toMatch(/^HTTP\/1\.1 503 .*\r\nRetry-After: 1\r\n/is)
      await expect.poll(few.output).toContain('EMFILE')
      for (const socket of sockets) socket.destroy()
      await expect.poll(open).toBeLessThan(40)
      expect(await bytesOf(await send(view('big.log'), {}, 'GET', at))).toHaveLength(
        tailOf(text, SIZE).length,
      )
    } finally {
      await few.stop()
    }
  })

  it('never mix two texts, whatever the writer does', async () => {
    const writer = spawn(process.execPath, [
      join(import.meta.dirname, 'bun-writer.mjs'),
      directory,
      '4711',
      '10000',
    ])
    const lines = createInterface(writer.stdout)
    await new Promise((ready) => lines.once('line', ready))
    const counts = { whole: 0, cut: 0 }
    let running = true
    const ended = new Promise<void>((done) => writer.once('close', () => done())).then(() => {
      running = false
    })
    const take = async (slow: boolean) => {
      for (let i = 0; running; i++) {
        const long = i % 3 > 0
        const size = long ? SIZE + Math.floor(Math.random() * MIB) : MIB
        const answer = await taken(port, view('model.log', size), slow)
        if (answer === null) counts.cut++
        else {
          expectOneText(answer)
          if (long) counts.whole++
        }
      }
    }
    try {
      await Promise.all([...Array.from({ length: 6 }, (_, i) => take(i >= 3)), ended])
    } finally {
      running = false
      writer.kill()
    }
    expect(counts.whole).toBeGreaterThan(20)
    expect(counts.cut).toBeLessThan(counts.whole)
  })
})

/** A whole answer, or null when it was cut; one that does not end at all throws. */
async function taken(port: number, path: string, slow: boolean): Promise<Buffer | null> {
  let asked: ClientRequest
  const answer = new Promise<Buffer | null>((done) => {
    asked = get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (piece: Buffer) => {
        parts.push(piece)
        if (!slow) return
        response.pause()
        setTimeout(() => response.resume(), 10)
      })
      response.on('end', () => done(response.statusCode === 200 ? Buffer.concat(parts) : null))
      response.on('error', () => done(null))
    }).on('error', () => done(null))
  })
  const late = sleep(60_000, 'late' as const, { ref: false })
  const first = await Promise.race([answer, late])
  if (first !== 'late') return first
  asked!.destroy()
  throw new Error('The answer does not end')
}

/** Lines of one generation, one after the other; only the last may be incomplete. */
function expectOneText(body: Buffer): void {
  const all = body.toString('latin1').split('\n')
  const last = all.pop()!
  // Truncated a moment ago, there may be nothing in it yet.
  if (all.length === 0) return
  const [generation, first] = all[0]!.split(' ')
  let number = Number(first)
  for (const line of [...all, last]) {
    const expected = `${generation} ${String(number++).padStart(8, '0')} ${'x'.repeat(84)}`
    if (line !== expected && !(line === last && expected.startsWith(line)))
      throw new Error(`"${line.slice(0, 40)}" where "${expected.slice(0, 40)}" should be`)
  }
}
