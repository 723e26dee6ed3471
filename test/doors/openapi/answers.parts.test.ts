import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { Problem } from '../../../src/core/http/problem.ts'
import { HomeError } from '../../../src/core/node/home.ts'
import { openApi } from '../../../src/doors/openapi/document.ts'
import { systemClock } from '../../../src/kit/limits/clock.ts'
import { createMetrics } from '../../../src/kit/observe/metrics.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { versionKey } from '../../../src/store/segment/configs.ts'
import { type Store, StoreError, type StoreErrorCode } from '../../../src/store/store.ts'
import { HOME } from '../../conformance/fixture.ts'
import { type Asked, REQUESTS } from '../../conformance/requests.ts'
import { partsFolder } from '../../parts/parts.mjs'
import { type AppOptions, createApp, createFleet, type FleetOptions } from '../../support/app.ts'
import { lacking } from '../../support/parts.ts'

interface Answer {
  headers: Record<string, unknown>
  content?: Record<string, { schema: object }>
}
interface Document {
  paths: Record<string, Record<'get' | 'head', { responses: Record<string, Answer> }>>
  components: { responses: { Problem: Answer } }
}
const document = openApi() as Document
const missing = ['ajv', '@redocly/cli'].every((name) => existsSync(join(partsFolder, 'node_modules', name)))
  ? null
  : lacking('ajv and @redocly/cli are not installed: run npm run test:all')

const LINE = '2026-11-15 02:10:00.123\tINFO\ta.go:1\t[A]: message\n'
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const logs = Object.fromEntries(
  Object.entries(HOME)
    .filter(([key]) => key.startsWith('logs/'))
    .map(([key, bytes]) => [key.slice(5), bytes]),
)
const conforming = { logs: memoryStore(logs), config: decode(HOME['config.toml']!) }
const small = memoryStore({
  'a.log': LINE.repeat(3),
  'plain.txt': 'one\ntwo\n',
  // Times, and no levels.
  'timed.log': '2026-11-15T02:10:00Z something happened\n'.repeat(20),
  'a.log.gz': gzipSync(LINE),
  'a.log.zst': new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0]),
  'a.log.bz2': 'BZh91AY&SY12345678',
  'large.gz': gzipSync(LINE.repeat(1000)),
  'broken.gz': new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff, 0xff, 0xff]),
})
const failing = (error: Error): Store => {
  const fail = () => Promise.reject(error)
  return { stat: fail, read: fail, list: () => ({ [Symbol.asyncIterator]: () => ({ next: fail }) }) } as Store
}
const log = (path: string, headers: Record<string, string> = {}): Asked => ({
  path: `/api/v1/log/${path}`,
  headers,
})
const CONFIG = { path: '/api/v1/config' }
const HISTORY = { path: '/api/v1/config/history' }
const BLAME = { path: '/api/v1/config/blame' }
const AT = { path: '/api/v1/config?at=2026-11-14' }
const FILE = [
  log('view?file=a.log'),
  log('histogram?file=a.log'),
  log('fields?file=a.log'),
  log('groups?file=a.log&by=level'),
  log('compare?file=a.log&since=2026-11-15'),
  log('incident?file=a.log&since=2026-11-15'),
  log('download?file=a.log'),
]
const READY = { path: '/readyz' }
const METRICS = { path: '/metrics' }
const EVERY = [CONFIG, HISTORY, BLAME, log('list'), ...FILE, METRICS]

const versions = memoryStore({
  [versionKey({ time: Date.UTC(2026, 10, 13), crc: 1 })]: 'a = 1',
  [versionKey({ time: Date.UTC(2026, 10, 15), crc: 2 })]: 'a = 2',
})
const OPTIONS = { logs: small, config: 'a = 1\n', onError: () => {} }
/** Each look at the clock finds a second gone: the time of a search is over as it begins. */
let elapsed = 0
const LATE: Partial<AppOptions> = {
  limits: { scanMillis: 1 },
  clock: { ...systemClock, elapsed: () => (elapsed += 1000) },
}

