import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { MemoryBudget } from '../../../src/kit/limits/memory-budget.ts'
import { logFiles } from '../../../src/log/files/files.ts'
import { MergedExport } from '../../../src/log/merge/export.ts'
import { mergedStream, textWriter } from '../../../src/log/merge/render.ts'
import { pickSources } from '../../../src/log/merge/source.ts'
import { textMatcher } from '../../../src/log/pattern/pattern.ts'
import { type MemoryStore, memoryStore } from '../../../src/store/memory.ts'
import { contextOf } from '../context.ts'
import { ask, EVERYTHING, makeLogs, reference, START } from './logs.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const KIB = 1024
const MIB = 1024 * KIB
const line = (i: number, text: string) =>
  `${new Date(START + i).toISOString().replace('T', ' ').slice(0, 23)}\tINFO\ta.go:1\t[A]: ${text}\n`

/** The texts of an export; `between` is called after each page. */
async function exported(store: MemoryStore, memory?: MemoryBudget, between: () => void = () => {}) {
  const context = contextOf(logFiles(store), {}, { memory })
  const { sources } = await pickSources({ node: null, context }, ['*.log'])
  const merged = new MergedExport(sources, EVERYTHING)
  const texts: string[] = []
  let longest = 0
  await merged.open()
  for await (const page of merged.pages()) {
    for (const { bytes } of page) texts.push(new TextDecoder().decode(bytes))
    longest = Math.max(longest, page.bytes)
    between()
  }
  merged.release()
  expect(merged.missing).toEqual([])
  return { texts, longest }
}

/** Logs of which each has some records of some bytes among short ones. */
function longLogs(count: number, length: number, put = (text: string): string | Uint8Array => text) {
  const text = (log: number) =>
    Array.from({ length: 40 }, (_, i) =>
      line(100 * i + log, i % 9 === 4 ? `${log} ${'y'.repeat(length)}` : `${log} number ${i}`),
    )
  const logs = Array.from({ length: count }, (_, log) => text(log))
  const store = memoryStore(
    Object.fromEntries(logs.map((texts, i) => [`${String(i).padStart(2, '0')}.log`, put(texts.join(''))])),
  )
  return { store, texts: [...Array(40).keys()].flatMap((i) => logs.map((log) => log[i]!)) }
}

