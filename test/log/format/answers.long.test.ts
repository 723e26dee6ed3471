import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseZone } from '../../../src/log/time.ts'
import { clockOf, dayOf } from '../../../src/log/wall-clock.ts'
import { fsStore } from '../../../src/store/fs.ts'
import { createApp } from '../../support/app.ts'
import { numbersOf } from '../../support/log-clients.ts'
import { FIXTURES, type Fixture, filled } from './fixtures.ts'

const zone = parseZone('Europe/Berlin')!
const COUNT = 1000
/** Through midnight and through the hour that comes twice, an hour into 25 October in UTC. */
const TIMES = Array.from({ length: COUNT }, (_, i) => Date.UTC(2026, 9, 24, 14) + i * 61_234)
const LAST = TIMES.at(-1)!

/** How the level of each template becomes a more severe one. */
const SEVERE: readonly [from: string, to: string, level: string][] = [
  ['"status":200', '"status":503', 'error'],
  ['1.1" 200 5', '1.1" 503 5', 'error'],
  ['1.1" 200 -', '1.1" 503 -', 'error'],
  ['/1 200 5 -', '/1 503 5 -', 'error'],
  ['0.000 200 200', '0.000 503 200', 'error'],
  ['/\t200\t', '/\t503\t', 'error'],
  ['"Information"', '"Error"', 'error'],
  ['INFO: hi', 'SEVERE: hi', 'error'],
  ['[Note]', '[ERROR]', 'error'],
  ['[Warning]', '[ERROR]', 'error'],
  ['"Warning"', '"Error"', 'error'],
  ['LOG:', 'ERROR:', 'error'],
  ['LOG C-', 'WARNING C-', 'warn'],
  ['"LOG"', '"ERROR"', 'error'],
  ['ERROR,22012', 'PANIC,22012', 'fatal'],
  ['ERROR:  ', 'FATAL:  ', 'fatal'],
  ['INFO', 'ERROR', 'error'],
  ['<Debug>', '<Error>', 'error'],
  ['DEBUG', 'ERROR', 'error'],
  ['[notice]', '[error]', 'error'],
  ['NOTICE: hi', 'ERROR: hi', 'error'],
  ['=notice', '=warning', 'warn'],
  ['=info', '=error', 'error'],
  ['"info"', '"error"', 'error'],
  ['"debug"', '"error"', 'error'],
  ['[info]', '[error]', 'error'],
  ['"level":30', '"level":50', 'error'],
  ['"level":6', '"level":3', 'error'],
  ['"PRIORITY":"6"', '"PRIORITY":"3"', 'error'],
  ['"s":"I"', '"s":"E"', 'error'],
  ['[core:error]', '[core:crit]', 'fatal'],
  ['LEVEL: Info', 'LEVEL: Severe', 'error'],
  ['[INF]', '[ERR]', 'error'],
  ['  0 mon.a', ' -1 mon.a', 'error'],
  ['<30>', '<27>', 'error'],
  [' i Basis', ' e Basis', 'error'],
  [' D Tag', ' E Tag', 'error'],
  [' * hi', ' # hi', 'warn'],
  [' I NETWORK', ' E NETWORK', 'error'],
  [' I | ', ' E | ', 'error'],
  ['I{y}', 'E{y}', 'error'],
  ['I{Y}', 'E{Y}', 'error'],
  ['7f1a [a.cc', '7f1a [WARN] [a.cc', 'warn'],
]

/** Formats whose lines have no level. */
const LEVELLESS =
  /(?:mysql|mariadb|percona)-slow|general|oracle|docker-plain|nginx-json|^syslog|thunderbird|multilog|svlogd/

interface Line {
  n: number
  text: string
  /** When it is read to be: a wall clock that happens twice is the first of the two. */
  time: number
  severe: boolean
}

function linesOf({ template, utc, unit = 1 }: Fixture): { lines: Line[]; level: string | null } {
  const rule = SEVERE.find(([from]) => template.includes(from))
  const lines = TIMES.map((epoch, n) => {
    const severe = n % 7 === 3
    const own = severe && rule ? template.replace(rule[0], rule[1]) : template
    const wall = new Date(utc ? epoch : epoch + zone.offsetAt(epoch))
    const name = zone.offsetAt(epoch) === 7_200_000 ? 'CEST' : 'CET'
    const text = numbered(filled(own, epoch, wall, name), n)
    const exact = Math.floor(epoch / unit) * unit
    const time = utc || own.includes('{zone}') ? exact : firstOf(exact)
    return { n, text, time, severe }
  })
  return { lines, level: rule?.[2] ?? null }
}

/** A line with its number in the message, or below it. */
function numbered(line: string, n: number): string {
  const text = `number ${n} end`
  for (const message of ['hi', 'select 1', 'SELECT 1', 'GET /'])
    if (new RegExp(`\\b${message}(?!\\w)`).test(line))
      return line.replace(new RegExp(`\\b${message}(?!\\w)`), `${message} ${text}`)
  return `${line}\n${text}`
}

