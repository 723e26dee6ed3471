import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseSync } from 'vite'
import { describe, expect, it } from 'vitest'
import { VERSION } from '../src/kit/version.ts'

const root = resolve(import.meta.dirname, '..')
const src = join(root, 'src')
const all = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
  .sort()
const files = all.filter((file) => !file.startsWith('doors/page/'))
const sourceOf = new Map(all.map((file) => [file, readFileSync(join(src, file), 'utf8')]))

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

/** A room is a folder. A file at the top of src is a room by itself. */
const roomOf = (file: string) => (file.includes('/') ? dirname(file) : file)

/**
 * The rooms from the ground up. A room imports only from rooms above it in this table, and from its own. Some have a
 * door: the few files that other rooms may import. The files of all others are there to be imported.
 */
const ROOMS: [room: string, door?: string[]][] = [
  ['kit/version.ts'],
  ['answers.ts'],
  ['kit/bytes.ts'],
  ['kit/suggestion.ts'],
  ['kit/usage.ts'],
  ['kit/limits'],
  ['store/codec'],
  ['store/segment'],
  ['store/store.ts'],
  ['store/fast.ts'],
  ['store/kept-bytes.ts'],
  ['store/remote/node'],
  ['store/remote'],
  ['store/fs'],
  ['store/s3'],
  ['store/segments'],
  ['store/peer'],
  ['store/contract'],
  ['store'],
  ['log/join'],
  ['log/error.ts'],
  ['log/wall-clock.ts'],
  ['log/offset.ts'],
  ['log/time.ts'],
  ['log/instant.ts'],
  ['log/joined/log.ts'],
  ['log/files'],
  ['log/format/read'],
  ['log/format/shape.ts'],
  ['log/format/format.ts'],
  ['log/format/json'],
  ['log/format/lindb'],
  ['log/format/rows'],
  ['log/format/database'],
  ['log/format/stamped'],
  ['log/format/wrapper'],
  ['log/format', ['detect.ts', 'lines.ts']],
  ['log/write/bytes'],
  ['log/write', ['record.ts', 'write.ts']],
  ['log/regex', ['dfa.ts', 'spans.ts']],
  ['log/pattern'],
  ['log/selection.ts'],
  ['log/where'],
  ['log/numbers', ['numbers.ts']],
  ['log/text'],
  ['log/rotated'],
  ['log/scanner'],
  ['log/search'],
  ['log/search/context', ['page.ts']],
  ['log/seek', ['probes.ts', 'seek.ts']],
  ['log/follow/change.ts'],
  ['log/joined'],
  ['log/open.ts'],
  ['log/render'],
  ['log/view'],
  ['log/export'],
  ['log/histogram'],
  ['log/fields'],
  ['log/groups'],
  ['log/follow', ['followers.ts', 'frame.ts', 'hub.ts', 'stream.ts']],
  ['log/merge/records'],
  ['log/merge'],
  ['log/merge/live', ['follow.ts']],
  ['log/compare', ['findings.ts', 'sample.ts']],
  ['log'],
  ['mask', ['redact.ts', 'secret.ts', 'value.ts']],
  ['node'],
  ['kit/runtime', ['runtime.ts']],
  ['http'],
  ['insight/config'],
  ['kit/observe'],
  ['access'],
  ['routes/parameters'],
  ['routes/view'],
  ['routes/merged', ['lane.ts', 'route.ts', 'routes.ts']],
  ['routes/compare', ['compare.ts', 'config.ts']],
  ['routes'],
  ['doors/openapi', ['document.ts', 'route.ts', 'schemas.ts']],
  ['doors/loki/logql'],
  ['doors/loki'],
  ['doors/page.ts'],
  ['doors/loki.ts'],
  ['doors/mcp/service.ts'],
  ['doors/client'],
  ['doors/client.ts'],
  ['doors/client/inside.ts'],
  ['insight/blame'],
  ['insight/incident', ['incident.ts']],
  ['routing.ts'],
  ['options.ts'],
  ['app.ts'],
  ['fleet', ['compare.ts', 'fleet.ts', 'nodes.ts', 'peer.ts']],
  ['index.ts'],
  ['doors/terminal/output'],
  ['doors/mcp/text'],
  ['doors/mcp/arguments.ts'],
  ['doors/mcp/tool.ts'],
  ['doors/mcp/empty.ts'],
  ['doors/mcp/tools'],
  ['doors/mcp'],
  ['doors/terminal/nodes'],
  ['doors/terminal', ['commands.ts', 'terminal.ts']],
  ['entry/settings'],
  ['ship/files'],
  ['ship/bucket.ts'],
  ['ship/ownership.ts'],
  ['ship/home'],
  ['ship', ['metrics.ts', 's3.ts', 'shipper.ts', 'verify.ts']],
  ['entry/settings/ship.ts'],
  ['entry/settings.ts'],
  ['entry/settings/text.ts'],
  ['entry/server'],
  ['entry/lambda'],
  ['entry/own-log'],
  ['entry/service'],
  ['entry/ship', ['run.ts']],
  ['entry/process/arguments.ts'],
  ['entry/process/commands.ts'],
  ['entry/process/listen-error.ts'],
  ['entry/process/start.ts'],
  ['entry/process/program.ts'],
  ['entry'],
  ['entry/cli.ts'],
  ['entry/cli', []],
]
const floors = new Map(ROOMS.map(([room], floor) => [room, floor]))

