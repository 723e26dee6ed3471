import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { cleanUp, serve, temporaryDirectory } from '../../program.ts'

afterEach(cleanUp)

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`

it('gives every answer the id of its request, and every line about it', async () => {
  const logs = temporaryDirectory()
  writeFileSync(join(logs, 'a.log'), 'one\n'.repeat(300_000))
  writeFileSync(join(logs, 'broken.toml'), 'a = 1\n')
  const config = join(logs, 'broken.toml')
  const { url, stderr, stdout } = await serve([
    '--port=0',
    '--logs',
    logs,
    '--config',
    config,
    '--log-format=json',
  ])
  const lines = () =>
    stderr()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  expect(JSON.parse(stdout())).toMatchObject({ level: 'info', url, logs })

  const asked = await fetch(`${url}/api/v1/log/view?file=a.log&size=1000000`, {
    headers: { 'X-Request-Id': 'mine-1' },
  })
  await asked.text()
  expect(asked.headers.get('X-Request-Id')).toBe('mine-1')
  const traced = await fetch(`${url}/healthz`, { headers: { traceparent: PARENT } })
  expect([traced.headers.get('X-Request-Id'), traced.headers.get('traceparent')]).toEqual([TRACE, PARENT])
  const both = await fetch(`${url}/nothing`, { headers: { 'X-Request-Id': 'mine-2', traceparent: PARENT } })
  expect([both.status, both.headers.get('X-Request-Id')]).toEqual([404, 'mine-2'])
  const made = (await fetch(`${url}/healthz`)).headers.get('X-Request-Id')
  expect(made).toMatch(/^[\da-f-]{36}$/)
  writeFileSync(config, 'a = = 1\n')
  const failed = await fetch(`${url}/api/v1/config`, { headers: { 'X-Request-Id': 'mine-3' } })
  expect([failed.status, failed.headers.get('X-Request-Id')]).toEqual([500, 'mine-3'])

  await expect.poll(() => lines().filter((line) => line.requestId === 'mine-3').length).toBe(2)
  expect(lines().map(({ requestId, traceId }) => [requestId, traceId])).toEqual([
    [undefined, undefined],
    ['mine-1', undefined],
    [TRACE, undefined],
    ['mine-2', TRACE],
    [made, undefined],
    ['mine-3', undefined],
    ['mine-3', undefined],
  ])
  expect(lines().map(({ level }) => level)).toEqual(['info', 'info', 'info', 'info', 'info', 'error', 'info'])
})
