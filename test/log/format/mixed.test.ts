import { describe, expect, it } from 'vitest'
import { detectFormat } from '../../../src/log/format/detect.ts'
import { UTC } from '../../../src/log/time.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'
import { numbersOf } from '../../support/log-clients.ts'

const START = Date.UTC(2026, 10, 14, 20)
/** A record a minute, through midnight. */
const at = (n: number) => START + n * 60_000
const iso = (n: number) => new Date(at(n)).toISOString()
const wall = (n: number) => iso(n).slice(0, 19).replace('T', ' ')

type Write = (n: number) => { text: string; error?: boolean }

const json: Write = (n) => {
  const level = n % 5 === 0 ? 'error' : 'info'
  return { text: `{"level":"${level}","time":"${iso(n)}","msg":"number ${n} end"}`, error: level === 'error' }
}
const goLog: Write = (n) => ({ text: `${wall(n).replaceAll('-', '/')} http: TLS handshake: number ${n} end` })
const klog: Write = (n) => {
  const clock = `${iso(n).slice(5, 10).replace('-', '')} ${iso(n).slice(11, 19)}.000000`
  return n % 2 === 0
    ? { text: `E${clock}       1 reflector.go:12] number ${n} end`, error: true }
    : { text: `I${clock}       1 lease.go:250] number ${n} end` }
}
const mariadb: Write = (n) => {
  const padded = wall(n).replace(/ 0/, '  ')
  return n % 5 === 0
    ? { text: `${padded} 3 [ERROR] number ${n} end`, error: true }
    : { text: `${padded} 0 [Note] number ${n} end` }
}
const mysqldSafe: Write = (n) => ({
  text: `${iso(n).slice(2, 10).replaceAll('-', '')} ${iso(n).slice(11, 19)} mysqld_safe number ${n} end`,
})
const postgresql: Write = (n) => ({
  text: `${wall(n)}.000 UTC [7] ${n % 5 === 0 ? 'ERROR' : 'LOG'}:  number ${n} end\n${wall(n)}.000 UTC [7] DETAIL:  of that`,
  error: n % 5 === 0,
})
const log4j: Write = (n) => ({
  text: `${wall(n)},000 ${n % 5 === 0 ? 'ERROR' : 'INFO '} [main] a.B - number ${n} end`,
  error: n % 5 === 0,
})
const cri =
  (write: Write): Write =>
  (n) => {
    const { text, ...more } = write(n)
    return { text: `2026-01-01T00:00:00.000000000Z stdout F ${text}`, ...more }
  }

const TRACE = `Exception in thread "main" java.lang.IllegalStateException: no\n${'\tat com.example.Main.main(Main.java:12)\n'.repeat(60)}`
const BANNER = Array.from({ length: 200 }, (_, i) => `  option ${i}: some setting without a time\n`).join('')
const SHELL = '+ exec docker-entrypoint.sh postgres\nThe files belonging to this database system ...\n\n'

const CASES: readonly [
  name: string,
  format: string,
  front: string,
  write: (n: number) => ReturnType<Write>,
][] = [
  [
    'JSON, and now and then the log of the HTTP server',
    'json',
    '',
    (n) => (n % 400 === 399 ? goLog : json)(n),
  ],
  ['JSON with klog', 'json and glog', '', (n) => (n % 3 === 1 ? klog : json)(n)],
  ['JSON behind a stack trace of the start', 'json', TRACE, json],
  ['JSON in a container, with klog', 'cri, json and glog', '', (n) => cri(n % 3 === 1 ? klog : json)(n)],
  ['MariaDB behind a banner', 'stamped', BANNER, mariadb],
  ['MariaDB with mysqld_safe', 'stamped and mysql-5.5', '', (n) => (n % 9 === 4 ? mysqldSafe : mariadb)(n)],
  ['PostgreSQL behind lines of a shell', 'postgresql', SHELL, postgresql],
  ['Log4j and JSON in one file', 'json and stamped', '', (n) => (n % 3 === 1 ? json : log4j)(n)],
]