/** Some files of a folder stand on another floor than the rest: the contract below the stores, errors below the logs. */
const placeOf = (file: string) => (floors.has(file) ? file : roomOf(file))

/** Where a runtime may be named. Everything else is given what it needs by one of these. */
const outer = (file: string) =>
  file === 'entry/cli.ts' ||
  file.startsWith('entry/cli/') ||
  file === 'store/fs.ts' ||
  file === 'store/codec/native.ts' ||
  file === 'kit/runtime/native.ts' ||
  file.startsWith('store/remote/node/') ||
  file.startsWith('store/fs/') ||
  file.startsWith('entry/')

/** Where the system's own clock and timers may be used: the clock itself, taking turns, and what serves real processes. */
const timed = (file: string) =>
  outer(file) ||
  ['kit/limits/clock.ts', 'kit/limits/turns.ts', 'store/contract/keys.ts'].includes(file) ||
  file.startsWith('doors/terminal/')

describe('the house', () => {
  it('has files to judge', () => {
    expect(files).toContain('store/store.ts')
    expect(files.length).toBeGreaterThan(15)
  })

  it.each(files)('%s stands in a room of the table', (file) => {
    expect(floors.has(placeOf(file)), `${placeOf(file)} is not in ROOMS`).toBe(true)
  })

  it('has no room in the table without a file', () => {
    const places = new Set(files.map(placeOf))
    for (const [room] of ROOMS) expect(places, room).toContain(room)
  })

  it('has doors that hide at least half of their room', () => {
    for (const [room, door] of ROOMS) {
      if (!door) continue
      const inside = files.filter((file) => placeOf(file) === room)
      for (const name of door) expect(inside, `door of ${room}`).toContain(`${room}/${name}`)
      expect(door.length, room).toBeLessThanOrEqual(Math.min(4, inside.length / 2))
    }
  })

  it('has no import cycle, types included', () => {
    expect(cycles(all)).toEqual([])
  })

  it.each(files)('%s imports only from rooms below its own, through their doors', (file) => {
    const here = placeOf(file)
    for (const name of importsOf(file).filter((name) => files.includes(name))) {
      const there = placeOf(name)
      if (there === here) continue
      expect(floors.get(there)!, `${file} imports ${name}`).toBeLessThan(floors.get(here)!)
      const door = ROOMS[floors.get(there)!]![1]
      if (door) expect(door, `${file} imports ${name}`).toContain(name.split('/').at(-1))
    }
  })

  it.each(files.filter((file) => !outer(file)))('%s knows no runtime', (file) => {
    for (const name of importsOf(file))
      expect(name, file).not.toMatch(/^(node:|bun$|bun:|cloudflare:|npm:|jsr:)/)
    // Strings stay: `'Bun' in globalThis` asks for a runtime, too.
    expect(codeOf(file)).not.toMatch(
      /\bprocess\.|\bBun\.|\bDeno\.|\bBuffer\.|['"`](Bun|Deno|process|Buffer)['"`]/,
    )
  })

  it.each(files.filter((file) => !timed(file)))('%s is passed its clock and its randomness', (file) => {
    const code = codeOf(file)
    expect(code).not.toMatch(
      /\b(Date\.now|new Date\(\)|performance\.|set(Timeout|Interval|Immediate)|AbortSignal\.timeout)/,
    )
    // Only as the default of an option.
    const named = code.replace(/^import .*$/gm, '').match(/.{0,4}\b(systemClock|Math\.random)\b/g) ?? []
    for (const use of named) expect(use, file).toMatch(/(\?\?|=) (systemClock|Math\.random)$/)
  })

  it('lets only the door and the entries know the app', () => {
    const knowing = files.filter((file) => importsOf(file).includes('app.ts'))
    for (const file of knowing)
      expect(file === 'index.ts' || /^(fleet\/(fleet|node-apps)\.ts$|entry\/)/.test(file), file).toBe(true)
  })

  it('has a page that knows the client, and what is named here', () => {
    const known = [
      'doors/client.ts',
      'log/histogram/steps.ts',
      'log/instant.ts',
      'log/offset.ts',
      'log/regex/spans.ts',
      'log/rotated/names.ts',
      'log/where/compare.ts',
      'mask/mask.ts',
      'kit/suggestion.ts',
    ]
    for (const file of all.filter((file) => file.startsWith('doors/page/')))
      for (const name of importsOf(file).filter((name) => files.includes(name)))
        expect(known, `${file} imports ${name}`).toContain(name)
  })

  it('has stores that do not know each other', () => {
    for (const store of files.filter((file) => placeOf(file) === 'store'))
      for (const file of files.filter((file) => file.startsWith('store/')))
        expect(importsOf(file), file).not.toContain(store)
  })

  it('has one SDK at most in a store', () => {
    for (const file of files.filter((file) => file.startsWith('store/') && !outer(file)))
      expect(
        importsOf(file).filter(
          (name) => !files.includes(name) && !name.startsWith('#') && !name.startsWith('node:'),
        ).length,
        file,
      ).toBeLessThanOrEqual(1)
  })

  it('has no room called utils, and none that is overfull', () => {
    for (const file of files) expect(file).not.toMatch(/util|helper|common|misc/i)
    for (const folder of new Set(all.map((file) => dirname(file))))
      expect(all.filter((file) => dirname(file) === folder).length, folder).toBeLessThanOrEqual(12)
  })

  it('has no function with more than four positional parameters', () => {
    // A WebAssembly export takes numbers, not objects.
    const excepted = ['log/scanner/scanner.ts: lines', 'log/scanner/scanner.ts: shaped']
    const found = all.flatMap((file) => longFunctions(file).map((name) => `${file}: ${name}`))
    expect(found).toEqual(excepted)
  })

  it('has no file of more than 400 lines', () => {
    expect(all.filter((file) => sourceOf.get(file)!.split('\n').length > 401)).toEqual([])
  })

  it('has tests that stand where their sources stand', () => {
    const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    const rooms = new Set([
      ...all.map(roomOf),
      '.',
      'conformance',
      'contract',
      'deploy',
      'page',
      'examples',
      'chaos',
      'world',
      'world/bucket',
      'world/disk',
      'world/faults',
    ])
    for (const test of tests.filter((name) => name.endsWith('.test.ts') && !name.startsWith('parts/')))
      expect([...rooms], test).toContain(dirname(test))
  })

  it('has one version', () => {
    expect(VERSION).toBe(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version)
  })
})

/** What matters here of a node of a syntax tree. */
interface Syntax {
  type: string
  params: unknown[]
  id: { name?: string } | null
  key: { name?: string }
}

/** The functions, methods and function types of a file with more than four parameters. */
function longFunctions(file: string): string[] {
  const { program, errors } = parseSync(file, sourceOf.get(file)!)
  expect(errors, file).toEqual([])
  const found: string[] = []
  const visit = (node: unknown, name: string) => {
    if (typeof node !== 'object' || node === null) return
    const { type = '', params = [], id, key } = node as Partial<Syntax>
    const own = id?.name ?? key?.name ?? name
    const isFunction = /Function|MethodSignature|CallSignature|ConstructSignature/.test(type)
    if (isFunction && params.length > 4) found.push(own)
    for (const child of Object.values(node)) visit(child, own)
  }
  visit(program, '')
  return found
}

/** Every import cycle, as the files on it. */
function cycles(files: string[]): string[][] {
  const found: string[][] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (file: string) => {
    const at = path.indexOf(file)
    if (at >= 0) return void found.push([...path.slice(at), file])
    if (done.has(file)) return
    path.push(file)
    for (const name of importsOf(file)) if (files.includes(name)) visit(name)
    path.pop()
    done.add(file)
  }
  for (const file of files) visit(file)
  return found
}
