import { spawnSync } from 'node:child_process'
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from '../support/child.ts'
import { lacking } from '../support/parts.ts'

const root = resolve(import.meta.dirname, '../..')
const missing =
  spawnSync('buildah', ['--version']).status !== 0
    ? lacking('buildah is not installed: apt-get install buildah')
    : process.getuid?.() !== 0
      ? lacking('buildah runs here without user namespaces, and so only as root')
      : null

const folder = missing ? '' : mkdtempSync(join(tmpdir(), 'nodestate-image-'))
const logs = join(folder, 'logs')
const BASE = 'localhost/base'
const IMAGE = 'localhost/nodestate'

/** Its own storage, which is removed in the end. Plain copies (vfs) and chroot need no user namespaces and no overlay. */
const STORAGE = ['--storage-driver', 'vfs', '--root', join(folder, 'root'), '--runroot', join(folder, 'run')]
const CHROOT = ['--isolation', 'chroot', '--network', 'host']
const env = { ...process.env, TMPDIR: folder }

function buildah(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('buildah', [...STORAGE, ...args], {
    cwd: root,
    env,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  })
  if (status !== 0) throw new Error(`buildah ${args[0]} ended with ${status}:\n${stdout}${stderr}`)
  return stdout.trim()
}

/** An image of what this machine has: Node with its libraries, npm and a shell. No registry is needed. */
function makeBase(): void {
  const tree = join(folder, 'tree')
  const put = (from: string, to = from) => {
    mkdirSync(dirname(join(tree, to)), { recursive: true })
    cpSync(from, join(tree, to), { recursive: true, dereference: true })
  }
  const programs = {
    [process.execPath]: '/usr/local/bin/node',
    '/bin/sh': '/bin/sh',
    '/usr/bin/env': '/usr/bin/env',
  }
  for (const [from, to] of Object.entries(programs)) put(from, to)
  const { stdout } = spawnSync('ldd', Object.keys(programs), { encoding: 'utf8' })
  // `libm.so.6 => /lib/libm.so.6 (0x…)`, and the loader without an arrow.
  for (const library of new Set(stdout.match(/\/\S+(?= \(0x)/g))) put(library)
  const npm = realpathSync(spawnSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).stdout.trim())
  put(dirname(dirname(npm)), '/usr/local/lib/node_modules/npm')
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(tree, 'usr/local/bin/npm'))
  mkdirSync(join(tree, 'usr/local/etc'))
  const settings = [
    `registry=${setting('registry')}`,
    'cache=/npm',
    'prefer-offline=true',
    'update-notifier=false',
  ]
  writeFileSync(join(tree, 'usr/local/etc/npmrc'), `${settings.join('\n')}\n`)
  const container = buildah('from', 'scratch')
  buildah('copy', '--quiet', container, tree, '/')
  buildah('config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', container)
  buildah('commit', '--quiet', '--rm', '--format', 'docker', container, BASE)
  rmSync(tree, { recursive: true })
}

const setting = (name: string) =>
  spawnSync('npm', ['config', 'get', name], { cwd: root, encoding: 'utf8' }).stdout.trim()

interface Config {
  User: string
  Env: string[]
  Entrypoint: string[]
  Healthcheck: { Test: string[] }
}

