import { expect, it } from 'vitest'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp } from '../support/app.ts'

const TIME = '2026-11-15T02:10:00.123Z'

/** Asks for an answer about a log of these lines; returns it with the CPU that it took, in ms. */
async function ask(lines: readonly string[], path: string) {
  const app = createApp({ logs: memoryStore({ 'x.log': `${lines.join('\n')}\n` }), config: '' })
  const before = process.cpuUsage().user
  const response = await app.request(`http://localhost/api/v1/log/${path}`)
  const text = await response.text()
  expect(response.status).toBe(200)
  return { text, millis: (process.cpuUsage().user - before) / 1000 }
}

const record = (context: string) => `{"time":"${TIME}","level":"info","msg":"x","ctx":${context}}`
/** Objects in objects, each behind a key. */
const nested = (key: (i: number) => string, depth: number) =>
  `${Array.from({ length: depth }, (_, i) => `{"${key(i)}":`).join('')}1${'}'.repeat(depth)}`

const PATHS = [
  'fields?file=x.log',
  'compare?file=x.log&since=2026-11-15T02:09:00Z&until=2026-11-15T02:12:00Z',
  'incident?file=x.log&since=2026-11-15T02:09:00Z&until=2026-11-15T02:12:00Z',
]

it.each(PATHS)('a JSON line costs what its bytes cost, whatever its keys are: %s', async (path) => {
  const dots = record(nested(() => 'a.'.repeat(60), 100))
  expect((await ask([dots], path)).millis).toBeLessThan(5000)
  const deep = record(nested((i) => `k${i}`, 195))
  expect((await ask(Array(100).fill(deep), path)).millis).toBeLessThan(10_000)
})

it('counts and finds fields with dots in their keys and in objects, and leaves out longer paths', async () => {
  const long = nested(() => 'y'.repeat(150), 3)
  const line = record(`{"a.b":1,"a":{"b.c":2,"d":[3],"e":{}},"z":3.10,"long":${long},"end":5}`)
  const { fields } = JSON.parse((await ask([line], 'fields?file=x.log')).text)
  const names = fields.map(({ name }: { name: string }) => name)
  expect(names.toSorted()).toEqual(['ctx.a.b', 'ctx.a.b.c', 'ctx.a.d', 'ctx.end', 'ctx.z', 'level'])
  for (const where of ['ctx.a.b:1', 'ctx.a.b.c:2', 'ctx.z:3.10', 'ctx.end:5'])
    expect((await ask([line], `view?file=x.log&where=${where}`)).text).toBe(`${line}\n`)
})

it('compares a message of 8 MiB with a pattern, and one that is negated', async () => {
  const line = `{"time":"${TIME}","level":"info","msg":"${'x zz '.repeat(1_600_000)}"}`
  const view = 'view?file=x.log&size=1000&where='
  for (const where of ['message~*zzq*', '!message~*zz%20x*', 'nothing~*'])
    expect((await ask([line], view + where)).text).toBe('')
  for (const where of ['message~*zz%20x*', '!message~*zzq*', '!nothing~*'])
    expect((await ask([line], view + where)).text).toBe(`${line}\n`.slice(-1000))
})
