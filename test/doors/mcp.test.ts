import { describe, expect, it } from 'vitest'
import type { Token } from '../../src/core/access/grant.ts'
import { newHono } from '../../src/core/routing.ts'
import { callOf } from '../../src/doors/mcp/service.ts'
import { mcp } from '../../src/doors/mcp.ts'
import { createMetrics } from '../../src/kit/observe/metrics.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { type AppOptions, createApp, createFleet } from '../support/app.ts'
import { answered, ERAS, messageOf, toolsOf } from '../support/mcp.ts'

const line = (second: number, text: string, level = 'INFO') =>
  `2026-11-16 02:41:${String(second).padStart(2, '0')}.000\t${level}\ta.go:1\t[A]: ${text}\n`
const FILES = {
  'broker.log': line(1, 'one') + line(3, 'three', 'ERROR'),
  'secret.log': line(2, 'hidden'),
}
const NODE = JSON.stringify({
  hostIp: '::1',
  hostName: 'db',
  grpcPort: 1,
  httpPort: 2,
  version: '1',
  onlineTime: 3,
})
const CONFIG = 'shards = 17\npassword = "hunter2"\n'
const NOON = '2026-11-16T12:00:00Z'
const DAY = { since: '2026-11-16', until: NOON }

const appOf = (options: Partial<AppOptions> = {}) =>
  createApp({ logs: memoryStore(FILES), config: CONFIG, mcp, onError: () => {}, ...options })
const list = (app: { fetch(request: Request): Response | Promise<Response> }, headers = {}) =>
  app.fetch(messageOf('http://localhost/mcp', 'tools/list', {}, { headers }))
const code = async (response: Response) => ((await response.json()) as { type: string }).type

describe.each(ERAS)('POST /mcp, %s', (era) => {
  it('lists read-only tools, and calls them', async () => {
    const tools = toolsOf((request) => appOf().fetch(request), { era })
    const listed = await tools.list()
    expect(listed.length).toBeLessThanOrEqual(10)
    for (const { annotations } of listed)
      expect(annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false })
    expect(await tools.call('search_logs', { ...DAY, level: 'error' })).toContain('three')
    const config = await tools.call('get_config')
    expect(config).toContain('shards = 17')
    expect(config).not.toContain('hunter2')
  })

  it('answers a problem with its sentence, as an error of the tool', async () => {
    const tools = toolsOf((request) => appOf().fetch(request), { era })
    await expect(tools.call('search_logs', { file: 'brokr.log' })).rejects.toThrow(
      'There is no log file with this name',
    )
    await expect(tools.call('search_logs', { since: 'soon' })).rejects.toThrow(
      'The parameter since is "soon"',
    )
    await expect(tools.call('search_logs', { limit: 201 })).rejects.toThrow('the maximum is 200')
    await expect(tools.call('search_logs', { sinse: '1h' })).rejects.toThrow('did you mean since')
    await expect(tools.call('drop_logs')).rejects.toThrow('There is no such tool')
  })
})