describe.each(CASES)('%s', (_, name, front, write) => {
  const COUNT = 1200
  const records = Array.from({ length: COUNT }, (_, n) => ({ n, ...write(n) }))
  const text = `${front}${records.map((record) => `${record.text}\n`).join('')}`
  const app = createApp({ logs: memoryStore({ 'a.log': text }), config: '' })
  const numbers = async (query: string) => {
    const response = await app.request(`/api/v1/log/view?file=a.log&${query}`)
    expect([query, response.status]).toEqual([query, 200])
    return numbersOf(await response.text())
  }

  it('is known', () => {
    const bytes = new TextEncoder().encode(text)
    const format = detectFormat(bytes.subarray(0, 16_384), bytes.subarray(-16_384), { reference: at(COUNT) })
    expect(format.name).toBe(name)
    const fields = format.fields(`${write(1).text}\n`, UTC)
    expect(fields.message).toContain('number 1 end')
    expect(Date.parse(fields.time!)).toBe(at(1))
  })

  it.each([
    ['around midnight', 230, 250],
    ['around a line of another format', 397, 402],
    ['the rest', 1100, COUNT],
  ])('is right: %s', async (_, from, to) => {
    const range = `since=${at(from)}&until=${at(to)}`
    const expected = records.slice(from, to)
    expect(await numbers(range)).toEqual(expected.map(({ n }) => n))
    expect(await numbers(`${range}&level=error`)).toEqual(
      expected.filter(({ error }) => error).map(({ n }) => n),
    )
    const response = await app.request(`/api/v1/log/histogram?file=a.log&${range}&step=1m`)
    const { buckets, levels } = (await response.json()) as {
      buckets: { time: number; counts: number[] }[]
      levels: string[]
    }
    const errors = levels.indexOf('error')
    expect(buckets.map(({ time, counts }) => [time, counts.reduce((a, b) => a + b), counts[errors]])).toEqual(
      expected.map(({ n, error = false }) => [at(n), 1, Number(error)]),
    )
  })
})

describe('what is no record of its own', () => {
  const names = (text: string) => detectFormat(new TextEncoder().encode(text)).name
  it('JSON in a message, without a level', () => {
    const body = '{"timestamp":"2026-11-15T02:10:00Z","body":"x"}'
    expect(names(`${`${log4j(1).text}\n`.repeat(5)}${body}\n`.repeat(20))).toBe('stamped')
    expect(names(`${`${log4j(1).text}\n`.repeat(5)}${json(1).text}\n`.repeat(20))).toBe('stamped and json')
  })
  it('a stack trace, and times inside its lines', () => {
    const trace = '\tat com.example.Main.main(Main.java:12)\nCaused by: timeout at 2026-11-15 02:10:00\n'
    expect(names(`${json(1).text}\n${trace}`.repeat(20))).toBe('json')
    const format = detectFormat(new TextEncoder().encode(`${json(1).text}\n`))
    for (const line of [
      ...trace.split('\n'),
      'Error: since 2026-11-15 02:10:00',
      '2026-11-15',
      '12:10:00 x',
    ]) {
      const bytes = new TextEncoder().encode(line)
      expect([line, format.starts(bytes, 0, bytes.length)]).toEqual([line, false])
    }
  })
  it("PostgreSQL's DETAIL", () => {
    expect(names(`${postgresql(1).text}\n${log4j(2).text}\n`.repeat(20))).toBe('postgresql and stamped')
    const format = detectFormat(
      new TextEncoder().encode(`${postgresql(1).text}\n${log4j(2).text}\n`.repeat(20)),
    )
    const detail = new TextEncoder().encode(postgresql(1).text.split('\n')[1])
    expect(format.starts(detail, 0, detail.length)).toBe(false)
  })
})
