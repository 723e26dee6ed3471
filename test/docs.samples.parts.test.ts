import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { partsFolder } from './parts/parts.mjs'
import { type Project, packedProject } from './support/packed.ts'
import { lacking, part } from './support/parts.ts'

/** Every document with its samples: name and text. */
const documents = new Map(
  [
    'README.md',
    ...readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => join('docs', name)),
    'deploy/README.md',
  ]
    .filter((path) => path.endsWith('.md'))
    .map((path) => [path, samplesOf(readFileSync(path, 'utf8'))] as const)
    .filter(([, samples]) => samples.length > 0),
)

function samplesOf(text: string): { name: string | null; code: string }[] {
  return [...text.matchAll(/^ *```(?:js|ts|javascript|typescript|mjs|mts)\n([\s\S]*?)^ *```/gm)].map(
    ([, code]) => ({ name: /^\/\/ ([\w.-]+\.[cm]?[jt]s)\n/.exec(code!)?.[1] ?? null, code: code! }),
  )
}

/** What has no types of its own, or is not installed here. */
const UNTYPED = ['express', '@opentelemetry/api', 'fastify']
const modules = join(partsFolder, 'node_modules')
const generator = join(modules, 'openapi-typescript/bin/cli.js')
const missing =
  part('node').missing ??
  (existsSync(generator) ? null : lacking('openapi-typescript is not installed: run npm run test:all'))

describe.skipIf(missing)(`the samples${missing ? ` (${missing})` : ''}`, () => {
  let project: Project
  beforeAll(() => {
    project = packedProject()
    for (const name of ['@types/node', 'undici-types']) project.add(name)
    project.install('openapi-fetch', modules)
  })
  afterAll(() => project?.remove())

  /** What the compiler says about the files of a folder. */
  function compile(folder: string, options: object): string {
    writeFileSync(join(folder, 'untyped.d.ts'), UNTYPED.map((name) => `declare module '${name}'\n`).join(''))
    const compilerOptions = {
      target: 'ES2023',
      lib: ['ES2023', 'DOM', 'DOM.AsyncIterable'],
      module: 'NodeNext',
      types: ['node'],
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      ...options,
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['**/*'] }))
    const args = [resolve('node_modules/typescript/bin/tsc'), '-p', folder]
    return spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout.replaceAll(`${folder}/`, '')
  }
  /** JavaScript has no types of parameters; everything else is checked. */
  const JAVASCRIPT = { allowJs: true, checkJs: true, noImplicitAny: false }

  it('all have a name', () => {
    for (const [path, samples] of documents)
      for (const { name, code } of samples) expect(name, `${path}\n${code}`).not.toBeNull()
    expect([...documents.keys()]).toEqual(
      expect.arrayContaining(['docs/embedding.md', 'docs/integrations.md', 'docs/stores.md']),
    )
  })

  it.each([...documents])('%s: compile under strict', (path, samples) => {
    const folder = join(project.folder, basename(path, '.md'))
    mkdirSync(folder)
    // Other documents build on the app of docs/embedding.md.
    for (const { name, code } of documents.get('docs/embedding.md')!)
      if (name === 'app.js') writeFileSync(join(folder, name), code)
    if (samples.some(({ code }) => code.includes('nodestate.d.ts')))
      spawnSync(part('node').path!, [
        generator,
        resolve('dist/openapi.json'),
        '-o',
        join(folder, 'nodestate.d.ts'),
      ])
    for (const { name, code } of samples) writeFileSync(join(folder, name!), code)
    expect(compile(folder, JAVASCRIPT)).toBe('')
  })

  it('of examples/ compile under strict', () => {
    const folder = join(project.folder, 'all-examples')
    cpSync('examples', folder, { recursive: true })
    expect(compile(folder, JAVASCRIPT)).toBe('')
  })

  it('can fail', () => {
    const folder = join(project.folder, 'wrong')
    mkdirSync(folder)
    writeFileSync(join(folder, 'a.js'), "import { createApp } from 'nodestate'\ncreateApp({ logs: 5 })\n")
    expect(compile(folder, JAVASCRIPT)).toContain('error TS')
  })
})
