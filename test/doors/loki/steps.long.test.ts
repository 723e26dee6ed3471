import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { loki } from '../../../src/doors/loki.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { HOUR, KINDS, recordsOf, SECOND, START, type Step, selected, YEAR } from '../../log/seek/steps.ts'
import { createApp } from '../../support/app.ts'

type Streams = { values: [string, string][] }[]

/** The numbers of the records that a query finds. */
async function found(
  request: (path: string) => Response | Promise<Response>,
  [since, until]: [number, number],
  direction: string,
  limit = 5000,
) {
  const query = new URLSearchParams({
    query: '{file=~".+"}',
    start: `${since}000000`,
    end: `${until}000000`,
    limit: `${limit}`,
    direction,
  })
  const response = await request(`/loki/api/v1/query_range?${query}`)
  const text = await response.text()
  expect(response.status, text).toBe(200)
  const streams = JSON.parse(text).data.result as Streams
  return streams
    .flatMap(({ values }) => values.map(([, line]) => Number(/number (\d+)/.exec(line)![1])))
    .sort((a, b) => a - b)
}

const wanted = (records: readonly Step[], [since, until]: [number, number]) =>
  selected(records, since, until).map((text) => Number(/number (\d+)/.exec(text)![1]))

/** Records a minute apart, whose clock steps in the middle. */
const steppedBy = (by: number) =>
  recordsOf(Array.from({ length: 60 }, (_, i) => START + i * 60 * SECOND + (i < 30 ? 0 : by)))

it.each(['file', 'archive', 'joined', 'merged', 'segments'])(
  'a range of time finds every record by its own time: %s',
  async (kind) => {
    for (const by of [0, -SECOND, -HOUR / 2, -HOUR, -YEAR]) {
      const { request, records } = await KINDS[kind]!(steppedBy(by))
      for (const since of [START - HOUR, START + 5 * 60 * SECOND, START + 31 * 60 * SECOND + by])
        for (const direction of ['forward', 'backward']) {
          const range: [number, number] = [since, since + 20 * 60 * SECOND]
          // Loki reads each file by itself; those of a family are not in one log.
          expect(await found(request, range, direction), `${by} ${direction}`).toEqual(wanted(records, range))
        }
    }
  },
)

it.each([60, 11_000])(
  'a range that begins inside an object of a joined log of %i records ends',
  async (count) => {
    const records = recordsOf(Array.from({ length: count }, (_, i) => START + i * 600 * SECOND))
    const files: Record<string, Uint8Array> = {}
    for (let i = 0; i < count; i += 10) {
      const at = new Date(records[i]!.time).toISOString().slice(0, 16).replace(/[-T:]/g, '/')
      const text = records.slice(i, i + 10).map((record) => record.text)
      files[`app/${at}/00-object${String(i).padStart(8, '0')}`] = gzipSync(text.join(''))
    }
    const app = createApp({ logs: memoryStore(files), config: '', join: true, loki })
    for (const first of [0, 5, count - 27])
      for (const direction of ['forward', 'backward']) {
        const range: [number, number] = [records[first]!.time + 1, records[first + 26]!.time]
        const expected = wanted(records, range)
        const few = direction === 'forward' ? expected.slice(0, 3) : expected.slice(-3)
        const ask = (path: string) => app.request(path)
        expect(await found(ask, range, direction)).toEqual(expected)
        expect(await found(ask, range, direction, 3)).toEqual(few)
      }
  },
)
