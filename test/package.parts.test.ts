import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { partsFolder } from './parts/parts.mjs'
import { type Running, start } from './support/child.ts'
import { type Project, packedProject } from './support/packed.ts'
import { lacking, part } from './support/parts.ts'

const root = resolve(import.meta.dirname, '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const readme = readFileSync(join(root, 'docs/embedding.md'), 'utf8')
const readRoot = (name: string) => readFileSync(join(root, name), 'utf8')
const inParts = (name: string) => join(partsFolder, 'node_modules', name)
const bun = part('bun')
const deno = part('deno')
const wrangler = part('wrangler')
// Wrangler needs Node 22.
const newerNode = part('node')
const missing = [
  'publint',
  '@arethetypeswrong/cli',
  'hono-floor',
  'typescript-floor',
  '@types/aws-lambda',
].some((name) => !existsSync(inParts(name)))
  ? lacking('the parts are not installed: run npm run test:all')
  : null

let project: Project
beforeAll(() => {
  project = packedProject()
  project.add('@types/node')
  project.add('undici-types')
})
afterAll(() => project.remove())

const run = (command: string, args: string[]) =>
  spawnSync(command, args, {
    cwd: project.folder,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', WRANGLER_SEND_METRICS: 'false' },
  })

/** The names that can be imported. */
const ENTRIES = Object.keys(manifest.exports)
  .filter((name) => !name.endsWith('.json'))
  .map((name) => name.replace(/^\./, 'nodestate'))

/** Each entry with the runtimes that it is for. */
const PLACES: [runtime: string, command: string[] | null, why: string | null][] = [
  ['Node', [process.execPath], null],
  ['Bun', bun.path === null ? null : [bun.path, 'run'], bun.missing],
  ['Deno', deno.path === null ? null : [deno.path, 'run', '--allow-all'], deno.missing],
]

describe('the packed package', () => {
  it('has everything that its documents link to', () => {
    const documents = project.files.filter((file) => file.endsWith('.md'))
    expect(documents).toContain('docs/api.md')
    for (const document of documents) {
      // npm takes pictures from the repository.
      const text = readFileSync(join(root, document), 'utf8').replaceAll(/!\[.*?\]\(.*?\)/g, '')
      for (const [, target] of text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)) {
        const path = normalize(join(dirname(document), target!))
        const found = project.files.some(
          (file) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`),
        )
        expect(found, `${document} links to ${target}`).toBe(true)
      }
    }
  })

  it('has the size and the dependencies that docs/embedding.md states, and hono as its only peer that is not optional', () => {
    const stated = /less than (\d+) KB, with (\d+) dependencies/.exec(readme)!
    expect(project.size / 1000).toBeLessThan(Number(stated[1]))
    expect(Object.keys(manifest.dependencies)).toHaveLength(Number(stated[2]))
    expect(manifest.peerDependencies).toEqual({ '@modelcontextprotocol/server': '^2.4.0', hono: '^4.7.0' })
    expect(manifest.peerDependenciesMeta).toEqual({ '@modelcontextprotocol/server': { optional: true } })
  })

  for (const [runtime, command, why] of PLACES)
    it.skipIf(why)(
      `imports every entry on ${runtime}, without starting anything${why ? ` (${why})` : ''}`,
      () => {
        const names =
          runtime === 'Node' ? ENTRIES : ENTRIES.filter((name) => !/\/(node|aws-lambda)$/.test(name))
        project.write(
          'imports.mjs',
          `const out = {}
for (const name of ${JSON.stringify(names)}) out[name] = Object.keys(await import(name))
console.log(JSON.stringify(out))\n`,
        )
        // Flags of another program do not concern us.
        const result = run(command![0]!, [
          ...command!.slice(1),
          'imports.mjs',
          '--port',
          'nonsense',
          '--help',
        ])
        expect(result.stderr).toBe('')
        const out = JSON.parse(result.stdout)
        for (const name of names) expect(out[name].length, name).toBeGreaterThan(0)
        for (const name of names.filter((name) => /\/(node|bun|deno)$/.test(name)))
          expect(out[name]).toEqual(
            name === 'nodestate/node' ? ['certificateName', 'listener', 'serve'] : ['serve'],
          )
      },
    )

  it.skipIf(missing)('passes publint', () => {
    const result = run(process.execPath, [
      join(inParts('publint'), 'src/cli.js'),
      project.tarball,
      '--strict',
    ])
    expect(result.stdout + result.stderr).toContain('All good!')
  })

  it.skipIf(missing)('has types that are right for every way of resolving that ESM has', () => {
    const cli = join(inParts('@arethetypeswrong/cli'), 'dist/index.js')
    const result = run(process.execPath, [cli, project.tarball, '--profile', 'esm-only', '--no-emoji'])
    expect(result.status, result.stdout + result.stderr).toBe(0)
  })
})

const IMPORT_ALL = `${ENTRIES.map((name, i) => `import * as e${i} from '${name}'`).join('\n')}
export const all = [${ENTRIES.map((_, i) => `e${i}`).join(', ')}]\n`

/** Type-checks a file in the project. */
function check(
  name: string,
  text: string,
  options: object,
  compiler = join(root, 'node_modules/typescript'),
): string {
  project.write(`${name}.ts`, text)
  const compilerOptions = {
    target: 'ES2023',
    module: 'NodeNext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: false,
    ...options,
  }
  project.write(`tsconfig.${name}.json`, JSON.stringify({ compilerOptions, files: [`${name}.ts`] }))
  const tsc = join(compiler, 'bin/tsc')
  return run(process.execPath, [tsc, '-p', `tsconfig.${name}.json`]).stdout
}

describe('its types', () => {
  it('are clean with @types/node and every library checked', () => {
    expect(check('node', IMPORT_ALL, { lib: ['ES2023'], types: ['node'] })).toBe('')
  })

  it.skipIf(missing)('are clean with the lowest TypeScript that docs/api.md names', () => {
    const floor = inParts('typescript-floor')
    const { version } = JSON.parse(readFileSync(join(floor, 'package.json'), 'utf8'))
    const named = /need TypeScript ([\d.]+) or newer/.exec(readFileSync(join(root, 'docs/api.md'), 'utf8'))
    expect(version.startsWith(`${named![1]}.`)).toBe(true)
    expect(check('lowest', IMPORT_ALL, { lib: ['ES2023'], types: ['node'] }, floor)).toBe('')
  })

  it.skipIf(missing)("fit AWS's own types of handlers", () => {
    project.add('@types/aws-lambda', inParts('@types/aws-lambda'))
    const kinds = [
      'APIGatewayProxyHandler',
      'APIGatewayProxyHandlerV2',
      'ALBHandler',
      'LambdaFunctionURLHandler',
    ]
    const text = `import type { ${kinds.join(', ')} } from 'aws-lambda'
import { createApp } from 'nodestate'
import { handle } from 'nodestate/aws-lambda'
import { memoryStore } from 'nodestate/store/memory'
const app = createApp({ logs: memoryStore({}), config: '' })
${kinds.map((kind) => `export const as${kind}: ${kind} = handle(app)`).join('\n')}\n`
    expect(check('lambda', text, { lib: ['ES2023'], types: ['node'] })).toBe('')
  })

  it('are clean with DOM types', () => {
    const text = `import { createClient } from 'nodestate/client'
export const client = createClient({ base: new URL('http://h'), fetch, token: null })
export const body: Promise<ReadableStream<Uint8Array>> = client.download('x').then((file) => file.body)\n`
    expect(check('dom', text, { lib: ['ES2023', 'DOM', 'DOM.AsyncIterable'], types: [] })).toBe('')
  })

  it('mean something without DOM types', () => {
    const text = `import { createClient, type ClientOptions } from 'nodestate/client'
type Any<T> = 0 extends 1 & T ? true : false
const fetchIsAny: Any<NonNullable<ClientOptions['fetch']>> = false
const signalIsAny: Any<NonNullable<NonNullable<Parameters<ReturnType<typeof createClient>['list']>[0]>['signal']>> = false
// @ts-expect-error a fetch is a function
createClient({ base: 'http://h', fetch: 5 })
export { fetchIsAny, signalIsAny }\n`
    expect(check('bare', text, { lib: ['ES2023'], types: [], skipLibCheck: true })).toBe('')
  })

  it.skipIf(missing)('fit an app made with the oldest hono that is allowed', () => {
    project.add('hono', inParts('hono-floor'))
    try {
      const text = `import { Hono } from 'hono'
import { createApp } from 'nodestate'
import { serve } from 'nodestate/node'
import { memoryStore } from 'nodestate/store/memory'
const app = createApp({ logs: memoryStore({ 'a.log': 'one\\n' }), config: '' })
const outer = new Hono<{ Bindings: { A: string }; Variables: { b: number } }>()
outer.route('/route', app)
outer.mount('/mount', app.fetch)
for (const base of ['/route', '/mount'])
  console.log(base, await (await outer.request(base + '/api/v1/log/view?file=a.log')).text())
const server = await serve(outer, { port: 0 })
console.log((await fetch(server.url + '/route/healthz')).status)
await server.close()\n`
      expect(check('floor', text, { lib: ['ES2023'], types: ['node'], skipLibCheck: true })).toBe('')
      project.write('floor.mjs', text.replace(/new Hono<.*>\(\)/, 'new Hono()'))
      const { version } = JSON.parse(
        readFileSync(join(project.folder, 'node_modules/hono/package.json'), 'utf8'),
      )
      expect(`^${version}`).toBe(manifest.peerDependencies.hono)
      expect(run(process.execPath, ['floor.mjs'])).toMatchObject({
        stderr: '',
        stdout: '/route one\n\n/mount one\n\n200\n',
      })
    } finally {
      project.add('hono')
    }
  })
})

describe('the ways of embedding in docs/embedding.md', () => {
  const blocks = new Map(
    [...readme.matchAll(/```(?:js|toml)\n(?:\/\/|#) (\S+)\n([\s\S]*?)```/g)].map(([, name, text]) => [
      name!,
      text!,
    ]),
  )
  let running: Running | null = null
  beforeAll(() => {
    mkdirSync(join(project.folder, 'logs'))
    writeFileSync(join(project.folder, 'logs/a.log'), 'hello\n')
    writeFileSync(join(project.folder, 'broker.toml'), 'a = 1\n')
    const here = (text: string) =>
      text
        .replaceAll('/var/log/lindb', join(project.folder, 'logs'))
        .replaceAll('/etc/lindb/broker.toml', join(project.folder, 'broker.toml'))
        .replace(/port: 9000/, 'port: 0')
    for (const [name, text] of blocks) project.write(name, here(text))
    for (const runtime of ['bun', 'deno'])
      project.write(
        `${runtime}.js`,
        here(blocks.get('node.js')!).replace('nodestate/node', `nodestate/${runtime}`),
      )
  })

  it('are all there', () => {
    expect([...blocks.keys()].slice(0, 5)).toEqual([
      'app.js',
      'node.js',
      'worker.js',
      'wrangler.toml',
      'lambda.js',
    ])
  })

  const SERVERS: [file: string, command: string[] | null, why: string | null][] = [
    ['node.js', [process.execPath], null],
    ['bun.js', bun.path === null ? null : [bun.path, 'run'], bun.missing],
    ['deno.js', deno.path === null ? null : [deno.path, 'run', '--allow-all'], deno.missing],
  ]
  it.each(SERVERS)('%s serves', async (file, command, why) => {
    if (why) return
    try {
      running = await start(command![0]!, [...command!.slice(1), file], {
        cwd: project.folder,
        isReady: (line) => line.startsWith('http'),
      })
      const view = await fetch(`${running.line}/api/v1/log/view?file=a.log`)
      expect(await view.text()).toBe('hello\n')
      expect(await (await fetch(`${running.line}/api/v1/config`)).json()).toMatchObject({
        config: 'a = 1\n',
      })
    } finally {
      await running?.stop()
    }
  })

  it.skipIf(wrangler.missing ?? newerNode.missing)(
    `worker.js weighs what docs/embedding.md says, as wrangler reports it${wrangler.missing ? ` (${wrangler.missing})` : ''}`,
    () => {
      const most = Number(/Wrangler reports less than (\d+) KiB/.exec(readme)![1])
      const { stdout, stderr } = run(newerNode.path!, [
        wrangler.path!,
        'deploy',
        '--dry-run',
        '--outdir',
        'out',
      ])
      expect(Number(/gzip: ([\d.]+) KiB/.exec(stdout)?.[1]), stdout + stderr).toBeLessThan(most)
    },
  )

  it('workers have a compatibility date that the last wrangler for Node 20 knows', () => {
    // wrangler 4.86.0 comes with the workerd of that day.
    const texts = [readme, ...['wrangler.toml', 'examples/cloudflare-access/wrangler.toml'].map(readRoot)]
    for (const text of texts) {
      const [, date] = /^compatibility_date = "(.*)"$/m.exec(text)!
      expect(date! <= '2026-04-26', date).toBe(true)
    }
    expect(readme).toContain('wrangler@4.86.0')
  })

  it('lambda.js exports a handler, and none without its token', () => {
    project.write(
      'handler.mjs',
      `process.env.TOKEN = 't'
console.log(typeof (await import('./lambda.js')).handler)\n`,
    )
    expect(run(process.execPath, ['handler.mjs'])).toMatchObject({ stdout: 'function\n', stderr: '' })
    project.write('no-handler.mjs', `delete process.env.TOKEN\nawait import('./lambda.js')\n`)
    expect(run(process.execPath, ['no-handler.mjs']).stderr).toContain('Cannot use the option auth')
  })

  it('worker.js exports a worker, which answers 503 without its token', () => {
    project.write(
      'worker-run.mjs',
      `import worker from './worker.js'
const BUCKET = { get: async () => null, head: async () => null, list: async () => ({ objects: [], truncated: false }) }
for (const env of [{ BUCKET }, { BUCKET, TOKEN: '' }, { BUCKET, TOKEN: 't' }]) {
  const request = new Request('http://h/api/v1/log/list', { headers: { Authorization: 'Bearer t' } })
  const answer = await worker.fetch(request, env)
  console.log(answer.status, answer.ok ? await answer.text() : '')
}\n`,
    )
    expect(run(process.execPath, ['worker-run.mjs'])).toMatchObject({ stdout: '503 \n503 \n200 []\n' })
  })
})