/** Requests, each set to an app with these options. */
const SCENARIOS: [Partial<AppOptions>, Asked[]][] = [
  [{}, [...EVERY, { path: '/openapi.json' }, { path: '/healthz' }, READY]],
  [{}, EVERY.map(({ path }) => ({ path: `${path}${path.includes('?') ? '&' : '?'}levle=error` }))],
  [{}, [{ ...METRICS, headers: { Accept: 'application/openmetrics-text' } }]],
  [{ metrics: { ...createMetrics(), show: () => Promise.reject(new Error('a bug')) } }, [METRICS]],
  [
    { limits: { sources: 1 } },
    ['view', 'histogram', 'fields', 'groups'].map((name) => log(`${name}?file=*&by=level`)),
  ],
  [{ limits: { sources: 1 } }, [log('compare?file=*&since=1h'), log('incident?file=*&since=1h')]],
  ...['groups?by=level', 'compare?since=2026-11-15', 'incident?since=2026-11-15'].flatMap(
    (asked): [Partial<AppOptions>, Asked[]][] => [
      [{}, [log(`${asked}&file=a.log&regex=(`), log(`${asked}&file=plain.txt&since=1h`)]],
      [{}, [log(`${asked}&file=timed.log&level=warn`), log(`${asked}&file=plain.txt&level=warn`)]],
      [{}, [log(`${asked}&file=broken.gz`), log(`${asked}&file=a.log.zst`), log(`${asked}&file=a.log.bz2`)]],
      [{}, [log(`${asked}&file=none`), log(`${asked}&file=a.log&where=x`), log(asked)]],
      [{ limits: { archiveBytes: 1000 } }, [log(`${asked}&file=large.gz`)]],
    ],
  ),
  [{}, [{ path: '/api/v1/config?detail=true' }, log('list?detail=true')]],
  [{}, [{ path: '/api/v1/config?detail=x' }, { path: `${HISTORY.path}?limit=0` }, log('list?detail=x')]],
  [{}, [AT, { path: '/api/v1/config?at=now' }]],
  [{ versions }, [AT, HISTORY, BLAME]],
  [{ versions: { ...versions, read: async () => null } }, [AT, HISTORY, BLAME]],
  [{ versions: failing(new Error('a bug')) }, [HISTORY, BLAME]],
  [
    {},
    [log('view?size=x&file=a.log'), log('histogram?buckets=0&file=a.log'), log('fields'), log('download')],
  ],
  [
    {},
    ['view', 'histogram', 'fields', 'groups', 'download'].map((name) => log(`${name}?file=none&by=level`)),
  ],
  [
    {},
    [
      log('view?file=a.log&format=ndjson'),
      log('view?file=a.log&lane=true'),
      log('groups?file=a.log&by=level&lane=true'),
      log('view?file=a.log.gz&lines=1'),
      log('download?file=a.log.gz'),
    ],
  ],
  [
    {},
    [
      log('view?file=a.log&regex=('),
      log('view?file=plain.txt&since=1h'),
      log('view?file=plain.txt&level=warn'),
    ],
  ],
  [{}, [log('fields?file=a.log&regex=('), log('fields?file=plain.txt&since=1h')]],
  [{}, [log('fields?file=plain.txt&level=warn'), log('fields?file=broken.gz')]],
  [{}, [log('fields?file=a.log.zst'), log('fields?file=a.log.bz2')]],
  [{ limits: { archiveBytes: 1000 } }, [log('fields?file=large.gz')]],
  [{}, [log('histogram?file=a.log&regex=('), log('histogram?file=plain.txt')]],
  [{}, [log('histogram?file=timed.log&level=warn'), log('view?file=a.log&before=x')]],
  [
    {},
    [log('view?file=broken.gz&lines=1'), log('histogram?file=broken.gz'), log('histogram?file=a.log.zst')],
  ],
  [
    {},
    [log('download?file=a.log', { 'If-Match': '"x"' }), log('download?file=a.log', { Range: 'bytes=999-' })],
  ],
  [
    {},
    [
      log('download?file=a.log', { Range: 'bytes=0-9' }),
      log('download?file=a.log.gz', { Range: 'bytes=0-9' }),
    ],
  ],
  [
    {},
    [log('view?file=a.log&follow=true', { Accept: 'text/event-stream' }), log('view?file=a.log&follow=true')],
  ],
  [{}, [log('view?file=a.log.bz2&lines=1'), log('histogram?file=a.log.bz2')]],
  [{}, [log('view?file=a.log&download=true'), log('view?file=a.log&download=true&format=ndjson')]],
  [{ follow: false }, [log('view?file=a.log&follow=true')]],
  [{ limits: { archiveBytes: 1000 } }, [log('view?file=large.gz&lines=1'), log('histogram?file=large.gz')]],
  [{ token: 'secret' }, EVERY],
  [
    { tokens: () => [{ name: 'none', token: 'none', scopes: [] }] },
    EVERY.map(({ path }) => ({ path, headers: { Authorization: 'Bearer none' } })),
  ],
  [{ allowHosts: ['elsewhere'] }, EVERY],
  [{ logs: failing(new Error('a bug')) }, [log('list'), ...FILE]],
  [{ node: () => Promise.reject(new Error('a bug')) }, [CONFIG]],
  [{ config: 'a =' }, [CONFIG, HISTORY, BLAME]],
  [{ node: () => Promise.reject(new HomeError('bad-object', 'It is not valid.')) }, [CONFIG]],
  [{ config: `# ${'x'.repeat(1024 * 1024)}` }, [CONFIG, HISTORY, BLAME]],
  [{ versions: memoryStore(foreignObjects()) }, [HISTORY, BLAME]],
  [{ ...LATE, config: '# Masked for the first time.' }, [CONFIG, HISTORY, BLAME]],
  [{ node: () => Promise.reject(new HomeError('missing-object', 'It is missing.')) }, [CONFIG]],
  [{ config: () => Promise.reject(new Problem('not-configured', 'Set it.')) }, [CONFIG, HISTORY, BLAME]],
  [{ config: () => Promise.reject(new HomeError('missing-object', 'It is missing.')) }, [HISTORY, BLAME]],
  ...(['unavailable', 'denied', 'throttled', 'timeout'] as const).map(
    (code): [Partial<AppOptions>, Asked[]] => [
      { logs: failing(new StoreError(code, 'x')), config: () => Promise.reject(new StoreError(code, 'x')) },
      [...EVERY.filter((asked) => asked !== METRICS), READY],
    ],
  ),
  ...(['changed', 'bad-segment', 'missing-segment'] satisfies StoreErrorCode[]).map(
    (code): [Partial<AppOptions>, Asked[]] => [{ logs: failing(new StoreError(code, 'x')) }, FILE],
  ),
]

