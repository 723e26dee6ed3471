import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/doors/client.ts'
import { serve } from '../../src/entry/node.ts'
import { createFleet } from '../../src/fleet.ts'
import { full } from '../../src/full.ts'
import { createApp } from '../../src/index.ts'
import { fsStore } from '../../src/store/fs.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { peerStore } from '../../src/store/peer.ts'
import { r2Store } from '../../src/store/r2.ts'
import { s3Store } from '../../src/store/s3.ts'

const logs = memoryStore({ 'a.log': 'one\n' })
const valid = { logs, config: '' }
// biome-ignore lint/suspicious/noExplicitAny: wrong on purpose
type Wrong = any

describe('registering on an app', () => {
  const apps = {
    createApp: () => createApp(valid),
    createFleet: () => createFleet({ store: logs }),
    'createFleet with self': () => createFleet({ store: logs, self: { id: 'a', ...valid } }),
  }
  const names = ['use', 'get', 'all', 'on', 'route', 'mount', 'onError', 'notFound', 'basePath']
  it.each(Object.entries(apps))('of %s throws a sentence that shows the right way', (_, make) => {
    for (const name of names)
      expect(() => (make() as Wrong)[name]('/x', () => {}), name).toThrow(
        /Cannot call .* outer\.use\(…\); outer\.route\('\/', app\)/,
      )
  })

  it('is refused by the types, too', () => {
    const app = createApp(valid)
    // @ts-expect-error it would never run
    expect(() => app.use(async () => {})).toThrow(TypeError)
  })

  it('leaves the right way open: a middleware of an outer app comes first', async () => {
    const outer = new Hono()
    outer.use(async (c) => c.text('no', 401))
    outer.route('/', createApp(valid))
    expect((await outer.request('/api/v1/log/list')).status).toBe(401)
  })
})

describe('a number out of its range is refused with its name and range', () => {
  const LIMITS = 'maxSize scanBytes scanMillis scans archiveBytes windowBytes parallelReads sources memory'
  const FOLLOW = 'followers maxMillis heartbeatMillis'
  const numbers = [
    ...LIMITS.split(' ').map((name) => ['limits', name] as const),
    ...FOLLOW.split(' ').map((name) => ['follow', name] as const),
  ]
  it.each(numbers)('%s.%s', (group, name) => {
    for (const value of [Number.NaN, -1, Number.POSITIVE_INFINITY, '1MB', null]) {
      const options: Wrong = { [group]: { [name]: value } }
      const message = new RegExp(`Cannot use the option ${group}\\.${name}: .*it must be .* or more|from`)
      expect(() => createApp({ ...valid, ...options }), String(value)).toThrow(message)
      expect(() => createFleet({ store: logs, ...options }), String(value)).toThrow(message)
    }
  })

  it.each([
    ['pageNodes', 0],
    ['pageNodes', Number.NaN],
    ['listCalls', -1],
  ])('%s of a fleet, %s', (name, value) => {
    expect(() => createFleet({ store: logs, [name]: value })).toThrow(`Cannot use the option ${name}: it`)
  })

  it.each([
    [{ follow: { pollMillis: [3000, 250] } }, 'follow.pollMillis'],
    [{ timezone: 'Mars/Base' }, 'timezone'],
    [{ with: true }, 'with'],
    [{ with: [{}] }, 'with'],
    [{ unknown: 'ignore' }, 'unknown'],
    [{ auth: {} }, 'auth'],
    [{ observe: {} }, 'observe'],
    [{ onError: 'log' }, 'onError'],
    [{ clock: Date }, 'clock'],
  ])('%j', (options: Wrong, name) => {
    expect(() => createApp({ ...valid, ...options })).toThrow(`Cannot use the option ${name}: it must be`)
    expect(() => createFleet({ store: logs, ...options })).toThrow(`Cannot use the option ${name}`)
  })

  it('shows no value that may be a secret', () => {
    const auth: Wrong = 'not a token'
    expect(() => createApp({ ...valid, auth })).toThrow(/^(?!.*not a token).*$/)
  })
})