function firstOf(epoch: number): number {
  const wall = new Date(epoch + zone.offsetAt(epoch))
  return zone.toEpoch(
    dayOf(wall.getUTCFullYear(), wall.getUTCMonth() + 1, wall.getUTCDate()),
    clockOf(wall.getUTCHours(), wall.getUTCMinutes(), wall.getUTCSeconds(), wall.getUTCMilliseconds()),
  )
}

let folder: string
let app: ReturnType<typeof createApp>
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nodestate-answers-'))
  app = createApp({ logs: fsStore(folder), config: '', timezone: 'Europe/Berlin' })
})
afterAll(() => rmSync(folder, { recursive: true }))

const RANGES: readonly [name: string, since: number | null, until: number | null][] = [
  ['everything', null, null],
  ['since midnight', Date.UTC(2026, 9, 24, 22), null],
  ['until midnight', null, Date.UTC(2026, 9, 24, 22)],
  ['around midnight', Date.UTC(2026, 9, 24, 21, 50), Date.UTC(2026, 9, 24, 22, 10)],
  ['the first of two hours', Date.UTC(2026, 9, 25, 0), Date.UTC(2026, 9, 25, 1)],
  ['the second of two hours', Date.UTC(2026, 9, 25, 1), Date.UTC(2026, 9, 25, 2)],
  ['since the middle of the second', Date.UTC(2026, 9, 25, 1, 30), null],
  ['the hour after', Date.UTC(2026, 9, 25, 2), Date.UTC(2026, 9, 25, 3)],
  ['a minute', TIMES[500]!, TIMES[501]!],
  ['nothing', Date.UTC(2026, 9, 26), null],
]

describe.each(FIXTURES)('$id', (fixture) => {
  const { lines, level } = linesOf(fixture)
  const file = `${fixture.id}.log`
  const query = (range: readonly [string, number | null, number | null], more = '') => {
    const [, since, until] = range
    return `file=${file}${since === null ? '' : `&since=${since}`}${until === null ? '' : `&until=${until}`}${more}`
  }
  const within = ([, since, until]: (typeof RANGES)[number]) =>
    lines.filter(({ time }) => time >= (since ?? 0) && time < (until ?? Number.POSITIVE_INFINITY))

  beforeAll(() => {
    writeFileSync(join(folder, file), `${lines.map(({ text }) => text).join('\n')}\n`)
    utimesSync(join(folder, file), LAST / 1000, LAST / 1000)
  })

  it('has the lines between two times', async () => {
    for (const range of RANGES) {
      const response = await app.request(`/api/v1/log/view?${query(range)}`)
      expect([range[0], response.status]).toEqual([range[0], 200])
      expect([range[0], numbersOf(await response.text())]).toEqual([
        range[0],
        within(range).map(({ n }) => n),
      ])
    }
  })

  it('has the lines of a level between two times, or says that there are no levels', async () => {
    if (LEVELLESS.test(fixture.id)) {
      const response = await app.request(`/api/v1/log/view?file=${file}&level=error`)
      expect(response.status).toBe(400)
      return expect(await response.json()).toMatchObject({ type: '/problems/no-level' })
    }
    expect(level, 'how its level becomes severe').not.toBeNull()
    for (const range of RANGES.slice(0, 7)) {
      const response = await app.request(`/api/v1/log/view?${query(range, `&level=${level}`)}`)
      const expected = within(range).filter(({ severe }) => severe)
      expect([range[0], response.status]).toEqual([range[0], 200])
      expect([range[0], numbersOf(await response.text())]).toEqual([range[0], expected.map(({ n }) => n)])
    }
  })

  it('has the same records as JSON', async () => {
    for (const range of RANGES.slice(1, 4)) {
      const response = await app.request(`/api/v1/log/view?${query(range, '&format=ndjson')}`)
      const records = (await response.text())
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
      expect(records.map(({ time }) => Date.parse(time))).toEqual(within(range).map(({ time }) => time))
      if (level !== null && !LEVELLESS.test(fixture.id))
        expect(records.map((record) => record.level === level)).toEqual(
          within(range).map(({ severe }) => severe),
        )
    }
  })

  it('has them in its histogram', async () => {
    for (const range of RANGES.slice(2, 7)) {
      const response = await app.request(`/api/v1/log/histogram?${query(range, '&step=10m')}`)
      expect([range[0], response.status]).toEqual([range[0], 200])
      const { buckets, levels } = (await response.json()) as {
        buckets: { time: number; counts: number[] }[]
        levels: string[]
      }
      const column = level === null || LEVELLESS.test(fixture.id) ? -1 : levels.indexOf(level)
      const got = buckets.map(({ time, counts }) => [time, sum(counts), column < 0 ? 0 : counts[column]])
      const expected = buckets.map(({ time }) => {
        const inside = within(range).filter((line) => line.time >= time && line.time < time + 600_000)
        return [time, inside.length, column < 0 ? 0 : inside.filter(({ severe }) => severe).length]
      })
      expect([range[0], got]).toEqual([range[0], expected])
      expect(sum(got.map(([, count]) => count!))).toBe(within(range).length)
    }
  })
})

const sum = (numbers: readonly number[]) => numbers.reduce((total, n) => total + n, 0)
