import { describe, expect, it } from 'vitest'
import { VERSION } from '../../src/kit/version.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp } from '../support/app.ts'

const NODE = {
  hostIp: '192.0.2.4',
  hostName: 'db-4',
  grpcPort: 2891,
  httpPort: 3000,
  version: '0.4.1',
  onlineTime: 1_767_323_045_000,
}

async function ask(path: string, options: Partial<Parameters<typeof createApp>[0]> = {}) {
  const app = createApp({ logs: memoryStore(), config: '[grpc]\nport = 2891\n', ...options })
  const answer = await app.request(`/api/v1/config${path}`)
  return { status: answer.status, etag: answer.headers.get('ETag'), body: await answer.json() }
}

describe('GET /api/v1/config', () => {
  it('has exactly the documented members without detail', async () => {
    for (const path of ['', '?detail=false', '?detail=0', '?known=true']) {
      const { status, body } = await ask(path)
      expect(status).toBe(200)
      expect(Object.keys(body)).toEqual(['config', 'node'])
      expect(Object.keys(body.node)).toEqual(Object.keys(NODE))
    }
  })

  it.each([
    ['only a configuration', {}, ['grpcPort']],
    ['a configuration without ports', { config: 'a = 1' }, []],
    ['a version', { node: { version: '0.4.1' } }, ['grpcPort', 'version']],
    ['a port of zero', { node: { httpPort: 0 } }, ['grpcPort', 'httpPort']],
    ['the whole node', { node: NODE }, Object.keys(NODE)],
    ['a function', { node: async () => ({ hostName: 'db-4' }) }, ['hostName', 'grpcPort']],
    ['facts of the machine', { facts: { hostName: 'sidecar', port: 9000 } }, ['grpcPort']],
  ])('names the fields that are known from %s', async (_, options, known) => {
    const { body } = await ask('?detail=true', options)
    expect(Object.keys(body)).toEqual(['config', 'node', 'known'])
    expect(body.known).toEqual(known)
    const plain = await ask('', options)
    expect({ ...body.node, onlineTime: 0 }).toEqual({ ...plain.body.node, onlineTime: 0 })
  })

  it('tags the two answers apart', async () => {
    const node = NODE
    const [plain, detailed] = [await ask('', { node }), await ask('?detail=true', { node })]
    expect(plain.etag).not.toBe(detailed.etag)
    expect(plain.body.node.version).not.toBe(VERSION)
  })

  it('refuses a detail that is neither true nor false', async () => {
    expect((await ask('?detail=maybe')).status).toBe(400)
  })
})
