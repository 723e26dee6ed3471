import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { cleanUp, launch, serve, temporaryDirectory } from '../../program.ts'

afterEach(() => cleanUp())

const ask = async (url: string, path: string, token: string) =>
  (await fetch(url + path, { headers: { Authorization: `Bearer ${token}` } })).status

it('nodestate token prints a token and its digest, and --tokens takes either', async () => {
  const made = launch(['token'])
  expect(await made.exited).toBe(0)
  const [token, digest, ...rest] = made.stdout().split('\n')
  expect(digest).toBe(`sha256:${createHash('sha256').update(token!).digest('hex')}`)
  expect(rest).toEqual([''])

  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'logs'))
  writeFileSync(join(folder, 'logs/a.log'), 'a\n')
  const file = join(folder, 'tokens.toml')
  writeFileSync(
    file,
    `[[tokens]]\nname = "grafana"\ntoken = "${digest}"\nscopes = ["logs"]\n[[tokens]]\nname = "ops"\ntoken = "plain"\n`,
  )
  const args = ['--port', '0', '--host', '0.0.0.0', '--logs', join(folder, 'logs'), '--tokens', file]
  const { url, stderr } = await serve(args)
  expect(await ask(url, '/api/v1/log/list', token!)).toBe(200)
  expect(await ask(url, '/api/v1/config', token!)).toBe(403)
  expect(await ask(url, '/api/v1/config', 'plain')).toBe(200)
  expect(await ask(url, '/api/v1/config', 'wrong')).toBe(401)

  // Renamed into place, the old tokens are gone; broken, nothing changes.
  writeFileSync(`${file}.new`, '[[tokens]]\nname = "next"\ntoken = "next"\n')
  renameSync(`${file}.new`, file)
  expect(await ask(url, '/api/v1/config', 'plain')).toBe(401)
  expect(await ask(url, '/api/v1/config', 'next')).toBe(200)
  writeFileSync(file, '[[tokens]]\nname = "broken"\ntoken = "hunter2')
  expect(await ask(url, '/api/v1/config', 'hunter2')).toBe(401)
  expect(await ask(url, '/api/v1/config', 'next')).toBe(200)
  await expect.poll(stderr).toContain('its last tokens stay valid')

  expect(stderr()).toMatch(/GET \/api\/v1\/log\/list 200\t.*"client":"grafana"/)
  expect(stderr()).toMatch(/GET \/api\/v1\/config 403\t.*"client":"grafana"/)
  expect(stderr()).toMatch(/GET \/api\/v1\/config 200\t.*"client":"next"/)
  for (const secret of [token!, 'plain', 'hunter2']) expect(stderr()).not.toContain(secret)
})

it('a tokens file that cannot be used keeps the service from starting', async () => {
  const folder = temporaryDirectory()
  writeFileSync(join(folder, 'tokens.toml'), '[[token]]\nname = "hunter2"\n')
  const { exited, stderr } = launch(['--port', '0', '--tokens', join(folder, 'tokens.toml')])
  expect(await exited).toBe(1)
  expect(stderr()).toMatch(
    /^nodestate: Cannot use --tokens ".*": It may only have \[\[tokens\]\] tables\.\n$/,
  )
})