describe.skipIf(missing)(
  `the image, built by buildah${missing ? ` (${missing})` : ''}`,
  { timeout: 180_000 },
  () => {
    let container: string
    let config: Config
    const servers: Running[] = []

    beforeAll(() => {
      mkdirSync(logs)
      writeFileSync(join(logs, 'a.log'), 'hello\n')
      makeBase()
      // The packages that npm ci has downloaded before come from its cache; Bun, too, after this.
      cpSync('deploy/container/bun', join(folder, 'bun'), { recursive: true })
      const warm = ['ci', '--prefix', join(folder, 'bun'), '--ignore-scripts', '--prefer-offline']
      expect(spawnSync('npm', warm, { encoding: 'utf8' })).toMatchObject({ status: 0 })
      rmSync(join(folder, 'bun'), { recursive: true })
      const cache = ['--volume', `${setting('cache')}:/npm`]
      const file = ['--file', 'deploy/container/Containerfile', '.']
      const base = ['--pull-never', '--build-arg', `BASE=${BASE}`]
      // The health check is not part of OCI's format.
      buildah('build', ...CHROOT, ...base, ...cache, '--format', 'docker', '--quiet', '--tag', IMAGE, ...file)
      container = buildah('from', '--pull-never', IMAGE)
      config = JSON.parse(buildah('inspect', '--type', 'image', IMAGE)).Docker.config
    }, 300_000)
    afterAll(async () => {
      for (const server of servers) await server.stop()
      rmSync(folder, { recursive: true, force: true })
    })

    const isReady = (line: string) => line.includes(' listens on http')
    const arguments_ = ['--logs', '/logs', '--port', '0', '--log-level', 'off']
    async function serve(
      command: string,
      args: string[],
      more: Record<string, string> = {},
    ): Promise<Running> {
      const server = await start(command, args, { env: { ...env, ...more }, isReady })
      servers.push(server)
      return server
    }
    const urlOf = ({ line }: Running) => /http:\/\/\S+/.exec(line)![0]
    async function expectLogs(url: string): Promise<void> {
      expect((await fetch(`${url}/api/v1/log/list`)).status).toBe(401)
      const headers = { Authorization: 'Bearer s3cret' }
      const list = await fetch(`${url}/api/v1/log/list`, { headers })
      expect(await list.json()).toEqual([{ name: 'a.log', size: 6 }])
      const view = await fetch(`${url}/api/v1/log/view?file=a.log`, { headers })
      expect(await view.text()).toBe('hello\n')
      expect((await fetch(`${url}/`)).headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    }

    it('starts the program as nobody, and checks its health', () => {
      expect(config).toMatchObject({
        User: '65534:65534',
        Entrypoint: ['/nodestate', 'serve'],
        Healthcheck: { Test: ['CMD', '/nodestate', 'health'] },
      })
      expect(config.Env).toEqual(expect.arrayContaining(['NODESTATE_HOST=0.0.0.0', 'NODESTATE_PORT=9000']))
    })

    it('has the program, its libraries and nothing else, in at most 110 MiB', () => {
      const place = buildah('mount', container)
      const files = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((path) =>
        lstatSync(join(place, path)).isFile(),
      )
      expect(files).toContain('nodestate')
      for (const file of files) expect(file).toMatch(/^(nodestate|lib(64)?\/.*\.so(\.\d+)*)$/)
      const bytes = files.reduce((sum, file) => sum + lstatSync(join(place, file)).size, 0)
      expect(bytes).toBeLessThan(110 * 2 ** 20)
      // Nobody may write there.
      for (const file of ['.', ...files]) expect(lstatSync(join(place, file)).mode & 0o022, file).toBe(0)
    })

    it('answers, and its health check says so', async () => {
      const run = (...options: string[]) => [...STORAGE, 'run', ...CHROOT, ...options, container, '--']
      const volume = ['--volume', `${logs}:/logs:ro`, '--env', 'NODESTATE_TOKEN=s3cret']
      const server = await serve('buildah', [...run(...volume), ...config.Entrypoint, ...arguments_])
      await expectLogs(urlOf(server))
      const check = (port: string) =>
        spawnSync(
          'buildah',
          [...run('--env', `NODESTATE_PORT=${port}`), ...config.Healthcheck.Test.slice(1)],
          {
            env,
          },
        ).status
      expect(check(new URL(urlOf(server)).port)).toBe(0)
      await server.stop()
      expect(check(new URL(urlOf(server)).port)).not.toBe(0)
    })

    it('answers from a root that is mounted read-only', async () => {
      const place = buildah('mount', container)
      // As every runtime of containers does; Bun needs it.
      for (const folder of ['logs', 'proc']) mkdirSync(join(place, folder), { recursive: true })
      const script = `mount --bind "$0" "$0" && mount -t proc proc "$0/proc" && mount --bind "$1" "$0/logs" && mount -o remount,bind,ro "$0" || exit 1
      shift
      exec env -i "$@"`
      const variables = [...config.Env, 'NODESTATE_TOKEN=s3cret']
      const chroot = ['/usr/sbin/chroot', '--userspec=65534:65534', place]
      const command = [...variables, ...chroot, ...config.Entrypoint, ...arguments_]
      const server = await serve('unshare', ['--mount', 'sh', '-c', script, place, logs, ...command])
      await expectLogs(urlOf(server))
      const { pid } = server.process
      const mounts = readFileSync(`/proc/${pid}/mounts`, 'utf8').split('\n')
      expect(mounts.find((line) => line.split(' ')[1] === '/')).toMatch(/^\S+ \S+ \S+ ro,/)
      expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^Uid:\t65534\t65534\t65534\t65534$/m)
      await server.stop()
      expect(server.process.exitCode).toBe(0)
    })
  },
)
