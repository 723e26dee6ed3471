import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { fsStore } from '../../../src/store/fs.ts'
import type { Entry, Store } from '../../../src/store/store.ts'
import { createApp } from '../../support/app.ts'

const START = Date.UTC(2026, 10, 15, 2)
const line = (i: number) =>
  `${new Date(START + i * 1000).toISOString().replace('T', ' ').slice(0, 23)}\tINFO\ta.go:1\t[A]: number ${i} ${'.'.repeat(1000)}\n`
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => line(from + i)).join('')
/** The first file is compressed when it is rotated again. */
const OLD = 400
const NOW = 1600
const NEW = 1700

const places: string[] = []
afterAll(() => {
  for (const place of places) rmSync(place, { recursive: true })
})

/** A log of two files, whose writer rotates them before a certain call of the store. */
function rotatingAt(call: number) {
  const place = mkdtempSync(join(tmpdir(), 'nodestate-rotation-'))
  places.push(place)
  const path = (name: string) => join(place, name)
  writeFileSync(path('a.log.1'), lines(0, OLD))
  writeFileSync(path('a.log'), lines(OLD, NOW))
  const store = fsStore(place)
  let calls = 0
  const count = () => {
    if (calls++ !== call) return
    writeFileSync(path('a.log.2.gz'), gzipSync(lines(0, OLD)))
    rmSync(path('a.log.1'))
    renameSync(path('a.log'), path('a.log.1'))
    writeFileSync(path('a.log'), lines(NOW, NEW))
  }
  // A list shows one moment, as the store's own does.
  let last: Promise<unknown> = Promise.resolve()
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(() => {
      count()
      return work()
    })
    last = done.catch(() => {})
    return done
  }
  const logs: Store = {
    async *list(...query) {
      yield* await alone(async () => {
        const all: Entry[] = []
        for await (const entry of store.list(...query)) all.push(entry)
        return all
      })
    },
    stat: (...query) => alone(() => store.stat(...query)),
    read: (...query) => alone(() => store.read(...query)),
  }
  const app = createApp({ logs, config: '', onError: () => {} })
  return { app, isRotated: () => calls > call }
}

/** The numbers of the records that came, and whether the answer says that it ended early. */
async function exported(call: number, query: string) {
  const { app, isRotated } = rotatingAt(call)
  const answer = await app.request(`/api/v1/log/view?file=a.log&download=true${query}`)
  if (answer.status !== 200) {
    expect([404, 410, 503], `${answer.status} call ${call}`).toContain(answer.status)
    return { ids: null, isCut: true, isRotated: isRotated() }
  }
  let text = ''
  let isCut = false
  try {
    for await (const bytes of answer.body!) text += Buffer.from(bytes).toString('latin1')
  } catch {
    isCut = true
  }
  const ids = [...text.matchAll(/number (\d+) /g)].map(([, id]) => Number(id))
  return { ids, isCut, isRotated: isRotated() }
}

const run = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

describe.each(['', '&q=number', '&format=ndjson', '&level=info&format=csv&columns=message'])(
  'files that are rotated between any two calls while they are exported (%s)',
  (form) => {
    it('alone: the records of the old file or of the new one, all of them or cut', async () => {
      for (let call = 0; call < 60; call++) {
        const { ids, isCut, isRotated } = await exported(call, form)
        if (ids !== null) {
          const whole = ids[0] === NOW ? run(NOW, NEW) : run(OLD, NOW)
          expect(ids, `call ${call}`).toEqual(isCut ? whole.slice(0, ids.length) : whole)
        }
        if (!isRotated) return
      }
    })

    it('with its rotated files: each record once and in order, up to the end or cut', async () => {
      for (let call = 0; call < 60; call++) {
        const { ids, isCut, isRotated } = await exported(call, `${form}&rotated=true`)
        if (ids !== null) {
          expect(ids, `call ${call}`).toEqual(run(0, ids.length))
          if (!isCut) expect([NOW, NEW], `call ${call}`).toContain(ids.length)
        }
        if (!isRotated) return
      }
    })
  },
)