describe('an export of several logs', () => {
  it.each([1, 3])('is the timeline of the reference merge, page after page (%i)', async (seed) => {
    const { store, logs } = makeLogs(seed, { sources: 12, records: 6000, gap: 20 })
    const { texts } = await exported(store)
    expect(texts).toEqual(reference(logs).map(({ text }) => text))
    expect(texts.join('').length).toBeGreaterThan(2 * MIB)
  })

  it('reads each log about once, however many pages it has', async () => {
    const text = Array.from({ length: 30_000 }, (_, i) => line(i, `request ${i} was handled`)).join('')
    const store = memoryStore({ 'a.log': text, 'b.log': text, 'c.log': text })
    let bytes = 0
    const read = store.read.bind(store)
    store.read = async (...args) => {
      const got = await read(...args)
      bytes += got?.length ?? 0
      return got
    }
    const { texts } = await exported(store)
    expect(texts).toHaveLength(90_000)
    expect(bytes).toBeLessThan(1.6 * 3 * text.length)
  })

  it('counts the memory of its records until they are released, whatever was collected meanwhile', async () => {
    const text = Array.from({ length: 5000 }, (_, i) => line(i, `request ${i} was handled`)).join('')
    const memory = new MemoryBudget(64 * MIB)
    const context = contextOf(logFiles(memoryStore({ 'a.log': text, 'b.log': text })), {}, { memory })
    const { sources } = await pickSources({ node: null, context }, ['*.log'])
    const merged = new MergedExport(sources, EVERYTHING)
    await merged.open()
    const { used } = memory
    collect()
    await new Promise(setImmediate)
    expect(memory.used).toBe(used)
    expect(used).toBeGreaterThan(merged.records.bytes)
    merged.release()
    expect(memory.used).toBe(0)
  })

  it.each([200 * KIB, 3 * MIB])('holds one record of %i bytes at a time', async (length) => {
    const { store, texts } = longLogs(6, length)
    const memory = new MemoryBudget(12 * MIB)
    const got = await exported(store, memory)
    expect(got.texts).toEqual(texts)
    expect(got.longest).toBeLessThan(4 * MIB)
    expect(memory.used).toBe(0)
  })

  it('holds one record at a time of compressed logs, too', async () => {
    const { store, texts } = longLogs(4, 3 * MIB, (text) => gzipSync(text, { level: 1 }))
    const memory = new MemoryBudget(16 * MIB)
    expect((await exported(store, memory)).texts).toEqual(texts)
  })

  it('has whole addresses where a MiB divided by the number of logs is a fraction', async () => {
    const text = Array.from({ length: 20 }, (_, i) => line(i, 'w'.repeat(200_000))).join('')
    const names = Array.from({ length: 7 }, (_, i) => `${i}.log`)
    const store = memoryStore(Object.fromEntries(names.map((name) => [name, text])))
    const read = store.read.bind(store)
    store.read = (key, range, ...rest) => {
      expect(Object.values(range ?? {}).every(Number.isInteger)).toBe(true)
      return read(key, range, ...rest)
    }
    expect((await exported(store, new MemoryBudget(4 * MIB))).texts).toHaveLength(140)
  })

  it('finds a long record in a file that was rotated since', async () => {
    const { store, texts } = longLogs(3, 2 * MIB)
    let pages = 0
    const got = await exported(store, undefined, () => {
      if (pages++ !== 1) return
      store.put('01.log.1', texts.filter((_, i) => i % 3 === 1).join(''))
      store.put('01.log', line(99_999, 'a new file'))
    })
    expect(got.texts).toEqual(texts)
  })

  it('releases what is read when its client leaves during a read', async () => {
    const text = Array.from({ length: 30_000 }, (_, i) => line(i, `request ${i} was handled`)).join('')
    const store = memoryStore({ 'a.log': text, 'b.log': text })
    const memory = new MemoryBudget(64 * MIB)
    const context = contextOf(logFiles(store), {}, { memory })
    const { sources } = await pickSources({ node: null, context }, ['*.log'])
    const merged = new MergedExport(sources, EVERYTHING)
    await merged.open()
    const read = store.read.bind(store)
    let go = () => {}
    const mayGo = new Promise<void>((resolve) => {
      go = resolve
    })
    const begun = new Promise<'begun'>((resolve) => {
      store.read = async (...args) => {
        resolve('begun')
        await mayGo
        return read(...args)
      }
    })
    const stream = mergedStream(merged.pages(), textWriter(), () => merged.release())
    let next = stream.next()
    for (let got = await Promise.race([next, begun]); got instanceof Uint8Array; ) {
      next = stream.next()
      got = await Promise.race([next, begun])
    }
    await stream.cancel()
    go()
    expect(await next).not.toBeNull()
    await new Promise(setImmediate)
    expect(memory.used).toBe(0)
  })

  it('waits for memory that another answer holds', async () => {
    const { store, texts } = longLogs(4, 2 * MIB)
    const memory = new MemoryBudget(16 * MIB)
    const other = memory.lease(15 * MIB)!
    setTimeout(() => other.release(), 300)
    expect((await exported(store, memory)).texts).toEqual(texts)
  })
})

describe('a page of several logs with long records', () => {
  it.each([true, false])('has every record in little memory (first: %s)', async (first) => {
    const { store, texts } = longLogs(6, 2 * MIB)
    const fit = { size: 64 * KIB, lines: 40 }
    const page = await ask(store, ['*.log'], { fit, first })
    expect(page.texts).toEqual(first ? texts.slice(0, 24) : texts.slice(-40))
    const matcher = textMatcher('y')
    const found = await ask(store, ['*.log'], { fit: { size: MIB, lines: null }, first, matcher })
    expect(found.texts).toEqual([texts.filter((text) => text.length > MIB).at(first ? 0 : -1)])
  })
})
