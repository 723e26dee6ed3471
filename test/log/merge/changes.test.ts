import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { laneKey } from '../../../src/log/merge/cursor.ts'
import { GoneError } from '../../../src/log/merge/source.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { wholes } from '../../support/random.mjs'
import { ask, START } from './logs.ts'

const line = (name: string, i: number) =>
  `${new Date(START + i * 100).toISOString().replace('T', ' ').slice(0, 23)}\tINFO\ta.go:1\t[A]: ${name} ${i}\n`
const lines = (name: string, from: number, to: number, step = 1) => {
  let text = ''
  for (let i = from; i < to; i += step) text += line(name, i)
  return text
}
const page = (count: number) => ({ fit: { size: 1 << 20, lines: count } })

describe('pages of logs that change meanwhile', () => {
  it.each(Array.from({ length: 6 }, (_, seed) => seed))(
    'hold every record once through rotations, backward (%i)',
    async (seed) => {
      const random = wholes(seed + 5)
      const names = ['a.log', 'b.log', 'c.log']
      const store = memoryStore(Object.fromEntries(names.map((name, n) => [name, lines(name, n, 150, 3)])))
      const whole = new Map(names.map((name, n) => [name, lines(name, n, 150, 3)]))
      const expected = (await ask(store, ['*.log'], { fit: { size: 1 << 24, lines: null } })).texts
      let found: string[] = []
      let generation = 0
      for (let before: string | undefined; ; ) {
        const got = await ask(store, ['*.log'], { ...page(1 + random(30)), ...(before && { before }) })
        found = [...got.texts, ...found]
        if (got.prev === null) break
        before = got.prev
        const name = names[random(3)]!
        if (random(2) === 0 && generation++ < 2) {
          // logrotate: what was there moves on, compressed at the second time.
          const old = whole.get(name)!
          store.put(
            `${name}.${generation}${generation === 2 ? '.gz' : ''}`,
            generation === 2 ? gzipSync(old) : old,
          )
          whole.set(name, '')
          store.put(name, line(name, 1000 + generation))
        }
      }
      expect(found).toEqual(expected)
    },
  )

  it.each(['is still there', 'was deleted'])(
    'continue after an empty file that %s with all files since',
    async (what) => {
      const store = memoryStore({ 'a.log-20261114': '', 'b.log': lines('b', 0, 10) })
      const first = await ask(store, ['*.log'], { ...page(100), first: true })
      if (what === 'was deleted') store.delete('a.log-20261114')
      store.put('a.log-20261115', lines('a', 10, 20))
      store.put('a.log-20261116', lines('a', 20, 30))
      const next = await ask(store, ['*.log'], { ...page(100), after: first.next })
      expect(next.texts.join('')).toBe(lines('a', 10, 30))
    },
  )

  it.each(['a.log.1', 'a.log-20261115'])(
    'continue after an empty log with all of it, though its file was rotated to %s',
    async (rotated) => {
      const store = memoryStore({ 'a.log': '', 'b.log': lines('b', 0, 10) })
      const first = await ask(store, ['*.log'], page(100))
      const still = await ask(store, ['*.log'], { ...page(100), after: first.next })
      expect(still.texts).toEqual([])
      store.put(rotated, lines('a', 10, 20))
      store.put('a.log', lines('a', 20, 30))
      for (const after of [first.next, still.next]) {
        const next = await ask(store, ['*.log'], { ...page(100), after })
        expect(next.texts.join('')).toBe(lines('a', 10, 30))
      }
    },
  )

  it('continue after a rotation with what was written since', async () => {
    const store = memoryStore({ 'a.log': lines('a', 0, 40, 2), 'b.log': lines('b', 1, 40, 2) })
    const first = await ask(store, ['*.log'], page(10))
    store.put('a.log.1', lines('a', 0, 50, 2))
    store.put('a.log', lines('a', 50, 60, 2))
    const next = await ask(store, ['*.log'], { ...page(100), after: first.next })
    expect(next.texts.join('')).toBe(lines('a', 40, 60, 2))
    const back = await ask(store, ['*.log'], { ...page(100), before: next.prev! })
    expect(back.texts).toHaveLength(40)
  })

  it('name a log that was deleted, and include one that appeared from the moment of the cursor on', async () => {
    const store = memoryStore({ 'a.log': lines('a', 0, 40), 'b.log': lines('b', 0, 40) })
    const first = await ask(store, ['*.log'], page(20))
    store.delete('b.log')
    store.put('c.log', lines('c', 0, 40))
    const { missing, texts } = await ask(store, ['*.log'], { ...page(1000), before: first.prev! })
    expect(missing.map(({ name, error }) => [name, error instanceof GoneError])).toEqual([['b.log', true]])
    expect(texts.filter((text) => text.includes(' a '))).toHaveLength(30)
    expect(texts.filter((text) => text.includes(' c '))).toHaveLength(30)
  })

  it('go on in both directions after the older file of a log was deleted, in which the page before began', async () => {
    const logs = { 'a.log.1': lines('a', 0, 40), 'a.log': lines('a', 40, 50), 'b.log': lines('b', 0, 50) }
    const store = memoryStore(logs)
    const first = await ask(store, ['*.log'], page(26))
    expect(first.texts.join('')).toContain(line('a', 37))
    store.delete('a.log.1')
    const { missing, texts, next } = await ask(store, ['*.log'], { ...page(100), before: first.prev! })
    expect(missing).toEqual([])
    expect(texts.join('')).toBe(lines('b', 0, 37))
    const again = await ask(store, ['*.log'], { ...page(100), after: next })
    expect(again.texts.filter((text) => text.includes(' a ')).join('')).toBe(lines('a', 40, 50))
    expect(again.texts.filter((text) => text.includes(' b ')).join('')).toBe(lines('b', 37, 50))
  })

  it('refuse logs whose names a cursor cannot tell apart', async () => {
    const names = new Map<number, string>()
    let alike: [string, string] | null = null
    for (let i = 0; !alike; i++) {
      const name = `${i}.log`
      const key = laneKey({ node: null, log: name })
      const other = names.get(key)
      if (other) alike = [other, name]
      names.set(key, name)
    }
    const [one, other] = alike
    const store = memoryStore({
      [one]: lines('a', 0, 40),
      [other]: lines('b', 0, 40),
      'c.log': lines('c', 0, 4),
    })
    await expect(ask(store, alike, page(20))).rejects.toMatchObject({ code: 'too-many-sources' })
    expect((await ask(store, [one, 'c.log'], page(20))).texts).toHaveLength(20)
  })

  it('turn around at any cursor', async () => {
    const store = memoryStore({ 'a.log': lines('a', 0, 60, 2), 'b.log': lines('b', 1, 60, 2) })
    const first = await ask(store, ['*.log'], page(20))
    const second = await ask(store, ['*.log'], { ...page(10), before: first.prev! })
    const forth = await ask(store, ['*.log'], { ...page(20), after: second.next })
    expect(forth.texts).toEqual(first.texts)
    const across = await ask(store, ['*.log'], { ...page(20), after: first.prev! })
    expect(across.texts).toEqual(first.texts)
    const again = await ask(store, ['*.log'], { ...page(10), before: second.next })
    expect(again.texts).toEqual(second.texts)
  })
})
