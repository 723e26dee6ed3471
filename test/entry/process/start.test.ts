import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { serve as serveNode } from '../../../src/entry/node.ts'
import { serveFlags } from '../../../src/entry/process/arguments.ts'
import { startWith } from '../../../src/entry/process/start.ts'
import { loadSettings } from '../../../src/entry/settings.ts'
import { cleanUp, serve, temporaryDirectory } from '../../program.ts'

const startNode = startWith(serveNode)
type Running = Awaited<ReturnType<typeof startNode>>

const open: Running[] = []
const directories: string[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((running) => running.close(0)))
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
  await cleanUp()
})

async function start(...argv: string[]) {
  const logs = mkdtempSync(join(tmpdir(), 'nodestate-entry-'))
  directories.push(logs)
  let text = ''
  const stderr = {
    write(more: string) {
      text += more
    },
    close() {},
  }
  const running = await startNode(
    await loadSettings({ flags: serveFlags(['--port=0', '--logs', logs, ...argv]), env: {} }),
    stderr,
    {},
  )
  open.push(running)
  return { ...running, logs, text: () => text }
}

describe('startWith', () => {
  it('runs several services in one process, each with its own log', async () => {
    const [one, two] = [
      await start('--host-name', 'one'),
      await start('--host-name', 'two', '--log-level=error'),
    ]
    for (const [name, { url }] of Object.entries({ one, two })) {
      expect(await (await fetch(`${url}/api/v1/config`)).json()).toMatchObject({ node: { hostName: name } })
    }
    expect(one.text().match(/\[Request\]/g)).toHaveLength(1)
    expect(two.text()).toBe('')
    await one.close()
    await one.close()
    await expect(fetch(one.url)).rejects.toThrow()
    expect(one.text()).toContain('[Server] [Stop]: nodestate stopped')
    expect((await fetch(`${two.url}/healthz`)).status).toBe(200)
  })

  it('passes every setting on to the app', async () => {
    const before = Date.now()
    const { url, logs } = await start(
      '--host-ip=192.0.2.7',
      '--host-name=db-4',
      '--grpc-port=9001',
      '--http-port=9002',
      '--node-version=0.4.2',
      '--include=*.log',
      '--max-size=8',
      '--allow-host=127.0.0.1',
      '--cors-origin=https://console.example',
    )
    writeFileSync(join(logs, 'a.log'), 'one\ntwo\nthree\n')
    writeFileSync(join(logs, 'b.txt'), 'hidden')
    const answer = await fetch(`${url}/api/v1/config`, { headers: { Origin: 'https://console.example' } })
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('https://console.example')
    const { node } = (await answer.json()) as { node: Record<string, unknown> }
    expect(node).toEqual({
      hostIp: '192.0.2.7',
      hostName: 'db-4',
      grpcPort: 9001,
      httpPort: 9002,
      version: '0.4.2',
      onlineTime: expect.any(Number),
    })
    expect(node.onlineTime).toBeGreaterThanOrEqual(before)
    expect(node.onlineTime).toBeLessThanOrEqual(Date.now())
    expect(await (await fetch(`${url}/api/v1/log/list`)).json()).toEqual([{ name: 'a.log', size: 14 }])
    expect(await (await fetch(`${url}/api/v1/log/view?file=a.log`)).text()).toBe('three\n')
    expect((await fetch(`${url}/api/v1/log/view?file=a.log&size=9`)).status).toBe(400)
    expect((await fetch(`${url}/api/v1/log/view?file=b.txt`)).status).toBe(404)
    const elsewhere = get(`${url}/api/v1/config`, { headers: { Host: 'evil.example' } })
    const [refused] = await once(elsewhere, 'response')
    expect(refused.statusCode).toBe(421)
    refused.resume()
  })

  it('tells the log, not the client, why the storage failed', async () => {
    const { url, logs, text } = await start('--log-level=error')
    rmSync(logs, { recursive: true })
    const answer = await fetch(`${url}/api/v1/log/view?file=x%0A`)
    expect(answer.status).toBe(503)
    expect(await answer.text()).not.toContain(logs)
    expect(text()).toMatch(
      /^[^\n]+\tERROR\t\S+:\d+\t\[Server\] \[Request\]: GET \/api\/v1\/log\/view\?file=x%0A failed: [^\n]+\n$/,
    )
    expect(text()).toContain(logs)
    expect(text()).toContain('"code":"unavailable"')
  })

  it('does not hang on a configuration that became a FIFO', async () => {
    const directory = temporaryDirectory()
    const config = join(directory, 'node.toml')
    writeFileSync(config, 'a = 1')
    const { url } = await start('--log-level=off', '--config', config)
    expect((await fetch(`${url}/api/v1/config`)).status).toBe(200)
    rmSync(config)
    execFileSync('mkfifo', [config])
    const answers = await Promise.all(Array.from({ length: 8 }, () => fetch(`${url}/api/v1/config`)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(503))
  })

  it('has no bind beyond loopback without a token', async () => {
    await expect(start('--host=0.0.0.0')).rejects.toThrow('without a token')
  })
})

describe('an answer that breaks off', () => {
  it('is cut for the client and one line in the log', async () => {
    const logs = temporaryDirectory()
    const path = join(logs, 'big.log')
    writeFileSync(path, Buffer.alloc(64 * 1024 * 1024, 'all work and no play\n'))
    const program = await serve(['--port=0', '--logs', logs, '--log-level=warn'])
    const asked = get(`${program.url}/api/v1/log/view?file=big.log&size=67108864`)
    const [response] = await once(asked, 'response')
    await new Promise<void>((resolve) =>
      response.once('data', () => {
        response.pause()
        resolve()
      }),
    )
    truncateSync(path, 1000)
    const failed = once(response, 'error')
    response.resume()
    expect((await failed)[0]).toMatchObject({ code: 'ECONNRESET' })
    await expect
      .poll(() => program.stderr())
      .toMatch(/^\S+ \S+\tWARN\t\S+:\d+\t\[Server\] \[Request\]: An answer was cut: [^\n]+\n$/)
    expect((await fetch(`${program.url}/api/v1/log/list`)).status).toBe(200)
  })
})