const NODES = [
  { path: '/api/v1/nodes' },
  { path: '/api/v1/config/compare?node=db-*' },
  { path: '/api/v1/config/blame?node=db-1' },
]

/** Requests, each set to a fleet with these options. */
const FLEETS: [Partial<FleetOptions>, Asked[]][] = [
  [{}, [{ path: '/api/v1/config/compare' }, { path: '/api/v1/config/compare?node=none' }]],
  [{}, [BLAME, { path: '/api/v1/config/blame?node=none' }]],
  [{}, [...NODES, { path: '/api/v1/nodes?limit=1' }, { path: '/api/v1/nodes?limit=0' }]],
  [{}, [{ path: '/api/v1/nodes?levle=error' }, { path: '/openapi.json' }, { path: '/healthz' }, READY]],
  [{ token: 'secret' }, NODES],
  [
    { tokens: () => [{ name: 'none', token: 'none', scopes: [] }] },
    NODES.map(({ path }) => ({ path, headers: { Authorization: 'Bearer none' } })),
  ],
  [{ allowHosts: ['elsewhere'] }, NODES],
  ...[
    new Error('a bug'),
    ...(['unavailable', 'denied', 'throttled', 'timeout'] as const).map((code) => new StoreError(code, 'x')),
  ].map((error): [Partial<FleetOptions>, Asked[]] => [{ store: failing(error) }, NODES]),
]
const homes = memoryStore({
  'db-1/ship.json': JSON.stringify({ host: 'h', run: 'r', logs: {}, node: null }),
  'db-2/node.json': decode(HOME['node.json']!),
  'db-3/ship.json': 'broken',
})

/** A folder of versions that is full of something else. */
function foreignObjects(): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`configs/${i}.txt`, '']))
}

