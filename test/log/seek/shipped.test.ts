import { describe, expect, it } from 'vitest'
import { stemOf } from '../../../src/log/rotated/names.ts'
import { timesToShip } from '../../../src/log/seek/shipped.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { parseSegment, segmentName } from '../../../src/store/segment/names.ts'
import { segmentStore } from '../../../src/store/segments.ts'
import { type AppOptions, createApp } from '../../support/app.ts'
import { wholes } from '../../support/random.mjs'
import { putLife, putSegment, putYoung } from '../../support/segments.ts'

const START = Date.UTC(2026, 9, 24, 20)
const LIVES = 12
const encoder = new TextEncoder()

/** How a line shows its time: in no zone, in one, or in JSON. */
const LINES = {
  lindb: (time: string, level: string, i: number) => `${time.replace('T', ' ')}\t${level}\ta.go:1\t[A]: ${i}`,
  zoned: (time: string, level: string, i: number) => `time=${time}Z level=${level} msg="number ${i}"`,
  json: (time: string, level: string, i: number) =>
    `{"time":"${time}Z","level":"${level}","msg":"number ${i}"}`,
}

/** The text of each life: about 90 KB in an hour, with traces, and a clock that steps sometimes. */
function textsOf(kind: keyof typeof LINES, random: (below: number) => number, steps: boolean): Uint8Array[] {
  let now = START
  return Array.from({ length: LIVES }, () => {
    let text = random(4) === 0 ? '\tat the.end.of.a.record()\n' : ''
    for (let i = 0; i < 500; i++) {
      now += random(15_000)
      if (steps && random(700) === 0) now -= random(7_200_000)
      const time = new Date(now).toISOString().slice(0, 23)
      text += `${LINES[kind](time, ['INFO', 'WARN', 'ERROR'][random(3)]!, i)} ${'.'.repeat(random(60))}\n`
      if (random(40) === 0) text += '\tat a.b.c()\n\tat d.e.f()\n'
    }
    return encoder.encode(text)
  })
}

/** The texts as they are shipped, the newest with young text at its end, and what is read of them. */
async function shipped(texts: readonly Uint8Array[], timed: boolean, options: Partial<AppOptions> = {}) {
  const home = memoryStore()
  for (const [i, text] of texts.entries()) {
    const where = { log: 'a.log', life: i + 1, timed }
    const isLast = i === texts.length - 1
    if (!isLast) await putLife(home.put, text, { ...where, size: 15_000, how: 'end' })
    else {
      const young = text.lastIndexOf(10, Math.floor(text.length * 0.7)) + 1
      await putSegment(home.put, text, [0, young], where)
      await putYoung(home.put, text, [young, text.length], where)
    }
  }
  const segments = new Set<string>()
  const counted = {
    ...home,
    read: (...args: Parameters<typeof home.read>) => {
      if (args[0].endsWith('.gz')) segments.add(args[0])
      return home.read(...args)
    },
  }
  const logs = segmentStore(counted, memoryStore(), { stemOf })
  return { app: createApp({ logs, config: '', ...options }), segments }
}

const iso = (ms: number) => new Date(ms).toISOString()
const answer = async (app: ReturnType<typeof createApp>, path: string) => {
  const response = await app.request(path)
  return [response.status, response.headers.get('X-Nodestate-Note'), await response.text()]
}

describe('a log whose segments say when they were written', () => {
  it.each([
    ['lindb', 'UTC', true],
    ['lindb', 'Europe/Berlin', false],
    ['json', 'America/New_York', true],
  ] as const)(
    '%s read in %s, clock steps: %s: answers are those of one whose segments do not',
    async (kind, timezone, steps) => {
      const random = wholes(7)
      const texts = textsOf(kind, random, steps)
      const one = await shipped(texts, true, { timezone })
      const other = await shipped(texts, false, { timezone })
      const hours = (LIVES * 500 * 3000) / 3_600_000
      for (let i = 0; i < 3; i++) {
        const since = START + random(hours * 60) * 60_000
        const until = since + [300_000, 3_600_000, 86_400_000][i % 3]!
        const range = `since=${iso(since)}&until=${iso(until)}`
        for (const path of [
          `histogram?file=a.log&rotated=true&${range}`,
          `view?file=a.log&rotated=true&lines=50&${range}`,
          `view?file=a.log&rotated=true&lines=20&level=error&since=${iso(since)}`,
        ])
          expect(await answer(one.app, `/api/v1/log/${path}`), path).toEqual(
            await answer(other.app, `/api/v1/log/${path}`),
          )
      }
    },
  )

  it('reads the segments of the range, and none before it', async () => {
    const texts = textsOf('lindb', wholes(3), false)
    const since = START + 5 * 3_600_000
    const path = `/api/v1/log/histogram?file=a.log&rotated=true&since=${iso(since)}&until=${iso(since + 300_000)}`
    const one = await shipped(texts, true)
    const chart = JSON.parse((await answer(one.app, path))[2] as string)
    expect(chart.complete).toBe(true)
    // The format is read from the newest text.
    expect(one.segments.size).toBeLessThanOrEqual(8)
    const other = await shipped(texts, false)
    await answer(other.app, path)
    expect(other.segments.size).toBeGreaterThan(15)
  })

  it('has names that are read back', () => {
    const text = encoder.encode('2026-11-15 02:10:00.001\tINFO\ta.go:1\t[A]: one\n')
    const times = timesToShip(text)!
    expect(times).toEqual({
      format: 'lindb',
      isZoned: false,
      first: 0,
      earliest: 1794708600000,
      latest: 1794708600999,
    })
    const name = segmentName({ start: 5, end: 5 + text.length, crc: 7, times })
    expect(name).toBe('999999999999994-99999954-00000007_lindb_u_0_mwh75uio_mwh75vaf.log.gz')
    expect(parseSegment(name)).toEqual({ start: 5, end: 5 + text.length, crc: 7, young: false, times })
  })

  it.each([
    ['no time', 'hello\nworld\n'],
    ['a line that is cut', '2026-11-15 02:10:00.001\tINFO\ta.go:1\t[A]: one'],
    ['no year', 'Nov 15 02:10:00 host app[1]: one\nNov 15 02:10:01 host app[1]: two\n'],
  ])('says nothing about text with %s', (_, text) => {
    expect(timesToShip(encoder.encode(text))).toBeNull()
  })
})
