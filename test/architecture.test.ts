import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseSync } from 'vite'
import { describe, expect, it } from 'vitest'
import { VERSION } from '../src/version.ts'

const root = resolve(import.meta.dirname, '..')
const src = join(root, 'src')
const all = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
  .sort()
const files = all.filter((file) => !file.startsWith('page/'))
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
 * The rooms from the ground up, each with its door: the files that other rooms may import. A room imports only from
 * rooms above it in this table (and from its own). `parts` names the rooms that may enter without the door.
 */
const ROOMS: [room: string, door: string[]][] = [
  ['version.ts', ['version.ts']],
  ['answers.ts', ['answers.ts']],
  ['bytes.ts', ['bytes.ts']],
  ['settings/suggestion.ts', ['suggestion.ts']],
  ['settings/usage.ts', ['usage.ts']],
  [
    'limits',
    [
      'bounded-map.ts',
      'budget.ts',
      'clock.ts',
      'concurrency-limit.ts',
      'each.ts',
      'memory-budget.ts',
      'once.ts',
      'shallow-json.ts',
      'slice-memory.ts',
      'yield.ts',
    ],
  ],
  [
    'codec',
    ['crc32.ts', 'decompress.ts', 'error.ts', 'kind.ts', 'member.ts', 'pieces.ts', 'transcode.ts', 'zip.ts'],
  ],
  ['segment', ['configs.ts', 'cover.ts', 'day.ts', 'names.ts', 'node-day.ts', 'ship-json.ts']],
  ['store/store.ts', ['store.ts']],
  ['store/fast.ts', ['fast.ts']],
  ['store/kept-bytes.ts', ['kept-bytes.ts']],
  ['store/remote/node', ['fetch.ts']],
  ['store/remote', ['bucket.ts', 'exact-stream.ts', 'list-pages.ts', 'parts.ts', 'retry.ts']],
  ['store/fs', ['directory.ts', 'file.ts', 'list.ts', 'range.ts', 'slices.ts', 'tails.ts', 'walk.ts']],
  ['store/s3', ['credentials.ts', 'list.ts', 'options.ts', 'wire.ts']],
  ['store/segments', ['listing.ts', 'lives.ts', 'pieces.ts', 'texts.ts']],
  ['store/peer', ['hop.ts', 'wire.ts']],
  ['store/contract', ['keys.ts', 'list.ts', 'read.ts', 'suite.ts']],
  ['store', ['contract.ts', 'fs.ts', 'memory.ts', 'peer.ts', 'r2.ts', 's3.ts', 'segments.ts']],
  ['join', ['joins.ts', 'layout.ts', 'member-reads.ts', 'member.ts', 'members.ts']],
  ['log/error.ts', ['error.ts']],
  ['log/wall-clock.ts', ['wall-clock.ts']],
  ['log/offset.ts', ['offset.ts']],
  ['log/time.ts', ['time.ts']],
  ['log/instant.ts', ['instant.ts']],
  ['log/joined/log.ts', ['log.ts']],
  ['log/files', ['files.ts', 'include.ts', 'narrow.ts', 'nearest.ts']],
  [
    'log/format/read',
    [
      'durations.ts',
      'json-fit.ts',
      'level.ts',
      'named.ts',
      'pairs.ts',
      'severities.ts',
      'stamp.ts',
      'status.ts',
      'vocabulary.ts',
      'words.ts',
      'years.ts',
      'zone-names.ts',
    ],
  ],
  ['log/format/shape.ts', ['shape.ts']],
  ['log/format/format.ts', ['format.ts']],
  [
    'log/format/json',
    ['dialect.ts', 'json.ts', 'keys.ts', 'logfmt.ts', 'member.ts', 'members.ts', 'values.ts'],
  ],
  ['log/format/lindb', ['lindb.ts']],
  ['log/format/rows', ['access-lines.ts', 'classic.ts', 'database.ts', 'row.ts']],
  ['log/format/database', ['mysql-slow.ts', 'postgresql.ts', 'postgresql-csv.ts']],
  ['log/format/stamped', ['glog.ts', 'header.ts', 'leveled.ts', 'programs.ts', 'stamped.ts']],
  ['log/format/wrapper', ['cri.ts', 'json-wrapper.ts', 'wrapped.ts']],
  ['log/format', ['detect.ts', 'lines.ts']],
  ['log/write/bytes', ['json-value.ts', 'line-out.ts', 'words.ts']],
  ['log/write', ['record.ts', 'write.ts']],
  ['log/regex', ['dfa.ts', 'spans.ts']],
  ['log/pattern', ['pattern.ts', 'literal.ts', 'message.ts']],
  ['log/selection.ts', ['selection.ts']],
  ['log/where', ['compare.ts', 'where.ts']],
  ['log/numbers', ['numbers.ts']],
  [
    'log/text',
    [
      'archive.ts',
      'bytes.ts',
      'cursor.ts',
      'decompress.ts',
      'format.ts',
      'kind.ts',
      'open.ts',
      'series.ts',
      'tail.ts',
      'text.ts',
    ],
  ],
  [
    'log/rotated',
    ['by-name.ts', 'family.ts', 'heads.ts', 'kin.ts', 'names.ts', 'open.ts', 'relatives.ts', 'rolled.ts'],
  ],
  ['log/scanner', ['marks.ts', 'scanner.ts', 'shapes.ts']],
  [
    'log/search',
    [
      'blocks.ts',
      'consumer.ts',
      'filter.ts',
      'in-turns.ts',
      'page.ts',
      'range.ts',
      'reading.ts',
      'records.ts',
      'sink.ts',
      'span.ts',
      'walk.ts',
    ],
  ],
  ['log/search/context', ['page.ts']],
  ['log/seek', ['probes.ts', 'seek.ts']],
  ['log/follow/change.ts', ['change.ts']],
  ['log/joined', ['groups.ts', 'open.ts', 'reach.ts', 'tracker.ts']],
  ['log/open.ts', ['open.ts']],
  ['log/render', ['body.ts', 'csv.ts', 'ndjson.ts', 'record.ts', 'rendered.ts', 'visible.ts']],
  ['log/view', ['answer.ts', 'context.ts', 'detail.ts', 'holes.ts', 'request.ts', 'session.ts', 'view.ts']],
  ['log/export', ['export.ts']],
  ['log/histogram', ['chart.ts', 'count.ts', 'histogram.ts']],
  ['log/fields', ['fields.ts', 'patterns.ts']],
  ['log/groups', ['count.ts', 'groups.ts']],
  ['log/follow', ['followers.ts', 'frame.ts', 'hub.ts']],
  ['log/merge/records', ['long.ts', 'neighbours.ts', 'order.ts', 'track.ts']],
  [
    'log/merge',
    ['cursor.ts', 'export.ts', 'merge.ts', 'place.ts', 'places.ts', 'render.ts', 'source.ts', 'wire.ts'],
  ],
  ['log/merge/live', ['follow.ts']],
  ['log/compare', ['findings.ts', 'sample.ts']],
  ['log', ['options.ts']],
  ['mask', ['redact.ts', 'secret.ts', 'value.ts']],
  ['node', ['config.ts', 'home.ts', 'identity.ts', 'versions.ts']],
  ['runtime', ['runtime.ts']],
  [
    'http',
    [
      'accept.ts',
      'auth.ts',
      'caller.ts',
      'conditional.ts',
      'cors.ts',
      'params.ts',
      'peer.ts',
      'problem.ts',
      'problem-meanings.ts',
      'range.ts',
      'sliced.ts',
    ],
  ],
  ['config', ['compare.ts', 'history.ts', 'values.ts']],
  [
    'observe',
    [
      'config-changed.ts',
      'metrics.ts',
      'observer.ts',
      'ready.ts',
      'registry.ts',
      'request-id.ts',
      'tracer.ts',
    ],
  ],
  ['access', ['grant.ts', 'guard.ts', 'make.ts', 'revocation.ts', 'tokens.ts']],
  [
    'routes/parameters',
    [
      'groups-request.ts',
      'histogram-request.ts',
      'meaning.ts',
      'query-text.ts',
      'read.ts',
      'row.ts',
      'table.ts',
      'tail-table.ts',
      'view-request.ts',
    ],
  ],
  ['routes/view', ['export.ts', 'headers.ts', 'search.ts', 'table.ts', 'tail.ts']],
  ['routes/merged', ['lane.ts', 'route.ts', 'routes.ts']],
  ['routes/compare', ['compare.ts', 'config.ts']],
  [
    'routes',
    [
      'config-history.ts',
      'config.ts',
      'download.ts',
      'fields.ts',
      'groups.ts',
      'list-details.ts',
      'page.ts',
      'query-routes.ts',
      'resources.ts',
    ],
  ],
  ['openapi', ['document.ts', 'route.ts', 'schemas.ts']],
  ['loki/logql', ['amounts.ts', 'parse.ts', 'query.ts']],
  ['loki', ['answer.ts', 'files.ts', 'labels.ts', 'metrics.ts', 'series.ts', 'times.ts']],
  ['page.ts', ['page.ts']],
  ['loki.ts', ['loki.ts']],
  ['mcp/service.ts', ['service.ts']],
  [
    'client',
    ['body.ts', 'connect.ts', 'follow.ts', 'missing.ts', 'notes.ts', 'problem.ts', 'types.ts', 'web.ts'],
  ],
  ['client.ts', ['client.ts']],
  ['inside', ['client.ts']],
  ['blame', ['blame.ts']],
  ['incident', ['incident.ts']],
  ['routing.ts', ['routing.ts']],
  ['options.ts', ['options.ts']],
  ['app.ts', ['app.ts']],
  ['fleet', ['compare.ts', 'fleet.ts', 'nodes.ts', 'peer.ts']],
  ['index.ts', ['index.ts']],
  [
    'terminal/output',
    ['groups.ts', 'link.ts', 'notes.ts', 'paint.ts', 'records.ts', 'shown.ts', 'spinner.ts', 'world.ts'],
  ],
  ['mcp/text', ['answer.ts', 'records.ts']],
  ['mcp/arguments.ts', ['arguments.ts']],
  ['mcp/tool.ts', ['tool.ts']],
  ['mcp/empty.ts', ['empty.ts']],
  [
    'mcp/tools',
    ['configs.ts', 'context.ts', 'different.ts', 'groups.ts', 'lists.ts', 'search.ts', 'summaries.ts'],
  ],
  ['mcp', ['mcp.ts', 'protocol.ts']],
  ['terminal/nodes', ['compared.ts', 'connect.ts', 'logs.ts']],
  ['terminal', ['commands.ts', 'terminal.ts']],
  ['settings', ['file.ts', 'flags.ts', 'kinds.ts', 'node.ts', 'read.ts', 'reason.ts', 'row.ts']],
  ['ship/files', ['checksums.ts', 'disk.ts', 'groups.ts', 'order.ts', 'text.ts', 'watched-files.ts']],
  ['ship/bucket.ts', ['bucket.ts']],
  ['ship/ownership.ts', ['ownership.ts']],
  ['ship/home', ['levels.ts', 'node-files.ts']],
  ['ship', ['metrics.ts', 's3.ts', 'shipper.ts', 'verify.ts']],
  ['settings/ship.ts', ['ship.ts']],
  ['settings.ts', ['settings.ts']],
  ['settings/text.ts', ['text.ts']],
  [
    'entry/server',
    [
      'bad-request.ts',
      'certificate-name.ts',
      'connections.ts',
      'named-response.ts',
      'node-body.ts',
      'serve.ts',
      'stall.ts',
      'stop.ts',
    ],
  ],
  ['entry/lambda', ['event.ts', 'result.ts']],
  ['entry/own-log', ['access.ts', 'audit.ts', 'log-line.ts', 'own-log.ts', 'rotating-file.ts']],
  ['entry/service', ['compose.ts', 'location.ts', 'open-bucket.ts', 'remote.ts', 'tls.ts']],
  ['entry/ship', ['run.ts']],
  ['entry/process/arguments.ts', ['arguments.ts']],
  ['entry/process/commands.ts', ['commands.ts']],
  ['entry/process/listen-error.ts', ['listen-error.ts']],
  ['entry/process/start.ts', ['start.ts']],
  ['entry/process/program.ts', ['program.ts']],
  ['entry', ['aws-lambda.ts', 'bun.ts', 'cloudflare.ts', 'deno.ts', 'node.ts']],
  ['cli.ts', ['cli.ts']],
  ['cli', []],
]
const floors = new Map(ROOMS.map(([room], floor) => [room, floor]))

