import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, it } from 'vitest'

const src = resolve(import.meta.dirname, '../src')
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
  .sort()
const sourceOf = new Map(files.map((file) => [file, readFileSync(join(src, file), 'utf8')]))

/** What a file imports, types included: our own files by their path below src, packages by name. */
function importsOf(file: string): string[] {
  const specifiers = [...sourceOf.get(file)!.matchAll(/(?:from|import\(|import)\s*['"]([^'"]+)['"]/g)].map(
    (match) => match[1]!,
  )
  return specifiers.map((name) =>
    name.startsWith('.') ? relative(src, resolve(src, dirname(file), name)) : name,
  )
}

/** A file without its comments. */
const codeOf = (file: string) => sourceOf.get(file)!.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')

/** The layers from the ground up: a file imports from its own layer and those below. The longest path decides. */
const LAYERS = [
  ['kit'],
  ['store'],
  ['log', 'core/mask'],
  // The service, and the doors to it: everything that is not named here.
  ['', 'kit/observe', 'kit/runtime'],
  ['entry'],
]
function layerOf(file: string): number {
  const matches = LAYERS.flatMap((layer, height) =>
    layer
      .filter((path) => path === '' || file === path || file.startsWith(`${path}/`))
      .map((path) => ({ height, length: path.length })),
  )
  return matches.sort((a, b) => b.length - a.length)[0]!.height
}

/** Where a runtime may be named. Everything else is given what it needs by one of these. */
const isEdge = (file: string) =>
  /^(entry|store\/fs|store\/remote\/node)\//.test(file) ||
  ['store/fs.ts', 'store/codec/native.ts', 'kit/runtime/native.ts'].includes(file)

/** Where the system's own clock and timers may be used, besides. */
const isTimed = (file: string) =>
  isEdge(file) ||
  /^doors\/(page|terminal)\//.test(file) ||
  ['kit/limits/clock.ts', 'kit/limits/turns.ts', 'store/contract/keys.ts'].includes(file)

it('no import cycle, types included', () => {
  expect(cycles()).toEqual([])
})

it('imports go down', () => {
  const up = files.flatMap((file) =>
    importsOf(file)
      .filter((name) => sourceOf.has(name) && layerOf(name) > layerOf(file))
      .map((name) => `${file} imports ${name}`),
  )
  expect(up).toEqual([])
})

it('a runtime is named at the edges only', () => {
  const inner = files.filter((file) => !isEdge(file) && !file.startsWith('doors/page/'))
  expect(inner.length).toBeGreaterThan(100)
  for (const file of inner) {
    for (const name of importsOf(file))
      expect(name, file).not.toMatch(/^(node:|bun$|bun:|cloudflare:|npm:|jsr:)/)
    // Strings stay: `'Bun' in globalThis` asks for a runtime, too.
    expect(codeOf(file), file).not.toMatch(
      /\bprocess\.|\bBun\.|\bDeno\.|\bBuffer\.|['"`](Bun|Deno|process|Buffer)['"`]/,
    )
  }
})

it('everything else is passed its clock and its randomness', () => {
  for (const file of files.filter((file) => !isTimed(file))) {
    const code = codeOf(file)
    expect(code, file).not.toMatch(
      /\b(Date\.now|new Date\(\)|performance\.|set(Timeout|Interval|Immediate)|AbortSignal\.timeout)/,
    )
    // Only as the default of an option.
    const named = code.replace(/^import .*$/gm, '').match(/.{0,4}\b(systemClock|Math\.random)\b/g) ?? []
    for (const use of named) expect(use, file).toMatch(/(\?\?|=) (systemClock|Math\.random)$/)
  }
})

/** Every import cycle, as the files on it. */
function cycles(): string[][] {
  const found: string[][] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (file: string) => {
    const at = path.indexOf(file)
    if (at >= 0) return void found.push([...path.slice(at), file])
    if (done.has(file)) return
    path.push(file)
    for (const name of importsOf(file)) if (sourceOf.has(name)) visit(name)
    path.pop()
    done.add(file)
  }
  for (const file of files) visit(file)
  return found
}