describe('misspelt options are refused', () => {
  const bucket: Wrong = { get() {}, head() {}, list() {} }
  it.each<[string, () => unknown, string]>([
    ['s3Store', () => s3Store({ bukcet: 'logs' } as Wrong), 'Unknown option "bukcet": did you mean bucket?'],
    ['s3Store', () => s3Store({} as Wrong), 'Cannot use the option bucket: it must be a text.'],
    [
      's3Store',
      () => s3Store({ bucket: 'logs', retries: Number.NaN }),
      'Cannot use the option retries: it is NaN',
    ],
    [
      'r2Store',
      () => r2Store(bucket, { perfix: 'a' } as Wrong),
      'Unknown option "perfix": did you mean prefix?',
    ],
    ['r2Store', () => r2Store(undefined as Wrong), 'pass the binding of an R2 bucket'],
    [
      'fsStore',
      () => fsStore('/tmp', { nestd: true } as Wrong),
      'Unknown option "nestd": did you mean nested?',
    ],
    ['fsStore', () => fsStore(undefined as Wrong), 'pass its path'],
    ['peerStore', () => peerStore({ ulr: 'x' } as Wrong), 'Unknown option "ulr": did you mean url?'],
    ['createClient', () => createClient({ bsae: 'x' } as Wrong), 'Unknown option "bsae": did you mean base?'],
  ])('%s', (_, make, message) => expect(make).toThrow(message))

  it.each<[unknown, object, string]>([
    [createApp(valid), { prot: 9 }, 'Unknown option "prot": did you mean port?'],
    [createApp(valid), { port: Number.NaN }, 'Cannot use the option port: it is NaN'],
    [
      createApp(valid),
      { stallSeconds: 0 },
      'Cannot use the option stallSeconds: it must be a number of seconds above 0',
    ],
    [undefined, {}, 'Cannot serve this: pass an app'],
  ])('serve(%s, %j)', async (app, options, message) => {
    await expect(serve(app as Wrong, options)).rejects.toThrow(message)
  })
})

describe('folders are shown where the store shows them', () => {
  it('is said to the store alone', async () => {
    const { mkdtempSync, mkdirSync, writeFileSync, rmSync } = await import('node:fs')
    const directory = mkdtempSync('/tmp/nodestate-nested-')
    mkdirSync(`${directory}/sub`)
    writeFileSync(`${directory}/sub/b.log`, 'b\n')
    writeFileSync(`${directory}/a.log`, 'a\n')
    const namesOf = async (nested: boolean) => {
      const app = createApp({ logs: fsStore(directory, { nested }), config: '' })
      const list = (await (await app.request('/api/v1/log/list')).json()) as { name: string }[]
      const view = await app.request('/api/v1/log/view?file=sub/b.log')
      return [list.map(({ name }) => name), view.status]
    }
    expect(await namesOf(false)).toEqual([['a.log'], 404])
    expect(await namesOf(true)).toEqual([['a.log', 'sub/b.log'], 200])
    rmSync(directory, { recursive: true })
  })

  it('and a mismatch is refused', () => {
    const both: Wrong = { ...valid, nested: true }
    expect(() => createApp(both)).toThrow('say it to the store')
    expect(() => createApp({ ...valid, logs: fsStore('/tmp'), join: true })).toThrow(
      'the store shows no folders',
    )
    expect(() => createApp({ ...valid, join: true })).toThrow('search() of nodestate/search')
  })
})

it('has one parameter: a second one changes nothing', async () => {
  const make: Wrong = createApp
  expect((await make(valid, {}).request('/api/v1/log/list')).status).toBe(200)
})

it('names an export by its format', async () => {
  const app = createApp({ ...valid, with: full() })
  const client = createClient({
    base: 'http://node/',
    fetch: async (url, init) => app.request(String(url), init as RequestInit),
  })
  for (const [format, name] of [
    ['csv', 'a.log.csv'],
    ['ndjson', 'a.log.ndjson'],
    ['text', 'a.log'],
  ] as const)
    expect((await client.export({ file: 'a.log' }, format)).name).toBe(name)
})

describe('auth never opens the service by accident', () => {
  const wrong: [unknown, string][] = [
    [undefined, 'Cannot use the option auth: it is undefined; give it a value, or leave it out.'],
    [null, 'Cannot use the option auth: it is null'],
    ['', 'Cannot use the option auth: it must be printable ASCII without spaces, and not empty.'],
    [{ token: undefined }, 'Cannot use the option auth.token: it is undefined; give it a value'],
    [{ tokens: [] }, 'Cannot use the option auth.tokens: it must be a function that returns the tokens.'],
    [{ tokne: 'x' }, 'Unknown option "auth.tokne": did you mean token?'],
  ]
  it.each(wrong)('%j', (auth, message) => {
    expect(() => createApp({ ...valid, auth } as Wrong)).toThrow(message)
    expect(() => createFleet({ store: logs, auth } as Wrong)).toThrow(message)
  })
})
