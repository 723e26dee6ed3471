import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { partsFolder } from '../parts/parts.mjs'
import { type Running, start } from '../support/child.ts'
import { type Project, packedProject } from '../support/packed.ts'
import { lacking, part } from '../support/parts.ts'

const modules = join(partsFolder, 'node_modules')
const noExpress = existsSync(join(modules, 'express'))
  ? null
  : lacking('express is not installed: run npm run test:all')
const noFastify = part('fastify').missing

let project: Project
let logs: string
const running: Running[] = []
beforeAll(() => {
  project = packedProject()
  if (!noExpress) project.install('express', modules)
  if (!noFastify) project.install('fastify', join(partsFolder, 'long/node_modules'))
  logs = join(project.folder, 'logs')
  mkdirSync(logs)
  writeFileSync(join(logs, 'a.log'), 'hello\n'.repeat(1000))
  writeFileSync(join(project.folder, 'broker.toml'), 'a = 1\n')
  for (const path of ['README.md', 'docs/embedding.md'])
    for (const [, name, code] of readFileSync(path, 'utf8').matchAll(/^```js\n\/\/ (\S+)\n([\s\S]*?)^```/gm))
      project.write(
        name!,
        code!
          .replaceAll('/var/log/lindb', logs)
          .replaceAll('/etc/lindb/broker.toml', join(project.folder, 'broker.toml'))
          .replace(/port: 9000|listen\(9000/, (text) => text.replace('9000', '0')),
      )
})
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop()
})
afterAll(() => project?.remove())

/** Runs a recipe; the address that it prints. */
async function run(file: string): Promise<string> {
  const child = await start(process.execPath, [file], {
    cwd: project.folder,
    env: { PATH: process.env.PATH! },
    isReady: (line) => line.startsWith('http'),
  })
  running.push(child)
  return child.line.replace(/\/$/, '')
}

it.each([
  ['hono.js', null],
  ['express.js', noExpress],
  ['fastify.js', noFastify],
])('%s serves a node below a path, beside its own pages', async (file, missing) => {
  if (missing) return expect(missing).toMatch(/is not installed/)
  const url = await run(file)
  expect(await (await fetch(url)).text()).toBe('Your own pages')
  expect(await (await fetch(`${url}/db-4/api/v1/log/view?file=a.log&lines=1`)).text()).toBe('hello\n')
  expect((await fetch(`${url}/db-4/api/v1/log/view?file=nothing`)).status).toBe(404)
  const head = await fetch(`${url}/db-4/api/v1/log/list`, { method: 'HEAD' })
  expect([head.status, head.headers.get('Content-Type')]).toEqual([200, 'application/json'])
  await followed(`${url}/db-4`)
})

it('compressed.js compresses tails, and does not hold up a follow', async () => {
  const url = `${await run('compressed.js')}/db-4`
  const headers = { 'Accept-Encoding': 'gzip' }
  const tail = await fetch(`${url}/api/v1/log/view?file=a.log`, { headers })
  expect(tail.headers.get('Content-Encoding')).toBe('gzip')
  expect((await tail.text()).length).toBeGreaterThanOrEqual(6000)
  const follow = await followed(url, headers)
  expect(follow.headers.get('Content-Encoding')).toBeNull()
  expect(follow.headers.get('Cache-Control')).toContain('no-transform')
})

it("route.js answers Next's requests, which have their whole path", async () => {
  const { GET, HEAD } = await import(join(project.folder, 'route.js'))
  const request = new Request('http://next/db-4/api/v1/log/view?file=a.log&lines=1')
  expect(await (await GET(request)).text()).toBe('hello\n')
  expect((await HEAD(new Request(request, { method: 'HEAD' }))).status).toBe(200)
})

it('memory.js makes an app', async () => {
  const { app } = await import(join(project.folder, 'memory.js'))
  expect((await app.request('/healthz')).status).toBe(200)
})

/** Follows a log until a line arrives that was appended after the first ones had. */
async function followed(base: string, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(`${base}/api/v1/log/view?file=a.log&lines=1&follow=true`, { headers })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = (await reader.read()).value ?? ''
  expect(text).toContain('hello')
  appendFileSync(join(logs, 'a.log'), 'appended\n')
  while (!text.includes('appended')) text += (await reader.read()).value ?? ''
  await reader.cancel()
  writeFileSync(join(logs, 'a.log'), 'hello\n'.repeat(1000))
  return response
}