describe.skipIf(missing)(`the OpenAPI document${missing ? ` (${missing})` : ''}`, () => {
  it('has no lint', () => {
    const cli = join(partsFolder, 'node_modules/@redocly/cli/bin/cli.js')
    // Health checks and this document itself have no 4xx.
    const args = [
      cli,
      'lint',
      'dist/openapi.json',
      '--skip-rule',
      'operation-4xx-response',
      '--format',
      'json',
    ]
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const found = execFileSync(process.execPath, args, {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    expect(JSON.parse(found).problems).toEqual([])
  })

  it('describes every answer that the conformance requests get', async () => {
    const app = createApp(conforming)
    const known = REQUESTS.filter(({ path, method = 'GET' }) => {
      return Object.hasOwn(document.paths, path.split('?')[0]!) && /^(GET|HEAD)$/.test(method)
    })
    expect(known.length).toBeGreaterThan(60)
    for (const asked of known) await check(asked, await answerOf(app, asked))
  })

  it('describes the answers to requests that are refused or fail', async () => {
    for (const [options, requests] of SCENARIOS) {
      const app = createApp({ ...OPTIONS, metrics: createMetrics(), ...options })
      for (const asked of requests) await checkTwice(app, asked)
    }
    for (const [options, requests] of FLEETS) {
      const fleet = createFleet({ store: homes, onError: () => {}, ...options })
      for (const asked of requests) await checkTwice(fleet, asked)
    }
    const fleet = createFleet({ store: homes, metrics: createMetrics() })
    const coordinator = { 'X-Nodestate-Hop': 'db-9' }
    for (const asked of [CONFIG, HISTORY, BLAME, log('list'), ...FILE, METRICS]) {
      await check(asked, await answerOf(fleet, { ...asked, path: `/nodes/none${asked.path}` }))
      const hop = { ...asked, path: `/nodes/db-1${asked.path}`, headers: coordinator }
      await check(asked, await answerOf(fleet, hop))
    }
    await check(METRICS, await answerOf(createApp({ logs: small, config: '' }), METRICS))
  })
})

/** Once, and again with the tag of the first answer. */
async function checkTwice(app: ReturnType<typeof createApp>, asked: Asked): Promise<void> {
  const response = await answerOf(app, asked)
  const tag = response.headers.get('ETag')
  await check(asked, response)
  if (tag === null || tag.startsWith('W/') || asked.headers?.['If-Match'] !== undefined) return
  const again = { ...asked, headers: { ...asked.headers, 'If-None-Match': tag } }
  await check(again, await answerOf(app, again))
}

async function answerOf(app: ReturnType<typeof createApp>, { path, ...init }: Asked): Promise<Response> {
  return app.request(path, { ...init, headers: { Host: 'node.example', ...init.headers } })
}

/** Holds an answer against the document. */
async function check(asked: Asked, response: Response): Promise<void> {
  const path = asked.path.split('?')[0]!
  const method = asked.method === 'HEAD' ? 'head' : 'get'
  const where = `${asked.method ?? 'GET'} ${asked.path} ${response.status}`
  const own = document.paths[path]![method].responses[response.status]
  const documented = own ?? document.components.responses.Problem
  for (const name of response.headers.keys())
    if (name !== 'content-type')
      expect(
        Object.keys(documented.headers).map((one) => one.toLowerCase()),
        where,
      ).toContain(name)
  if (method === 'head' || documented.content === undefined) return
  const type = response.headers.get('Content-Type')!
  expect(Object.keys(documented.content), where).toContain(type)
  if (asked.path.includes('follow=true') && response.ok) return void (await response.body!.cancel())
  const text = await response.text()
  if (type === 'application/x-ndjson') {
    for (const line of text.split('\n').filter(Boolean))
      validate('#/components/schemas/LogRecord', JSON.parse(line), where)
  } else if (type.endsWith('json')) {
    const answer = own
      ? ['paths', path, method, 'responses', String(response.status)]
      : ['components', 'responses', 'Problem']
    const at = [...answer, 'content', type, 'schema']
    const pointer = at.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
    validate(`#/${pointer}`, JSON.parse(text), where)
  }
}

interface Ajv {
  addSchema(schema: object, id: string): void
  getSchema(id: string): ((value: unknown) => boolean) & { errors?: unknown }
}
let ajv: Ajv | null = null

function validate(pointer: string, value: unknown, where: string): void {
  if (ajv === null) {
    const require = createRequire(join(partsFolder, 'package.json'))
    const { default: Ajv2020 } = require('ajv/dist/2020.js') as { default: new (options: object) => Ajv }
    ajv = new Ajv2020({ strict: false })
    ajv.addSchema(document, 'openapi')
  }
  const check = ajv.getSchema(`openapi${pointer}`)
  expect(check, `${where}: ${pointer}`).toBeDefined()
  expect(check(value) || check.errors, where).toBe(true)
}
