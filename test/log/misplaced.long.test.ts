import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/store/memory.ts'
import { cleanUp, serve, temporaryDirectory } from '../program.ts'
import { createApp } from '../support/app.ts'

afterAll(cleanUp)

async function listOf(files: Record<string, string>, include?: string[]) {
  const app = createApp({ logs: memoryStore(files), config: '', ...(include && { include }) })
  const response = await app.request('/api/v1/log/list')
  return { status: response.status, body: await response.json() }
}

const HOME = { 'node.json': '{}', 'config.toml': 'a = 1', 'logs/broker.log': 'hello\n' }
const SHIPPED = { 'node.json': '{}', 'ship.json': '{}', 'segments/broker.log/99999998/x': 'hello\n' }
const below = (folder: string, files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([key, text]) => [`${folder}/${key}`, text]))

describe('a place that holds homes, opened as logs', () => {
  it.each([
    ['a home', HOME, 'home of a node'],
    ['a home that a shipper fills', SHIPPED, 'home of a node'],
    ['a fleet', below('db-4', HOME), 'several nodes'],
    ['a fleet of shippers', { ...below('db-4', SHIPPED), ...below('db-5', SHIPPED) }, 'several nodes'],
  ])('%s is refused with what to open instead', async (_, files, words) => {
    for (const include of [undefined, ['*.log']]) {
      const { status, body } = await listOf(files, include)
      expect(status).toBe(503)
      expect(body).toMatchObject({ type: '/problems/not-configured' })
      expect(body.detail).toContain(words)
      expect(body.detail).toContain('"logs"')
    }
  })

  it.each([
    ['nothing', {}, []],
    ['folders of something else', { 'data/a.bin': 'x', 'tmp/b': 'x' }, []],
    ['a log beside a home', { ...HOME, 'a.log': 'hello\n' }, ['a.log', 'config.toml', 'node.json']],
    ['files that are named so', { 'config.toml': 'a = 1' }, ['config.toml']],
  ])('%s is listed as ever', async (_, files, names) => {
    const { status, body } = await listOf(files)
    expect(status).toBe(200)
    expect(body.map(({ name }: { name: string }) => name)).toEqual(names)
  })

  it('the program warns at start, for a directory that is a home or a fleet', async () => {
    const fleet = temporaryDirectory()
    for (const folder of ['db-4/logs', 'db-5/segments']) mkdirSync(join(fleet, folder), { recursive: true })
    for (const node of ['db-4', 'db-5']) writeFileSync(join(fleet, node, 'node.json'), '{}')
    for (const [logs, flag] of [
      [fleet, '--fleet'],
      [join(fleet, 'db-4'), '--home'],
      [join(fleet, 'db-5'), '--home'],
      [join(fleet, 'db-4/logs'), null],
    ] as const) {
      const { child, exited, stderr } = await serve(['--logs', logs, '--port', '0', '--log-level', 'off'])
      child.kill()
      await exited
      if (flag === null) expect(stderr()).toBe('')
      else expect(stderr()).toContain(`: serve it with ${flag}`)
    }
  })
})
