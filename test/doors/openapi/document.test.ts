import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, expectTypeOf, it } from 'vitest'
import type {
  ConfigComparison,
  ConfigVersion,
  FleetNode,
  Histogram,
  LogFields,
  LogFile,
  LogFileDetail,
  LogGroups,
  LogRecord,
  NodeConfig,
  TaggedLogFile,
} from '../../../src/doors/client.ts'
import { loki } from '../../../src/doors/loki.ts'
import { openApi } from '../../../src/doors/openapi/document.ts'
import type { SCHEMAS } from '../../../src/doors/openapi/schemas.ts'
import { PROBLEMS, type ProblemCode } from '../../../src/http/problem.ts'
import { createMetrics } from '../../../src/kit/observe/metrics.ts'
import { PARAMETERS } from '../../../src/routes/parameters/table.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp, createFleet } from '../../support/app.ts'

const text = `${JSON.stringify(openApi())}\n`
const app = createApp({
  logs: memoryStore({}),
  config: '',
  token: 'secret',
  metrics: createMetrics(),
  loki,
})

const fleet = createFleet({ store: memoryStore({}), token: 'secret' })

describe('the OpenAPI document', () => {
  it('is in the package, as nodestate/openapi.json', () => {
    expect(readFileSync('dist/openapi.json', 'utf8')).toBe(text)
  })

  it('is served without a token, and revalidated by its tag', async () => {
    const response = await app.request('/openapi.json')
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('application/json')
    expect(await response.json()).toEqual(JSON.parse(text))
    const tag = { 'If-None-Match': response.headers.get('ETag')! }
    expect((await app.request('/openapi.json', { headers: tag })).status).toBe(304)
    expect(await (await fleet.request('/openapi.json')).json()).toEqual(JSON.parse(text))
  })

  it('is compressed for a client that accepts gzip, with a tag of its own', async () => {
    const plain = await app.request('/openapi.json', { headers: { 'Accept-Encoding': 'gzip;q=0' } })
    const packed = await app.request('/openapi.json', { headers: { 'Accept-Encoding': 'br, gzip' } })
    expect(plain.headers.get('Content-Encoding')).toBeNull()
    expect(packed.headers.get('Content-Encoding')).toBe('gzip')
    for (const response of [plain, packed]) expect(response.headers.get('Vary')).toBe('Accept-Encoding')
    expect(packed.headers.get('ETag')).not.toBe(plain.headers.get('ETag'))
    const bytes = new Uint8Array(await packed.arrayBuffer())
    expect(bytes.length).toBeLessThanOrEqual(100_000)
    expect(gunzipSync(bytes).toString()).toBe(await plain.text())
    const again = { 'Accept-Encoding': 'gzip', 'If-None-Match': packed.headers.get('ETag')! }
    expect((await app.request('/openapi.json', { headers: again })).status).toBe(304)
  })

  it('has every parameter of the table', () => {
    const { paths } = JSON.parse(text) as {
      paths: Record<string, { parameters: { name: string; in: string }[] }>
    }
    for (const { name, on } of PARAMETERS)
      for (const resource of on) {
        const own = resource === 'difference' ? '/log/compare' : `/${resource}`
        const path = Object.keys(paths).find(
          (path) => path.endsWith(own) && (own !== '/compare' || path.includes('/config/')),
        )!
        const names = paths[path]!.parameters.filter((one) => one.in === 'query').map((one) => one.name)
        expect(names, resource).toContain(name)
      }
  })

  it('has every problem that a request to a resource may get', () => {
    // Not of a resource: /mcp has a protocol of its own, which describes itself, and an unknown path has none.
    const elsewhere: ProblemCode[] = ['foreign-origin', 'request-too-large', 'unknown-path']
    const missing = (Object.keys(PROBLEMS) as ProblemCode[]).filter(
      (code) => !text.includes(`"/problems/${code}"`),
    )
    expect(missing.sort()).toEqual(elsewhere.sort())
  })

  it('has every resource of a node and of a fleet', async () => {
    const paths = Object.keys((openApi() as { paths: object }).paths)
    const routes = [...app.routes, ...fleet.routes].map(({ path }) => path)
    const served = new Set(routes.filter((path) => !/\*|^\/nodes\/|^\/mcp$/.test(path)))
    expect([...served].sort()).toEqual(paths.filter((path) => !path.startsWith('/loki/')).sort())
  })

  it("has Loki's paths, and every parameter that they read", async () => {
    const { get, getAll } = URLSearchParams.prototype
    const source = readFileSync('src/doors/loki/api.ts', 'utf8')
    const routes = [...source.matchAll(/^ {2}\[\/\^(.+?)\$\/, /gm)].map(([, pattern]) =>
      pattern!.replace('s?', 's').replace('([^/]+)', '{name}').replaceAll('\\/', '/'),
    )
    const { paths } = JSON.parse(text) as { paths: Record<string, { parameters: { name: string }[] }> }
    const documented = Object.keys(paths).filter((path) => path.startsWith('/loki/'))
    expect(documented.sort()).toEqual(routes.map((path) => `/loki/api/v1/${path}`).sort())
    const headers = { Authorization: 'Bearer secret' }
    for (const path of documented) {
      const names = new Set<string>()
      const note = <T>(name: string, value: T) => {
        names.add(name)
        return value
      }
      try {
        URLSearchParams.prototype.get = function (name) {
          return note(name, get.call(this, name))
        }
        URLSearchParams.prototype.getAll = function (name) {
          return note(name, getAll.call(this, name))
        }
        for (const query of ['{node="x"}', 'rate({node="x"}[1m])'])
          await app.request(`${path.replace('{name}', 'file')}?query=${encodeURIComponent(query)}`, {
            headers,
          })
      } finally {
        Object.assign(URLSearchParams.prototype, { get, getAll })
      }
      const said = paths[path]!.parameters.map(({ name }) => name).filter((name) => name !== 'name')
      // logcli's spelling of `match[]`.
      expect([...names].filter((name) => name !== 'match').sort(), path).toEqual(said.sort())
    }
  })
})

/** The type of what a schema describes, as far as the schemas here need it. */
type FromSchema<S> = S extends { enum: readonly (infer V)[] }
  ? V
  : S extends { type: infer T }
    ? T extends readonly (infer U)[]
      ? Typed<S, U>
      : Typed<S, T>
    : unknown
type Typed<S, T> = T extends 'string'
  ? string
  : T extends 'integer' | 'number'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'null'
        ? null
        : T extends 'array'
          ? S extends { items: infer I }
            ? FromSchema<I>[]
            : never
          : S extends { properties: infer P }
            ? Members<P, S extends { required: readonly (infer R)[] } ? R : never>
            : never
type Members<P, R> = { -readonly [K in keyof P as K extends R ? K : never]: FromSchema<P[K]> } & {
  -readonly [K in keyof P as K extends R ? never : K]?: FromSchema<P[K]>
}
type Of<N extends keyof typeof SCHEMAS> = FromSchema<(typeof SCHEMAS)[N]>

it('describes what the client takes: types and members', () => {
  expectTypeOf<Of<'Config'>>().toExtend<NodeConfig>()
  expectTypeOf<Of<'ConfigVersion'>>().toExtend<ConfigVersion>()
  expectTypeOf<keyof Of<'ConfigVersion'>>().toEqualTypeOf<keyof ConfigVersion>()
  expectTypeOf<Omit<Of<'ConfigComparison'>, 'missing'>>().toExtend<Omit<ConfigComparison, 'missing'>>()
  expectTypeOf<Of<'FleetNode'>>().toExtend<FleetNode>()
  expectTypeOf<keyof Of<'Config'>>().toEqualTypeOf<keyof NodeConfig>()
  expectTypeOf<keyof Of<'Config'>['node']>().toEqualTypeOf<keyof NodeConfig['node']>()
  expectTypeOf<Of<'LogFile'>>().toExtend<LogFile>()
  expectTypeOf<keyof Of<'LogFile'>>().toEqualTypeOf<keyof LogFile>()
  expectTypeOf<Of<'LogFileDetail'>>().toExtend<LogFileDetail>()
  expectTypeOf<Of<'TaggedLogFile'>>().toExtend<TaggedLogFile>()
  expectTypeOf<Of<'LogRecord'>>().toExtend<LogRecord>()
  expectTypeOf<keyof Of<'LogRecord'>>().toEqualTypeOf<keyof LogRecord>()
  expectTypeOf<Of<'Histogram'>>().toExtend<Histogram>()
  expectTypeOf<Of<'LogFields'>>().toExtend<LogFields>()
  expectTypeOf<Of<'LogGroups'>>().toExtend<LogGroups>()
  expectTypeOf<keyof Of<'LogGroups'>>().toEqualTypeOf<keyof LogGroups>()
})
