import { byCodePoint, type ListOptions } from '../store.ts'
import { all, check, equal } from './assert.ts'
import type { Suite } from './suite.ts'

export function listTests(suite: Suite): void {
  const { it, put } = suite
  const list = async (prefix: string, options?: ListOptions) =>
    (await all(suite.subject().store.list(prefix, options))).map(({ key }) => key)

  it('gives entries in the order of their UTF-8 bytes, below the prefix only', async () => {
    const names = ['B', 'a', 'é', '\uffe5', '😀', '', 'a1', 'Z']
    const keys = names.map((name) => `order-${name}`)
    for (const key of [...keys, 'other-a']) await put(key, key)
    equal(await list('order-'), keys.sort(byCodePoint), 'the keys')
  })

  it('gives nothing for a prefix that no key has', async () => {
    equal(await list('no-such-prefix-'), [], 'the keys')
  })

  it('goes past 1,000 keys, none lost, none twice', async () => {
    const keys = Array.from({ length: 1_050 }, (_, i) => `many-${String(i).padStart(5, '0')}`)
    for (let i = 0; i < keys.length; i += 20)
      await Promise.all(keys.slice(i, i + 20).map((key) => put(key, key.slice(-2))))
    equal(await list('many-'), keys, 'the keys')
    const some: string[] = []
    for await (const { key } of suite.subject().store.list('many-')) if (some.push(key) === 3) break
    equal(some, keys.slice(0, 3), 'the keys of a listing that is left early')
  })

  it('begins after a key, and ends at a limit', async () => {
    const keys = ['part-a', 'part-b', 'part-c', 'part-é', 'part-😀']
    for (const key of keys) await put(key, key)
    const cases: [ListOptions, string[]][] = [
      [{ limit: 2 }, ['part-a', 'part-b']],
      [{ limit: 0 }, []],
      [{ limit: 99 }, keys],
      [{ after: 'part-b' }, ['part-c', 'part-é', 'part-😀']],
      [{ after: 'part-bb' }, ['part-c', 'part-é', 'part-😀']],
      [{ after: 'a' }, keys],
      [{ after: 'part-😀' }, []],
      [{ after: 'q' }, []],
      [{ after: 'part-a', limit: 1 }, ['part-b']],
      [{ after: 'part-a', limit: 2, shallow: true }, ['part-b', 'part-c']],
    ]
    for (const [options, expected] of cases)
      equal(await list('part-', options), expected, JSON.stringify(options))
  })

  it('ends when the client disconnects', async () => {
    await put('leaving', 'x')
    const reason = new Error('left')
    const thrown = await list('leaving', { signal: AbortSignal.abort(reason) }).catch((error) => error)
    check(thrown?.message === 'left', `a listing throws the reason of its signal, not ${thrown}`)
  })

  folderTests(suite, list)
}

type Keys = (prefix: string, options?: ListOptions) => Promise<string[]>

function folderTests(suite: Suite, list: Keys): void {
  const { it, put } = suite
  const { flat } = suite.exceptions

  it('leaves out what is deeper when it is asked to', async (context) => {
    if (flat) return void context.skip(flat)
    for (const key of ['deep/a', 'deep/b/c', 'deep/b/d/e', 'deep/z']) await put(key, 'x')
    equal(await list('deep/'), ['deep/a', 'deep/b/c', 'deep/b/d/e', 'deep/z'], 'all keys')
    equal(await list('deep/', { shallow: true }), ['deep/a', 'deep/z'], 'the keys of a folder')
    equal(await list('deep/b/', { shallow: true }), ['deep/b/c'], 'the keys of a folder in it')
    equal(await list('deep', { shallow: true }), [], 'the keys beside the folder')
  })

  it('gives the folders of a shallow list, each once and in its place', async (context) => {
    if (flat) return void context.skip(flat)
    const names = ['a', 'b-', 'b/1', 'b/2', 'b0', 'c/d/e', 'é/x', 'z']
    const files = names.map((name) => `tree/${name}`).sort(byCodePoint)
    for (const key of files) await put(key, 'x')
    const shallow = (prefix: string, options: ListOptions = {}) =>
      list(prefix, { shallow: true, folders: true, ...options })
    const level = ['a', 'b-', 'b/', 'b0', 'c/', 'z', 'é/'].map((name) => `tree/${name}`)
    equal(await shallow('tree/'), level, 'the level')
    equal(await shallow('tree/b'), ['tree/b-', 'tree/b/', 'tree/b0'], 'a prefix of the level')
    equal(await shallow('tree/c/'), ['tree/c/d/'], 'the level below')
    equal(await shallow('tree'), ['tree/'], 'the level above')
    for (const [i, after] of level.entries()) {
      equal(await shallow('tree/', { after }), level.slice(i + 1), `after ${after}`)
      equal(await shallow('tree/', { after, limit: 2 }), level.slice(i + 1, i + 3), `two after ${after}`)
    }
    const folder = { key: 'tree/c/', size: 0, modified: 0, etag: '""', folder: true }
    const { store } = suite.subject()
    equal(await all(store.list('tree/c', { shallow: true, folders: true })), [folder], 'a folder')
    equal(await list('tree/', { shallow: true }), ['tree/a', 'tree/b-', 'tree/b0', 'tree/z'], 'no folders')
    equal(await list('tree/', { folders: true }), files, 'a deep list, which has no folders')
    equal(await list('tree/', { after: 'tree/b/1' }), files.slice(3), 'a deep list after a key')
  })
}
