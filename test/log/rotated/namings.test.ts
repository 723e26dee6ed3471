import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'
import { NAMINGS, type Naming } from './namings.ts'

const START = Date.UTC(2026, 10, 10)
const DAY = 86_400_000
const recordAt = (time: number, text: string) =>
  `${new Date(time).toISOString().replace('T', ' ').slice(0, 23)}\tINFO\ta.go:1\t[A]: ${text}\n`

/** A node with the files of a naming, each with the records of a day, and written when `change` says. */
function nodeOf({ files, others = [] }: Naming, change: (i: number) => number) {
  let now = 0
  const store = memoryStore({}, { now: () => now } as Parameters<typeof memoryStore>[1])
  const texts = files.map((file, i) => {
    const time = START + i * DAY
    const text = recordAt(time, `first of ${file}`) + recordAt(time + DAY / 2, `last of ${file}`)
    now = change(i)
    store.put(file, file.endsWith('.gz') ? gzipSync(text) : text)
    return text
  })
  // Logs of their own: their times are among those of the others.
  const end = START + files.length * DAY
  now = end
  for (const other of others)
    store.put(other, recordAt(START + 1, `first of ${other}`) + recordAt(end, `last of ${other}`))
  return { app: createApp({ logs: store, config: '' }), texts }
}

// Local files were changed in their order; in a bucket, the time of change is that of the upload.
describe.each<[string, (count: number) => (i: number) => number]>([
  ['on a disk', () => (i) => START + (i + 1) * DAY],
  ['in a bucket', (count) => (i) => START + ((i * 7) % count) * 1000],
])('%s', (_, changes) => {
  it.each(NAMINGS.map((naming) => [`${naming.who}: ${naming.how}`, naming] as const))(
    '%s is one log, in order of its records',
    async (_, naming) => {
      const { files, log, others = [] } = naming
      const { app, texts } = nodeOf(naming, changes(files.length))
      const newest = encodeURIComponent(files.at(-1)!)
      const answer = await app.request(`/api/v1/log/view?file=${newest}&rotated=true`)
      expect(await answer.text()).toBe(texts.join(''))
      expect([answer.status, answer.headers.get('X-Nodestate-Note')]).toEqual([200, null])
      const list: { name: string; log: string }[] = await (
        await app.request('/api/v1/log/list?detail=true')
      ).json()
      for (const { name, log: shown } of list)
        if (others.includes(name)) expect(shown, name).not.toBe(log)
        else expect(shown, name).toBe(log)
    },
  )
})
