import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { PROBLEMS } from '../../../src/core/http/problem.ts'
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
import { openApi } from '../../../src/doors/openapi/document.ts'
import type { SCHEMAS } from '../../../src/doors/openapi/schemas.ts'
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

  it('has every problem', () => {
    for (const code of Object.keys(PROBLEMS)) expect(text).toContain(`"/problems/${code}"`)
  })

  it('has every resource of a node and of a fleet', async () => {
    const paths = Object.keys((openApi() as { paths: object }).paths)
    const routes = [...app.routes, ...fleet.routes].map(({ path }) => path)
    const served = new Set(routes.filter((path) => !/\*|^\/nodes\/|^\/mcp$/.test(path)))
    expect([...served].sort()).toEqual(paths.sort())
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
