import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, temporaryDirectory } from '../program.ts'
import { part } from '../support/parts.ts'

const { missing } = part('bun')
const noNode = part('node').missing
const node = part('node').path

describe.skipIf(missing ?? noNode)(
  `the binary${missing ? ` (${missing})` : ''}`,
  { timeout: 180_000 },
  () => {
    let binary: string
    let logs: string
    const running = new Set<ReturnType<typeof spawn>>()

    beforeAll(() => {
      const built = spawnSync(process.execPath, ['scripts/binary.mjs'], { encoding: 'utf8' })
      expect(built.stderr).not.toContain('failed')
      // Away from the checkout: it must need nothing of it.
      binary = join(temporaryDirectory(), 'nodestate')
      cpSync(built.stdout.trim(), binary)
      logs = temporaryDirectory()
      writeFileSync(join(logs, 'a.log'), '2026-11-19 10:00:00.123\tERROR\ta.go:1\t[A]: boom\n')
      const compress = `require('node:fs').writeFileSync(process.argv[1], require('node:zlib').zstdCompressSync('squeezed\\n'))`
      expect(spawnSync(node!, ['-e', compress, join(logs, 'b.log.zst')]).status).toBe(0)
    }, 120_000)
    afterAll(async () => {
      for (const child of running) {
        const ended = once(child, 'close')
        if (child.exitCode === null && child.kill()) await ended
      }
      await cleanUp()
    })

    const env = { PATH: '/usr/bin:/bin', HOME: '/' }
    const run = (args: string[], more: Record<string, string> = {}) =>
      spawnSync(binary, args, { encoding: 'utf8', cwd: temporaryDirectory(), env: { ...env, ...more } })

    /** Starts a command that serves; its address. */
    async function start(args: string[]): Promise<string> {
      const child = spawn(binary, [...args, '--port', '0', '--log-level', 'off'], {
        cwd: temporaryDirectory(),
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      running.add(child)
      const [line] = await once(child.stdout!.setEncoding('utf8'), 'data')
      return /http:\/\/[^\s"]+/.exec(line)![0]
    }

    it('serves logs, an archive of zstd, and the page with all its parts', async () => {
      const url = await start(['serve', '--logs', logs])
      const text = async (path: string) => (await fetch(url + path)).text()
      expect(await text('/api/v1/log/view?file=b.log.zst')).toBe('squeezed\n')
      // The search runs in WebAssembly.
      expect(await text('/api/v1/log/view?file=a.log&q=boom&level=error')).toContain('boom')
      const html = await text('/')
      const named = [...html.matchAll(/(?:src|href)="([^"]+\.(?:js|css|svg))"/g)].map(([, path]) => path!)
      // A start imports the asset of its name.
      const assets = named.map((path) => path.replace('?start=', '?asset='))
      expect(assets.length).toBeGreaterThan(1)
      for (const path of assets) {
        const asset = await fetch(`${url}/${path}`)
        expect(asset.status, path).toBe(200)
        expect((await asset.text()).length, path).toBeGreaterThan(200)
      }
    })

    it('is read by its own commands, and checks its own health', async () => {
      const url = await start(['serve', '--logs', logs])
      expect(run(['tail', url, 'a.log'])).toMatchObject({
        status: 0,
        stdout: readFileSync(join(logs, 'a.log'), 'utf8'),
      })
      expect(run(['health', new URL(url).port]).status).toBe(0)
      expect(run(['health', '1']).status).toBe(1)
    })

    it('ships, and serves what it shipped', async () => {
      const home = join(temporaryDirectory(), 'db-4')
      const plain = temporaryDirectory()
      mkdirSync(home)
      cpSync(join(logs, 'a.log'), join(plain, 'a.log'))
      const shipped = run(['ship', '--once', '--logs', plain, home])
      expect(shipped.status, shipped.stderr).toBe(0)
      expect(existsSync(join(home, 'segments'))).toBe(true)
      expect(readdirSync(plain)).toEqual(['a.log'])
      const url = await start(['serve', '--home', home])
      expect(await (await fetch(`${url}/api/v1/log/view?file=a.log`)).text()).toContain('boom')
    })

    it('shows the sample, and has what assistants need inside', async () => {
      const url = await start(['demo', '--mcp'])
      expect(await (await fetch(`${url}/api/v1/log/list`)).json()).toHaveLength(3)
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
      const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
      const tools = await fetch(`${url}/mcp`, { method: 'POST', headers, body: JSON.stringify(body) })
      expect(await tools.text()).toContain('log_patterns')
    })

    it('reads no .env of the directory that it is started in', () => {
      const cwd = temporaryDirectory()
      writeFileSync(join(cwd, '.env'), 'NODESTATE_PORT=nonsense\n')
      const { status, stderr } = spawnSync(resolve(binary), ['serve'], { cwd, env, encoding: 'utf8' })
      expect(status).toBe(2)
      expect(stderr).toContain('Nothing to show')
    })
  },
)
