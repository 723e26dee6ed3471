import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { partsFolder } from '../../parts/parts.mjs'
import { cleanUp, type Program, serve, temporaryDirectory } from '../../program.ts'
import { lacking, part } from '../../support/parts.ts'

const modules = join(partsFolder, 'node_modules')
const generator = join(modules, 'openapi-typescript/bin/cli.js')
const missing =
  part('node').missing ??
  (existsSync(generator) ? null : lacking('openapi-typescript is not installed: run npm run test:all'))

/** What somebody writes against the generated types; it prints what it read. */
const CLIENT = `import createClient from 'openapi-fetch'
import type { paths } from './nodestate.d.ts'

const [baseUrl, token] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl: baseUrl!, headers: { Authorization: \`Bearer \${token}\` } })
const text = { parseAs: 'text' } as const

const config = await client.GET('/api/v1/config')
const port: number | undefined = config.data?.node.httpPort
const list = await client.GET('/api/v1/log/list')
const names: string[] | undefined = list.data?.map(({ name }) => name)
const query = { file: 'broker.log', size: 100 }
const view = await client.GET('/api/v1/log/view', { params: { query }, ...text })
const lines: string | undefined = view.data
const missing = await client.GET('/api/v1/log/view', { params: { query: { file: 'other' } }, ...text })
// @ts-expect-error the document says that a file is required
await client.GET('/api/v1/log/view', { params: { query: { size: 1 } }, ...text })
// @ts-expect-error and that a size is a number
const never: paths['/api/v1/log/view']['get']['parameters']['query'] = { file: 'broker.log', size: 'all' }
void never
console.log(JSON.stringify({ port, names, lines, status: missing.response.status, problem: missing.error }))
`

describe.skipIf(missing)(`a generated client${missing ? ` (${missing})` : ''}`, { timeout: 120_000 }, () => {
  let program: Program
  let folder: string
  beforeAll(async () => {
    folder = temporaryDirectory()
    const logs = join(folder, 'logs')
    mkdirSync(logs)
    writeFileSync(join(logs, 'broker.log'), 'one\ntwo\n')
    const args = ['--port=0', '--logs', logs, '--http-port=9000', '--log-level=off']
    program = await serve(args, { env: { NODESTATE_TOKEN: 's3cret' } })
    mkdirSync(join(folder, 'node_modules/@types'), { recursive: true })
    for (const name of ['openapi-fetch', 'openapi-typescript-helpers'])
      cpSync(join(modules, name), join(folder, 'node_modules', name), { recursive: true })
    for (const name of ['@types/node', 'undici-types'])
      symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(join(folder, 'client.ts'), CLIENT)
    const compilerOptions = {
      target: 'ES2023',
      module: 'NodeNext',
      lib: ['ES2023', 'DOM', 'DOM.Iterable'],
      types: ['node'],
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['client.ts'] }))
  })
  afterAll(cleanUp)
  const run = (command: string, ...args: string[]) =>
    spawnSync(command, args, { cwd: folder, encoding: 'utf8' })

  it('is made by openapi-typescript, fits what is written against it, and reads a node', () => {
    const made = run(process.execPath, generator, resolve('dist/openapi.json'), '-o', 'nodestate.d.ts')
    expect(made.status, made.stderr).toBe(0)
    const checked = run(process.execPath, resolve('node_modules/typescript/bin/tsc'), '-p', '.')
    expect(checked.stdout).toBe('')
    const read = run(part('node').path!, 'client.ts', program.url, 's3cret')
    expect(read.stderr).toBe('')
    expect(JSON.parse(read.stdout)).toMatchObject({
      port: 9000,
      names: ['broker.log'],
      lines: 'one\ntwo\n',
      status: 404,
      problem: { type: '/problems/unknown-file' },
    })
  })
})
