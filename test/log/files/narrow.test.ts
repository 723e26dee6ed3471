import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { folderStore } from '../../../src/fleet/folder.ts'
import { createMetrics } from '../../../src/kit/observe/metrics.ts'
import { logFiles } from '../../../src/log/files/files.ts'
import { narrowFiles } from '../../../src/log/files/narrow.ts'
import { fsStore } from '../../../src/store/fs.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { segmentStore } from '../../../src/store/segments.ts'
import type { ReadOptions, Store } from '../../../src/store/store.ts'

const directory = mkdtempSync(join(tmpdir(), 'nodestate-narrow-'))
writeFileSync(join(directory, 'a.log'), 'one\n')
writeFileSync(join(directory, 'b.log'), 'two\n')
afterAll(() => rmSync(directory, { recursive: true }))

describe('files that a token may see', () => {
  it('are as near as all of them, and have the same members', async () => {
    for (const files of [logFiles(fsStore(directory)), logFiles(memoryStore({ 'a.log': 'x' }))]) {
      const narrowed = narrowFiles(files, ['a.log'])
      expect(narrowed.isNear).toBe(files.isNear)
      for (const name of Object.keys(files)) expect(narrowed, name).toHaveProperty(name)
    }
    expect(narrowFiles(logFiles(fsStore(directory)), ['a.log']).isNear).toBe(true)
    const joined = logFiles(memoryStore({ '2026/11/14/00.log': 'x\n' }), [], { join: true })
    expect(narrowFiles(joined, ['*']).joined).toBeTypeOf('function')
    expect(narrowFiles(logFiles(memoryStore()), ['*']).joined).toBeUndefined()
  })

  it('are asked for with the same age', async () => {
    const ages: (number | undefined)[] = []
    const store = memoryStore({ 'a.log': 'x' })
    const asked: Store = {
      ...store,
      stat(key, options: Pick<ReadOptions, 'signal' | 'maxAge'> = {}) {
        ages.push(options.maxAge)
        return store.stat(key)
      },
    }
    await narrowFiles(logFiles(asked), ['a.log']).stat('a.log', undefined, 2000)
    expect(ages).toEqual([2000])
    await expect(narrowFiles(logFiles(asked), ['a.log']).stat('b.log')).rejects.toMatchObject({
      code: 'unknown-file',
    })
  })

  it('are listed in parts that name no other file', async () => {
    const names = ['a1', 'a2', 'b1', 'c1', 'c2', 'c3', 'b2', 'd1', 'e1', 'e2'].sort()
    const files = logFiles(memoryStore(Object.fromEntries(names.map((name) => [name, 'x']))))
    const seen: string[] = []
    const marks: (string | null)[] = []
    const narrowed = narrowFiles(files, ['b?', 'e?'])
    for (let after: string | null = ''; after !== null; ) {
      const part = await narrowed.part(after, 2)
      seen.push(...part.entries.map(({ key }) => key))
      marks.push(part.next)
      after = part.next
    }
    expect(seen).toEqual(['b1', 'b2', 'e1', 'e2'])
    for (const mark of marks) if (mark !== null) expect(seen).toContain(mark)
    expect((await narrowFiles(files, ['z']).part('', 2)).next).toBeNull()
    const many = memoryStore(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`x${i}`, ''])))
    const hidden = narrowFiles(logFiles(many), ['z'])
    await expect(hidden.part('', 2)).rejects.toMatchObject({ code: 'too-busy' })
  })
})

it('every wrapper of a store watches where the store does', () => {
  const wrappers: ((store: Store) => Store)[] = [
    (store) => createMetrics().store(store),
    (store) => folderStore(store, 'a/'),
    (store) => segmentStore(memoryStore(), store),
  ]
  const { watch: _, ...silent } = memoryStore()
  for (const wrap of wrappers) {
    expect(wrap(memoryStore()).watch).toBeTypeOf('function')
    expect(wrap(silent).watch).toBeUndefined()
  }
})
