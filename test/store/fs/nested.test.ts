import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fastReads } from '../../../src/store/fast.ts'
import { Directory } from '../../../src/store/fs/directory.ts'
import { fsStore } from '../../../src/store/fs.ts'
import type { Store } from '../../../src/store/store.ts'

let root: string
let directory: string
let store: Store

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'nodestate-nested-'))
  directory = join(root, 'logs')
  for (const folder of ['a/b', 'c']) mkdirSync(join(directory, folder), { recursive: true })
  for (const name of ['top.log', '.hidden', 'a/one.log', 'a/b/two.log', 'a/.dot', 'c/x\\y'])
    writeFileSync(join(directory, name), name)
  store = fsStore(directory, { nested: true })
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const keys = async () => {
  const found: string[] = []
  for await (const { key } of store.list()) found.push(key)
  return found
}
const text = async (key: string) => {
  const read = await store.read(key)
  return read && new Response(read.body).text()
}

describe('fsStore with nested folders', () => {
  it('lists and reads files at any depth, and judges names as it does at the top', async () => {
    expect(await keys()).toEqual(['.hidden', 'a/.dot', 'a/b/two.log', 'a/one.log', 'top.log'])
    for (const key of await keys()) expect(await text(key)).toBe(key)
  })

  it('enters no folder behind a link, and follows links to files inside alone', async () => {
    writeFileSync(join(root, 'secret'), 'secret')
    symlinkSync('../../a/one.log', join(directory, 'a/b/inside.log'))
    symlinkSync('../../secret', join(directory, 'a/outside.log'))
    symlinkSync('a', join(directory, 'alias'))
    symlinkSync('..', join(directory, 'up'))
    symlinkSync('.', join(directory, 'loop'))
    expect(await keys()).toContain('a/b/inside.log')
    expect(await text('a/b/inside.log')).toBe('a/one.log')
    for (const key of ['a/outside.log', 'alias/one.log', 'up/secret', 'loop/top.log', 'a/b/inside.log/x']) {
      expect(await keys(), key).not.toContain(key)
      expect(await store.stat(key), key).toBeNull()
      expect(await store.read(key, { suffix: 10 }), key).toBeNull()
    }
  })

  it.each([
    'a//one.log',
    './top.log',
    'a/../top.log',
    '/top.log',
    'a/',
    'a',
    'a/./one.log',
    'c/x\\y',
    'a/\0',
  ])('knows nothing of %j', async (key) => {
    expect(await store.stat(key)).toBeNull()
    expect(await store.read(key)).toBeNull()
  })

  it('reads nothing from a folder that becomes a link while it is opened', async () => {
    mkdirSync(join(root, 'evil'))
    writeFileSync(join(root, 'evil/one.log'), 'secret')
    const look = Directory.prototype.look
    const spy = vi.spyOn(Directory.prototype, 'look').mockImplementationOnce(function (this: Directory, key) {
      const found = look.call(this, key)
      renameSync(join(directory, 'a'), join(directory, 'gone'))
      symlinkSync('../evil', join(directory, 'a'))
      return found
    })
    expect(await store.read('a/one.log')).toBeNull()
    spy.mockRestore()
  })

  it('lists all files of a log that is rotated after their names were read', async () => {
    const at = (name: string) => join(directory, 'a', name)
    writeFileSync(at('r.log'), 'new')
    writeFileSync(at('r.log.1'), 'old')
    const look = Directory.prototype.look
    const spy = vi.spyOn(Directory.prototype, 'look').mockImplementationOnce(function (this: Directory, key) {
      renameSync(at('r.log.1'), at('r.log.2'))
      renameSync(at('r.log'), at('r.log.1'))
      writeFileSync(at('r.log'), 'newest')
      return look.call(this, key)
    })
    const found = await fastReads(store)!.listAll('a/r', Number.POSITIVE_INFINITY)
    spy.mockRestore()
    expect(found.map(({ key, size }) => [key, size])).toEqual([
      ['a/r.log', 6],
      ['a/r.log.1', 3],
      ['a/r.log.2', 3],
    ])
  })

  it('leaves a folder alone that a flat store does not see', async () => {
    store = fsStore(directory)
    expect(await keys()).toEqual(['.hidden', 'top.log'])
    expect(await store.read('a/one.log')).toBeNull()
  })
})