describe('the way to the tools', () => {
  it('is closed unless it is asked for', async () => {
    const response = await list(appOf({ mcp: undefined }))
    expect([response.status, await code(response)]).toEqual([501, '/problems/not-included'])
  })

  it('refuses pages of other origins, and answers its own and those that are allowed', async () => {
    const status = async (Origin: string, options = {}) => (await list(appOf(options), { Origin })).status
    const foreign = await list(appOf(), { Origin: 'https://evil.example' })
    expect([foreign.status, await code(foreign)]).toEqual([403, '/problems/foreign-origin'])
    expect(await status('null')).toBe(403)
    expect(await status('localhost')).toBe(403)
    expect(await status('http://localhost.evil.example')).toBe(403)
    expect(await status('http://localhost:9000')).toBe(403)
    expect(await status('http://localhost')).toBe(200)
    expect(await status('https://localhost')).toBe(200)
    expect(await status('https://ui.example', { corsOrigins: ['https://ui.example'] })).toBe(200)
    expect(await status('https://other.example', { corsOrigins: ['https://ui.example'] })).toBe(403)
    expect(await status('https://any.example', { corsOrigins: ['*'] })).toBe(200)
  })

  it('allows POST and the headers of the protocol in a preflight, here only', async () => {
    const app = appOf({ corsOrigins: ['https://ui.example'], token: 'abc' })
    const preflight = (path: string, Origin = 'https://ui.example') =>
      app.request(`http://localhost${path}`, {
        method: 'OPTIONS',
        headers: { Origin, 'Access-Control-Request-Method': 'POST' },
      })
    const { status, headers } = await preflight('/mcp')
    expect([status, headers.get('Access-Control-Allow-Methods')]).toEqual([204, 'POST'])
    for (const name of ['Authorization', 'Content-Type', 'Mcp-Protocol-Version', 'Mcp-Method', 'Mcp-Name'])
      expect(headers.get('Access-Control-Allow-Headers')).toContain(name)
    const other = await preflight('/api/v1/log/list')
    expect(other.headers.get('Access-Control-Allow-Methods')).toBe('GET, HEAD')
    expect(other.headers.get('Access-Control-Allow-Headers')).not.toContain('Mcp-Method')
    expect((await preflight('/mcp', 'https://evil.example')).status).toBe(401)
    const answer = await list(app, { Origin: 'https://ui.example', Authorization: 'Bearer abc' })
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('https://ui.example')
  })

  it('checks the host as everywhere', async () => {
    const app = appOf({ allowHosts: ['db-4'] })
    expect((await list(app)).status).toBe(421)
    const tools = toolsOf((request) => app.fetch(request), { url: 'http://db-4/mcp' })
    expect(await tools.call('list_logs')).toContain('broker.log')
  })

  it.each([
    ['with a length', (body: string) => body],
    ['without one', (body: string) => new Blob([body]).stream()],
  ])('refuses bodies above 64 KiB, %s', async (_, of) => {
    const send = (size: number) =>
      appOf().fetch(
        new Request('http://localhost/mcp', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: of(JSON.stringify('x'.repeat(size))),
          duplex: 'half',
        } as RequestInit),
      )
    const response = await send(64 * 1024)
    expect([response.status, await code(response)]).toEqual([413, '/problems/request-too-large'])
    expect((await send(60 * 1024)).status).toBe(400)
  })

  it.each([
    '',
    '{',
    '[]',
    'null',
    '7',
    '"x"',
    '['.repeat(30_000),
    '{"a":'.repeat(9000),
    '[{"jsonrpc":"2.0"}]',
  ])('refuses what is no message: %.20s', async (body) => {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
    const response = await appOf().request('http://localhost/mcp', { method: 'POST', headers, body })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: expect.any(Number) } })
  })

  it('works below a path of another app', async () => {
    const outer = newHono().route('/db-4', appOf())
    const tools = toolsOf((request) => outer.fetch(request), { url: 'http://localhost/db-4/mcp' })
    expect(await tools.call('search_logs', DAY)).toContain('three')
    expect(await tools.call('get_config')).toContain('shards')
  })
})

