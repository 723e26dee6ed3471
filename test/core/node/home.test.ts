import { describe, expect, it } from 'vitest'
import { MASK } from '../../../src/core/mask/redact.ts'
import { openHome } from '../../../src/core/node/home.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'
import { NODE } from '../../support/node.ts'

const CONFIG = '# broker\n[http]\nport = 3000\npassword = "hunter2"\n'

function ask(files: Record<string, string>, path = '/api/v1/config') {
  const home = openHome(memoryStore(files))
  const app = createApp({ logs: memoryStore(), config: home.config, node: home.node })
  return app.request(path)
}

describe('openHome', () => {
  it('gives the node object and the configuration, masked on the way out', async () => {
    const answer = await ask({ 'node.json': JSON.stringify(NODE), 'config.toml': CONFIG })
    expect(answer.status).toBe(200)
    const body = (await answer.json()) as { config: string; node: object }
    expect(body.node).toEqual(NODE)
    expect(body.config).toBe(CONFIG.replace('hunter2', MASK))
  })

  it.each([
    ['node.json', { 'config.toml': CONFIG }],
    ['config.toml', { 'node.json': JSON.stringify(NODE) }],
  ])('says that %s is missing', async (name, files) => {
    const answer = await ask(files as Record<string, string>)
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({
      type: '/problems/missing-object',
      detail: expect.stringContaining(`"${name}"`),
    })
  })

  it.each([
    ['not JSON', '{"hostIp": "secret'],
    ['no object', '[]'],
    ['a field short', JSON.stringify({ ...NODE, httpPort: undefined })],
    ['of another kind', JSON.stringify({ ...NODE, grpcPort: 'secret' })],
  ])('says that node.json is %s, and shows nothing of it', async (_, text) => {
    const answer = await ask({ 'node.json': text, 'config.toml': CONFIG })
    expect(answer.status).toBe(500)
    const problem = await answer.text()
    expect(JSON.parse(problem)).toMatchObject({
      type: '/problems/bad-object',
      detail: expect.stringContaining('"node.json"'),
    })
    expect(problem).not.toContain('secret')
  })
})
