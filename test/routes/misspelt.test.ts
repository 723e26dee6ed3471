import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp, createFleet } from '../support/app.ts'
import { NODE_JSON } from '../support/node.ts'

const LINE = '2026-11-16 02:41:00.000\tINFO\ta.go:1\t[A]: hi\n'
const logs = memoryStore({ 'broker.log': LINE, 'storage.log': LINE, 'audit.log': LINE })
const app = createApp({
  logs,
  config: '',
  tokens: () => [
    { name: 'all', token: 'all-all-all-all-all-all-all-all' },
    { name: 'some', token: 'some-some-some-some-some-some-some', files: ['storage.log'] },
  ],
})

async function detailOf(path: string, token = 'all-all-all-all-all-all-all-all') {
  const response = await app.request(path, { headers: { Authorization: `Bearer ${token}` } })
  const { detail } = (await response.json()) as { detail: string }
  return [response.status, detail]
}

const MEANT = [404, 'There is no log file with this name: did you mean broker.log?']
const UNKNOWN = [404, 'There is no log file with this name; take a name from the list of logs.']

describe('a misspelt log', () => {
  it.each([
    'view?file=brokr.log',
    'view?file=brokr.log&lines=3',
    'view?file=Broker.log',
    'view?file=brokr.log&file=nothing-like-it',
    'view?file=brokr.log&download=true',
    'histogram?file=brokr.log',
    'fields?file=brokr.log',
    'groups?file=brokr.log&by=level',
    'compare?file=brokr.log&since=1h',
    'compare?file=brokr.log&file=nothing-like-it&since=1h',
    'incident?file=brokr.log&since=1h',
    'download?file=brokr.log',
  ])('%s gets the nearest one', async (query) => {
    expect(await detailOf(`/api/v1/log/${query}`)).toEqual(MEANT)
  })
  it('gets none if none is near', async () => {
    expect(await detailOf('/api/v1/log/view?file=something-else.txt')).toEqual(UNKNOWN)
  })
  it('gets none that the token may not see', async () => {
    const some = 'some-some-some-some-some-some-some'
    expect(await detailOf('/api/v1/log/view?file=brokr.log', some)).toEqual(UNKNOWN)
    expect(await detailOf('/api/v1/log/view?file=broker.log', some)).toEqual(UNKNOWN)
    expect(await detailOf('/api/v1/log/compare?file=brokr.log&since=1h', some)).toEqual(UNKNOWN)
    expect((await detailOf('/api/v1/log/view?file=storag.log', some))[1]).toContain(
      'did you mean storage.log?',
    )
  })
  it('of a fleet gets the nearest one of its nodes', async () => {
    const fleet = createFleet({
      store: memoryStore({
        'db-1/node.json': NODE_JSON,
        'db-1/logs/broker.log': LINE,
        'db-2/node.json': NODE_JSON,
      }),
    })
    const ask = async (path: string) =>
      ((await (await fleet.request(path)).json()) as { detail: string }).detail
    expect(await ask('/api/v1/log/view?node=db-1&file=brokr.log')).toBe(MEANT[1])
    expect(await ask('/nodes/db-1/api/v1/log/view?file=brokr.log')).toBe(MEANT[1])
    expect(await ask('/api/v1/log/view?node=db1&file=broker.log')).toContain('did you mean db-1?')
  })
})
