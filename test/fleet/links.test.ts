import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { serveFlags } from '../../src/entry/process/arguments.ts'
import { compose } from '../../src/entry/service/compose.ts'
import { loadSettings } from '../../src/entry/settings.ts'

const SECRET = 'nobody may read this\n'
const base = realpathSync(mkdtempSync(join(tmpdir(), 'nodestate-links-')))
const fleet = join(base, 'fleet')
const put = (path: string, text: string) => {
  mkdirSync(dirname(join(base, path)), { recursive: true })
  writeFileSync(join(base, path), text)
}
const link = (path: string, target: string) => {
  mkdirSync(dirname(join(fleet, path)), { recursive: true })
  symlinkSync(target, join(fleet, path))
}
const NODE = { hostIp: '', hostName: 'n', grpcPort: 0, httpPort: 0, version: '1', onlineTime: 1 }

// What is outside: a folder of secrets, and a whole home.
put('outside/passwd', SECRET)
put('outside/a.log', SECRET)
put('outside/node.json', JSON.stringify(NODE))
put('outside/config.toml', 'a = "outside"\n')
put('outside/logs/a.log', SECRET)
put('fleet/good/node.json', JSON.stringify(NODE))
put('fleet/good/config.toml', 'a = 1\n')
put('fleet/good/logs/a.log', 'good\n')
put('fleet/other/logs/b.log', SECRET)
// A home that is a link, one whose folders are links, and files that are links.
link('linked', join(base, 'outside'))
link('alias', join(fleet, 'other'))
link('folders/logs', join(base, 'outside'))
link('folders/segments', join(base, 'outside'))
link('folders/ends', join(base, 'outside'))
put('fleet/folders/node.json', JSON.stringify(NODE))
link('files/node.json', join(base, 'outside/node.json'))
link('files/config.toml', join(base, 'outside/config.toml'))
link('files/ship.json', join(base, 'outside/passwd'))
link('files/logs/passwd', join(base, 'outside/passwd'))
link('files/logs/neighbour.log', join(fleet, 'other/logs/b.log'))
link('files/logs/own.toml', join(fleet, 'files/secret.toml'))
put('fleet/files/secret.toml', SECRET)
put('fleet/files/logs/real.log', 'real\n')
link('files/logs/current.log', 'real.log')
afterAll(() => rmSync(base, { recursive: true }))

async function serve(...flags: string[]) {
  const loaded = await loadSettings({ flags: serveFlags(['--fleet', fleet, ...flags]), env: {} })
  const handler = compose(loaded, { write: () => true } as never, {}).handler(0)
  return async (path: string) => {
    const response = await handler(new Request(new URL(path, 'http://localhost')), {} as never)
    return { status: response.status, text: await response.text() }
  }
}

describe.each([[[]], [['--nested']], [['--join']], [['--loki']]])('a directory of homes with %j', (flags) => {
  it('follows no link that leads out of a home, on any route', async () => {
    const get = await serve(...flags)
    const seen: string[] = []
    for (const id of ['linked', 'alias', 'folders', 'files', 'good', 'outside', '..', '.', '%2e%2e'])
      for (const path of [
        'config',
        'log/list',
        'log/list?detail=true',
        ...['passwd', 'a.log', 'b.log', 'neighbour.log', 'own.toml', 'logs/a.log', '../secret.toml'].flatMap(
          (file) =>
            ['view?file=', 'download?file=', 'histogram?file=', 'fields?file=', 'view?lines=2&file='].map(
              (route) => `log/${route}${encodeURIComponent(file)}`,
            ),
        ),
      ]) {
        const { status, text } = await get(`/nodes/${id}/api/v1/${path}`)
        expect(text, `${id} ${path}`).not.toContain('nobody')
        expect(text, `${id} ${path}`).not.toContain('outside')
        if (status === 200) seen.push(`${id} ${path}`)
      }
    expect(seen).toContain('good log/view?file=a.log')
    expect(seen).toContain('good config')
    for (const line of seen) expect(line).toMatch(/^(folders|files|good) /)
    const nodes = (await get('/api/v1/nodes')).text
    expect(nodes).not.toContain('linked')
    expect(nodes).not.toContain('alias')
    if (flags[0] === '--loki') {
      const query = encodeURIComponent('{file=~".+"}')
      const { text } = await get(`/loki/api/v1/query_range?query=${query}&start=0`)
      expect(text).not.toContain('nobody')
      expect((await get('/loki/api/v1/label/file/values')).text).not.toContain('passwd')
    }
  })

  it('follows a link inside a home', async () => {
    const get = await serve(...flags)
    expect((await get('/nodes/files/api/v1/log/view?file=current.log')).text).toBe('real\n')
    const names = JSON.parse((await get('/nodes/files/api/v1/log/list')).text) as { name: string }[]
    expect(names.map(({ name }) => name)).toEqual(['current.log', 'real.log'])
  })
})
