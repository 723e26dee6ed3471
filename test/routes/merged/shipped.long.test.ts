import { appendFileSync, renameSync } from 'node:fs'
import { expect, it } from 'vitest'
import { stemOf } from '../../../src/log/rotated/names.ts'
import { fsStore } from '../../../src/store/fs.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { segmentStore } from '../../../src/store/segments.ts'
import { useLocal } from '../../ship/local.ts'
import { createApp } from '../../support/app.ts'
import { wholes } from '../../support/random.mjs'

const local = useLocal()
const NAMES = ['broker.log', 'query.log', 'storage.log']
const START = Date.UTC(2026, 10, 16, 2)

/** Writes the next lines of each log, in turns. */
function writer() {
  let written = 0
  const messages: string[] = []
  const write = (count: number) => {
    for (let i = 0; i < count; i++, written++) {
      const name = NAMES[written % NAMES.length]!
      const time = new Date(START + written * 10).toISOString().replace('T', ' ').slice(0, 23)
      messages.push(`${name} ${written}`)
      appendFileSync(local.at(name), `${time}\tINFO\ta.go:1\t[A]: ${name} ${written}\n`)
    }
  }
  return { messages, write }
}

/** A service that has read nothing of the home yet. */
function reader() {
  const home = fsStore(local.home, { nested: true })
  return createApp({ logs: segmentStore(home, memoryStore(), { stemOf }), config: '' })
}

async function pageOf(query: string) {
  const response = await reader().request(`http://localhost/api/v1/log/view${query}`)
  expect(response.status).toBe(200)
  expect(response.headers.get('X-Nodestate-Missing')).toBeNull()
  const text = (await response.text()).trimEnd()
  const messages =
    text === '' ? [] : text.split('\n').map((each) => (JSON.parse(each) as { message: string }).message)
  const link = (rel: string) =>
    new RegExp(`<([^>]*)>; rel="${rel}"`).exec(response.headers.get('Link')!)?.[1] ?? null
  return { messages, prev: link('prev'), next: link('next')! }
}

it.each([1, 2, 3])(
  'pages hold every record once while logs are shipped by one shipper after the other (%i)',
  async (seed) => {
    const random = wholes(seed)
    const { messages, write } = writer()
    write(60)
    await local.once()
    const first = messages.length
    const newest = await pageOf('?file=*.log&format=ndjson&lines=7')
    let older = newest.messages
    let newer: string[] = []
    for (
      let { prev, next } = newest, round = 0;
      prev !== null || newer.length < messages.length - first;
      round++
    ) {
      if (round < 12) {
        write(random(9))
        const name = NAMES[random(3)]!
        if (random(3) === 0) renameSync(local.at(name), local.at(`${name}.${round}`))
        await local.once()
      }
      if (prev !== null) {
        const page = await pageOf(prev.replace(/lines=\d+/, `lines=${1 + random(9)}`))
        older = [...page.messages, ...older]
        prev = page.prev
      }
      const page = await pageOf(next)
      newer = [...newer, ...page.messages]
      next = page.next
    }
    expect(older).toEqual(messages.slice(0, first))
    expect(newer).toEqual(messages.slice(first))
  },
)