/** Some files of a folder stand on another floor than the rest: the contract below the stores, errors below the logs. */
const placeOf = (file: string) => (floors.has(file) ? file : roomOf(file))

/** Where a runtime may be named. Everything else is given what it needs by one of these. */
const outer = (file: string) =>
  file === 'cli.ts' ||
  file.startsWith('cli/') ||
  file === 'store/fs.ts' ||
  file === 'codec/native.ts' ||
  file === 'runtime/native.ts' ||
  file.startsWith('store/remote/node/') ||
  file.startsWith('store/fs/') ||
  file.startsWith('entry/')

/** Where the system's own clock and timers may be used: the clock itself, taking turns, and what serves real processes. */
const timed = (file: string) =>
  outer(file) ||
  ['limits/clock.ts', 'limits/turns.ts', 'store/contract/keys.ts'].includes(file) ||
  file.startsWith('terminal/')

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
    for (const [room, door] of ROOMS) {
      expect(places, room).toContain(room)
      const folder = room.endsWith('.ts') ? roomOf(room) : room
      for (const name of door)
        expect(all, `door of ${room}`).toContain(folder.endsWith('.ts') ? name : `${folder}/${name}`)
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
      expect(door, `${file} imports ${name}`).toContain(name.split('/').at(-1))
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
      'client.ts',
      'log/histogram/steps.ts',
      'log/instant.ts',
      'log/offset.ts',
      'log/regex/spans.ts',
      'log/where/compare.ts',
      'mask/mask.ts',
      'settings/suggestion.ts',
    ]
    for (const file of all.filter((file) => file.startsWith('page/')))
      for (const name of importsOf(file).filter((name) => files.includes(name)))
        expect(known, `${file} imports ${name}`).toContain(name)
  })

  it('has stores that do not know each other', () => {
    for (const store of ['memory', 'fs', 's3', 'r2', 'peer'])
      for (const file of files.filter((file) => file.startsWith('store/')))
        expect(importsOf(file), file).not.toContain(`store/${store}.ts`)
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
