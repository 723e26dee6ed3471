import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { VERSION } from '../src/version.ts'

const root = resolve(import.meta.dirname, '..')
const src = join(root, 'src')
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && !file.startsWith('page/'))
  .sort()

/** What a file imports: files of ours by their path below src, packages by their name. */
function importsOf(file: string): string[] {
  const source = readFileSync(join(src, file), 'utf8')
  const specifiers = [...source.matchAll(/(?:from|import\(|import)\s*['"]([^'"]+)['"]/g)].map(
    (match) => match[1]!,
  )
  return specifiers.map((name) =>
    name.startsWith('.') ? relative(src, resolve(src, dirname(file), name)) : name,
  )
}

const outer = (file: string) =>
  /^store\/fs(-\w+)?\.ts$/.test(file) || file === 'cli.ts' || file.startsWith('entry/')
const room = (file: string) => (file.includes('/') ? file.split('/')[0]! : file)

/** Which rooms of ours a room may know. */
const MAY_KNOW: Record<string, string[]> = {
  'store/store.ts': [],
  client: ['client'],
  'client.ts': ['client'],
  'page.ts': ['routes/page.ts'],
  store: ['store'],
  log: ['log', 'store/store.ts'],
  node: ['node', 'store/store.ts'],
  http: ['http', 'log', 'node', 'store/store.ts', 'version.ts'],
  settings: ['settings', 'settings.ts', 'log', 'node', 'version.ts'],
  'settings.ts': ['settings', 'log', 'node', 'version.ts'],
  routes: ['routes', 'http', 'log', 'node', 'store/store.ts', 'version.ts'],
}

describe('the house', () => {
  it('has files to judge', () => {
    expect(files).toContain('store/store.ts')
    expect(files.length).toBeGreaterThan(15)
  })

  it.each(files)('%s knows only what it may', (file) => {
    const allowed = MAY_KNOW[file] ?? MAY_KNOW[room(file)]
    if (!allowed)
      return expect(['app.ts', 'index.ts', 'settings.ts', 'version.ts', 'cli.ts', 'entry']).toContain(
        room(file),
      )
    const ours = importsOf(file).filter((name) => files.includes(name))
    for (const name of ours)
      expect(allowed.includes(name) || allowed.includes(room(name)), `${file} imports ${name}`).toBe(true)
  })

  it.each(files.filter((file) => !outer(file)))('%s knows no runtime', (file) => {
    for (const name of importsOf(file))
      expect(name, file).not.toMatch(/^(node:|bun$|bun:|cloudflare:|npm:|jsr:)/)
    const code = readFileSync(join(src, file), 'utf8').replace(
      /\/\*[\s\S]*?\*\/|\/\/.*|'[^'\n]*'|`[^`]*`/g,
      '',
    )
    expect(code).not.toMatch(/\bprocess\.|\bBun\.|\bDeno\.|\bBuffer\./)
  })

  it('lets only the door and the entries know the app', () => {
    const knowing = files.filter((file) => importsOf(file).includes('app.ts'))
    for (const file of knowing) expect(file === 'index.ts' || file.startsWith('entry/'), file).toBe(true)
  })

  it('has stores that do not know each other', () => {
    for (const store of ['memory', 'fs', 's3', 'r2'])
      for (const file of files.filter(
        (file) => file.startsWith('store/') && !file.startsWith(`store/${store}-`),
      ))
        expect(importsOf(file), file).not.toContain(`store/${store}.ts`)
  })

  it('has one SDK at most in a store', () => {
    for (const file of files.filter((file) => file.startsWith('store/') && !outer(file)))
      expect(importsOf(file).filter((name) => !files.includes(name)).length, file).toBeLessThanOrEqual(1)
  })

  it('has no room called utils', () => {
    for (const file of files) expect(file).not.toMatch(/util|helper|common|misc/i)
  })

  it('has one version', () => {
    expect(VERSION).toBe(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version)
  })
})
