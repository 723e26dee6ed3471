import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { LogFields } from '../../../src/kit/answers.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'

const FIXTURES = 'test/log/format/fixtures'
const names = readdirSync(FIXTURES).filter((name) => name.endsWith('.log'))

const LINES = [
  '{"time":"2026-11-15T02:00:00Z","level":"info","msg":"accepted batch 17 from db-1"}',
  '{"time":"2026-11-15T02:00:01Z","level":"warn","msg":"accepted  batch 18 from db-2\\n  with a tail"}',
  '{"time":"2026-11-15T02:00:02Z","level":"info","msg":"accepted batch 19 from db-2 again"}',
  '{"time":"2026-11-15T02:00:03Z","level":"info","msg":"other","note":"accepted batch 17 from db-1"}',
  '{"@t":"2026-11-15T02:00:04Z","@mt":"{Verb}ed {What} {N} from {Db}","Verb":"accept","What":"batch","N":1,"Db":"x1"}',
  '{"time":"2026-11-15T02:00:05Z","level":"info","msg":"acc\\u001b[31mepted\\u001b[0m batch 20 from db-3"}',
  '{"time":"2026-11-15T02:00:06Z","level":"info","msg":"accepted batch seven from db-3"}',
].map((line) => `${line}\n`)

function appOf(files: Record<string, string>) {
  const app = createApp({ logs: memoryStore(files), config: '' })
  return async (path: string) => {
    const response = await app.request(`/api/v1/log/${path}`)
    return { status: response.status, text: await response.text() }
  }
}

const pattern = (text: string) => `pattern=${encodeURIComponent(text)}`

describe('the records of a pattern', () => {
  const ask = appOf({ 'a.log': LINES.join('') })
  it('are those whose message has its words, however the log writes it', async () => {
    const { text } = await ask(`view?file=a.log&${pattern('accepted batch <*> from <*>')}`)
    expect(text).toBe([0, 1, 4, 5, 6].map((i) => LINES[i]).join(''))
  })
  it('are selected together with other filters, in every resource', async () => {
    const filters = `file=a.log&${pattern(' accepted batch <*>  from <*>')}&level=warn`
    expect((await ask(`view?${filters}`)).text).toBe(LINES[1])
    expect((await ask(`view?${filters}&download=true`)).text).toBe(LINES[1])
    expect(JSON.parse((await ask(`fields?${filters}`)).text)).toMatchObject({ records: 1 })
    expect(JSON.parse((await ask(`groups?${filters}&by=level`)).text)).toMatchObject({ records: 1 })
    const { buckets } = JSON.parse((await ask(`histogram?${filters}&buckets=1`)).text)
    expect(buckets[0].counts).toEqual([0, 0, 1, 0, 0, 0])
  })
  it.each(['', `${'x '.repeat(1300)}`])('%j is a 400', async (text) => {
    expect((await ask(`view?file=a.log&${pattern(text)}`)).status).toBe(400)
  })
})

it.each(names)('each pattern of %s finds its records', async (name) => {
  const ask = appOf({ [name]: readFileSync(`${FIXTURES}/${name}`, 'utf8') })
  const { patterns } = JSON.parse((await ask(`fields?file=${name}`)).text) as LogFields
  for (const { pattern: text, count, level } of patterns.slice(0, 30)) {
    if (text === '') continue
    const levels = level === null ? '' : `&level==${level}`
    const found = await ask(`view?file=${name}&format=ndjson&${pattern(text)}${levels}`)
    expect(found.status).toBe(200)
    expect(found.text.split('\n').length - 1, text).toBeGreaterThanOrEqual(count)
  }
})
