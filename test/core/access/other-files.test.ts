import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Token } from '../../../src/core/access/grant.ts'
import { loki } from '../../../src/doors/loki.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createFleet } from '../../support/app.ts'

const NOW = Date.UTC(2026, 10, 15, 2, 10)
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW })
})
afterAll(() => {
  vi.useRealTimers()
})

const line = (second: number, text: string, level = 'INFO') =>
  `${new Date(NOW - 60_000 + 1000 * second).toISOString().replace('T', ' ').replace('Z', '')}\t${level}\ta.go:1\t[A]: ${text}\n`
const NODE = { hostIp: '192.0.2.7', hostName: 'db', grpcPort: 1, httpPort: 2, version: '1', onlineTime: 3 }
const minute = String(Math.floor(NOW / 60_000) - 1)
const lagging = (lagBytes: number, lagSeconds: number) => ({ life: 1, size: 1, lagBytes, lagSeconds })
const counted = (errors: number, lastLine: number) => ({ lastLine, minutes: { [minute]: [errors, errors] } })

/** A fleet of two nodes: with the files that the token may see, and `others` of the same homes. */
function fleetWith(others: { files?: Record<string, string>; logs?: object; counts?: object }) {
  const beat = JSON.stringify({
    host: 'h',
    run: 'r',
    node: NODE,
    logs: { 'a.log': lagging(3, 2), ...others.logs },
    counts: { 'a.log': counted(1, 5), ...others.counts },
  })
  const home = {
    'ship.json': beat,
    'logs/a.log': line(1, 'one') + line(3, 'two', 'ERROR'),
    'logs/c.log': line(2, 'three'),
  }
  const nodes = (home: Record<string, string>) =>
    ['db-1', 'db-2'].flatMap((id) => Object.entries(home).map(([name, text]) => [`${id}/${name}`, text]))
  const files = Object.fromEntries([...nodes(home), ...nodes(others.files ?? {})])
  const tokens: Token[] = [{ name: 'reader', token: 'reader', files: ['a.log', 'c.log'] }]
  return createFleet({ store: memoryStore(files), tokens: () => tokens, loki, onError: () => {} })
}

const hidden = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`hidden-${i}.log`, i]))
const OTHERS: Record<string, Parameters<typeof fleetWith>[0]> = {
  'another log that lags': { logs: { 'hidden.log': lagging(1_000_000, 3600) } },
  'logs that lag, more than are remembered': {
    logs: Object.fromEntries(Object.keys(hidden).map((name) => [name, lagging(9, 900)])),
  },
  'another log with errors': { counts: { 'hidden.log': counted(77, NOW) } },
  'other files': {
    files: {
      ...Object.fromEntries(Object.keys(hidden).map((name) => [`logs/${name}`, line(2, 'hidden', 'ERROR')])),
      'logs/a.log.1': line(0, 'hidden'),
      'logs/a.log.2.gz': 'hidden, and no archive',
      'logs/notime.txt': 'hidden\n',
    },
  },
}

const PATHS = [
  '/api/v1/nodes',
  '/api/v1/log/list?node=*',
  '/api/v1/log/list?node=*&detail=true',
  '/api/v1/log/view?node=*&file=*',
  '/api/v1/log/view?node=*&file=*&format=ndjson&lines=2',
  '/api/v1/log/view?node=*&file=a.log&rotated=true',
  '/api/v1/log/view?node=db-1&file=hidden*',
  '/api/v1/log/view?node=db-1&file=hidden-1.log&file=a.log',
  '/api/v1/log/view?node=*&file=*&download=true',
  '/api/v1/log/histogram?node=*&file=*&by=file',
  '/api/v1/log/fields?node=*&file=*',
  '/api/v1/log/groups?node=*&file=*&by=message',
  '/nodes/db-1/api/v1/log/list',
  '/nodes/db-1/api/v1/log/list?detail=true',
  '/nodes/db-1/api/v1/log/view?file=a.log',
  '/nodes/db-1/api/v1/log/view?file=a.log&rotated=true',
  '/nodes/db-1/api/v1/log/view?file=hidden-1.log',
  '/nodes/db-1/api/v1/log/view?file=a.log.2.gz',
  '/nodes/db-1/api/v1/log/view?file=*',
  '/nodes/db-1/api/v1/log/histogram?file=a.log&rotated=true',
  '/nodes/db-1/api/v1/log/fields?file=a.log&rotated=true',
  '/nodes/db-1/api/v1/log/groups?file=a.log&rotated=true&by=message',
  '/nodes/db-1/api/v1/log/download?file=hidden-1.log',
  '/loki/api/v1/label/file/values',
  '/loki/api/v1/series',
  '/loki/api/v1/index/stats?query=%7Bfile%3D~%22.%2B%22%7D',
  '/loki/api/v1/query_range?query=%7Bfile%3D~%22.%2B%22%7D',
  '/nodes/db-1/loki/api/v1/label/file/values',
  '/nodes/db-1/loki/api/v1/query_range?query=%7Bfile%3D~%22.%2B%22%7D',
]

/** Everything that an answer says, but for the figures of the time that it took. */
async function told(app: ReturnType<typeof fleetWith>, path: string) {
  const response = await app.request(path, { headers: { Authorization: 'Bearer reader' } })
  const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== 'x-request-id'))
  const text = await response.text()
  const body = text.replace(/"(execTime|(lines|bytes)ProcessedPerSecond)":[^,}]*/g, '')
  return { status: response.status, headers, body }
}

describe.each(Object.entries(OTHERS))('beside %s', (_, others) => {
  it.each(PATHS)('%s tells a token nothing about them', async (path) => {
    const answer = await told(fleetWith(others), path)
    expect(answer).toEqual(await told(fleetWith({}), path))
    expect(answer.body).not.toMatch(/\]: hidden|hidden-2/)
  })
})

it('the lag of the files that a token may see is settled', async () => {
  const { headers } = await told(fleetWith({}), '/api/v1/log/view?node=*&file=*')
  expect(headers['x-nodestate-settled']).toBe('2026-11-15T02:09:58Z')
})