describe('tokens', () => {
  const tokens: Token[] = [
    { name: 'all', token: 'a' },
    { name: 'logs', token: 'l', scopes: ['logs'], files: ['broker*'] },
    { name: 'config', token: 'c', scopes: ['config'] },
    { name: 'metrics', token: 'm', scopes: ['metrics'] },
  ]
  const source = () => tokens
  const of = (token: string, options: Partial<AppOptions> = {}) => {
    const app = appOf({ tokens: source, ...options })
    return toolsOf((request) => app.fetch(request), { headers: { Authorization: `Bearer ${token}` } })
  }

  it('are needed where the API needs them', async () => {
    const app = appOf({ token: 'abc' })
    expect((await list(app)).status).toBe(401)
    expect((await list(app, { Authorization: 'Bearer wrong' })).status).toBe(401)
    expect((await list(app, { Authorization: 'Bearer abc' })).status).toBe(200)
  })

  it('decide which tools there are', async () => {
    const names = async (token: string) => (await of(token).list()).map(({ name }) => name)
    expect(await names('m')).toEqual([])
    expect(await names('c')).toEqual(['get_config'])
    expect(await names('l')).not.toContain('get_config')
    expect(await names('a')).toContain('get_config')
    await expect(of('l').call('get_config')).rejects.toThrow('There is no such tool')
  })

  it('decide which files there are', async () => {
    expect(await of('l').call('list_logs')).not.toContain('secret')
    expect(await of('l').call('search_logs', DAY)).not.toContain('hidden')
    await expect(of('l').call('search_logs', { ...DAY, file: 'secret.log' })).rejects.toThrow()
    expect(await of('a').call('search_logs', DAY)).toContain('hidden')
  })

  it('leave their name, the tool and what was read with the request', async () => {
    const names: string[] = []
    const metrics = createMetrics()
    const app = appOf({ tokens: source, metrics, onAccess: (_, name) => void names.push(name) })
    const headers = { Authorization: 'Bearer l' }
    const request = messageOf(
      'http://localhost/mcp',
      'tools/call',
      { name: 'search_logs', arguments: DAY },
      { headers },
    )
    await (await app.fetch(request)).text()
    expect(names).toContain('logs')
    const { tool, reads } = callOf(request)!
    expect(tool).toBe('search_logs')
    expect(reads[0]).toMatch(/^\/api\/v1\/log\/view\?since=2026-11-16.*&file=\*&/)
    await app.fetch(
      messageOf(
        'http://localhost/mcp',
        'tools/call',
        { name: 'search_logs', arguments: { limit: -1 } },
        { headers },
      ),
    )
    const text = metrics.registry.text('prometheus')
    expect(text).toContain('nodestate_mcp_calls_total{tool="search_logs",outcome="ok"} 1')
    expect(text).toContain('nodestate_mcp_calls_total{tool="search_logs",outcome="problem"} 1')
    expect(text).toContain('nodestate_http_requests_total{route="/mcp",method="POST",status="200"} 2')
  })

  it('see only their nodes of a fleet', async () => {
    const store = memoryStore({
      'db-4/logs/broker.log': line(1, 'four'),
      'db-7/logs/broker.log': line(2, 'seven'),
      'db-4/node.json': NODE,
      'db-7/node.json': NODE,
      'db-4/config.toml': 'a = 1\n',
      'db-7/config.toml': 'a = 2\n',
    })
    const narrow = () => [{ name: 'four', token: 'f', nodes: ['db-4'] }, tokens[0]!]
    const list = narrow()
    const app = createFleet({ store, mcp, tokens: () => list, onError: () => {} })
    const as = (token: string, url = 'http://localhost/mcp') =>
      toolsOf((request) => app.fetch(request), { url, headers: { Authorization: `Bearer ${token}` } })
    expect(await as('f').call('search_logs', DAY)).not.toContain('seven')
    expect(await as('a').call('search_logs', DAY)).toContain('seven')
    await expect(as('f').call('get_config', { node: 'db-7' })).rejects.toThrow('node')
    expect(await as('a').call('get_config', { node: ['db-7'] })).toContain('a = 2')
    expect(await as('a').call('compare_config')).toContain('on db-7')
    expect(await as('a', 'http://localhost/nodes/db-7/mcp').call('search_logs', DAY)).toContain('seven')
    const denied = await app.fetch(
      messageOf(
        'http://localhost/nodes/db-7/mcp',
        'tools/list',
        {},
        { headers: { Authorization: 'Bearer f' } },
      ),
    )
    expect(denied.status).toBe(404)
    expect((await app.fetch(messageOf('http://localhost/nodes/..x/mcp', 'tools/list'))).status).toBe(401)
  })
})

describe('failures', () => {
  it('say nothing of the machine', async () => {
    const reported: unknown[] = []
    const logs = memoryStore(FILES)
    const broken = {
      ...logs,
      list: logs.list.bind(logs),
      stat: logs.stat.bind(logs),
      read: async () => {
        throw new Error('/etc/secret')
      },
    }
    const app = appOf({ logs: broken, onError: (error) => void reported.push(error) })
    const response = await app.fetch(
      messageOf('http://localhost/mcp', 'tools/call', { name: 'search_logs', arguments: DAY }),
    )
    const { result } = await answered(response)
    expect([response.status, result?.isError]).toEqual([200, true])
    expect(JSON.stringify(result)).not.toContain('secret')
    expect(reported).toHaveLength(1)
  })
})
