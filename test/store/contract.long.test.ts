import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import * as nodeTest from 'node:test'
import * as vitest from 'vitest'
import { describe, expect, it } from 'vitest'
import { type StoreSubject, storeContract, type TestNamespace } from '../../src/store/contract.ts'
import { type MemoryStore, memoryStore } from '../../src/store/memory.ts'
import { type Entry, MissingBytes, type Store, StoreError } from '../../src/store/store.ts'
import { createApp } from '../support/app.ts'

const root = resolve(import.meta.dirname, '../..')

/** Runs the contract on a store, and gives the names of the tests that failed. */
async function failures(make: (store: MemoryStore) => Store): Promise<string[]> {
  const tests: [string, (context: { skip(): void }) => Promise<void>][] = []
  const hooks: (() => Promise<void>)[] = []
  const namespace: TestNamespace = {
    describe: (_name, body) => body(),
    it: (name, body) => tests.push([name, body]),
    before: (body) => hooks.push(body),
    after: () => {},
  }
  const setup = (): StoreSubject => {
    const memory = memoryStore()
    return { store: make(memory), put: memory.put, remove: memory.delete }
  }
  storeContract(namespace, 'memory', setup)
  for (const hook of hooks) await hook()
  const failed: string[] = []
  for (const [name, body] of tests) await body({ skip: () => {} }).catch(() => failed.push(name))
  return failed
}

const mapped = (list: (entries: Entry[]) => Entry[]) => (store: Store) => ({
  ...store,
  async *list(...options: Parameters<Store['list']>) {
    const entries: Entry[] = []
    for await (const entry of store.list(...options)) entries.push(entry)
    yield* list(entries)
  },
})

describe('storeContract', () => {
  it('passes a store that keeps the contract', async () => {
    expect(await failures((store) => store)).toEqual([])
  })

  it.each<[string, (store: Store) => Store, RegExp]>([
    ['lists in the order of UTF-16', mapped((all) => all.sort((a, b) => (a.key < b.key ? -1 : 1))), /order/],
    ['lists a key twice', mapped((all) => [...all, ...all.slice(-1)]), /none twice/],
    ['lists 1,000 keys', mapped((all) => all.slice(0, 1000)), /1,000/],
    ['forgets folders', mapped((all) => all.filter(({ folder }) => !folder)), /folders/],
    [
      'ignores limits',
      (store) => ({ ...store, list: (prefix, o) => store.list(prefix, { ...o, limit: 9e9 }) }),
      /limit/,
    ],
    [
      'ignores the signal of a list',
      (store) => ({ ...store, list: (prefix, o) => store.list(prefix, { ...o, signal: undefined }) }),
      /disconnects/,
    ],
    [
      'ignores ranges',
      (store) => ({ ...store, read: (key, _range, o) => store.read(key, undefined, o) }),
      /clamps/,
    ],
    [
      'ignores conditions',
      (store) => ({ ...store, read: (key, range) => store.read(key, range) }),
      /hold for/,
    ],
    [
      'throws for what is not there',
      (store) => ({
        ...store,
        stat: async (key) => (await store.stat(key)) ?? Promise.reject(new StoreError('unavailable', 'x')),
      }),
      /null for/,
    ],
    [
      'takes the size for the etag',
      (store) => ({
        ...store,
        stat: async (key) => {
          const entry = await store.stat(key)
          return entry && { ...entry, etag: `"${entry.size}"` }
        },
      }),
      /another etag/,
    ],
    [
      'gives seconds for milliseconds',
      (store) => ({
        ...store,
        stat: async (key) => {
          const entry = await store.stat(key)
          return entry && { ...entry, modified: Math.floor(entry.modified / 1000) }
        },
      }),
      /etag/,
    ],
  ])('fails a store that %s', async (_what, make, name) => {
    expect((await failures(make)).join('\n')).toMatch(name)
  })

  it('takes the namespaces of node:test and vitest, and says what it needs', () => {
    const namespaces: TestNamespace[] = [vitest, nodeTest, nodeTest.default]
    expect(namespaces.map(({ it }) => typeof it)).toEqual(['function', 'function', 'function'])
    const none = { describe: (_: string, body: () => void) => body(), it } as TestNamespace
    expect(() => storeContract(none, 'x', () => ({}) as StoreSubject)).toThrow(
      'needs describe, it, before and after',
    )
  })
})

describe('docs/stores.md', () => {
  const text = readFileSync(join(root, 'docs/stores.md'), 'utf8')
  const blocks = [...text.matchAll(/^```js\n\/\/ (\S+\.js)\n([\s\S]*?)^```/gm)]

  it('has a store of 60 lines', () => {
    expect(blocks.map(([, name]) => name)).toEqual(['rows-store.js', 'rows-store.test.js'])
    expect(blocks[0]![2]!.trim().split('\n').length).toBeLessThanOrEqual(62)
  })

  it('has a test of it, which passes under node --test', () => {
    const folder = mkdtempSync(join(tmpdir(), 'nodestate-stores-'))
    try {
      mkdirSync(join(folder, 'node_modules'))
      symlinkSync(root, join(folder, 'node_modules/nodestate'))
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
      for (const [, name, code] of blocks) writeFileSync(join(folder, name!), code!)
      // Inside a run of node:test, another one would report to it.
      const { NODE_TEST_CONTEXT: _, ...env } = process.env
      const run = spawnSync(process.execPath, ['--test'], { cwd: folder, env, encoding: 'utf8' })
      expect(run.stdout).toMatch(/^# fail 0$/m)
      expect(Number(/^# pass (\d+)$/m.exec(run.stdout)?.[1])).toBeGreaterThan(60)
      expect(run.stdout).toMatch(/^# skipped 0$/m)
      expect(run.status).toBe(0)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('a StoreError of another copy of the package', () => {
  class Other extends Error {
    readonly code: string
    constructor(code: string) {
      super('at 10.0.0.7:9000')
      this.name = 'StoreError'
      this.code = code
    }
  }

  it('is a StoreError by its name and code', () => {
    expect(new Other('throttled')).toBeInstanceOf(StoreError)
    expect(new Other('throttled')).not.toBeInstanceOf(MissingBytes)
    expect(new Other('no-such-code')).not.toBeInstanceOf(StoreError)
    expect(Object.assign(new Error('x'), { code: 'throttled' })).not.toBeInstanceOf(StoreError)
    expect(new StoreError('denied', 'x')).toBeInstanceOf(StoreError)
    const missing = new MissingBytes('a', { from: 0, to: 1, head: true })
    expect([missing instanceof StoreError, missing instanceof MissingBytes]).toEqual([true, true])
  })

  it.each(['unavailable', 'denied', 'throttled', 'timeout'])('with the code %s is a 503', async (code) => {
    const fail = () => Promise.reject(new Other(code))
    const logs: Store = { ...memoryStore({ f: 'x' }), stat: fail, read: fail }
    const response = await createApp({ logs, config: '', onError: () => {} }).request(
      '/api/v1/log/view?file=f',
    )
    expect(response.status).toBe(503)
    expect(await response.text()).not.toContain('10.0.0.7')
  })
})
