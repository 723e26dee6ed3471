import { execFileSync, spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { cleanUp, serve, temporaryDirectory } from '../program.ts'

afterEach(cleanUp)

const check = (url: string) =>
  spawnSync(process.execPath, [resolve('dist/entry/cli.js'), 'health', new URL(url).port]).status
const openssl = spawnSync('openssl', ['version']).status === 0

it('passes while the service answers, and fails when nothing does', async () => {
  const { url, child, exited } = await serve(['--port=0', '--logs', temporaryDirectory()])
  expect(check(url)).toBe(0)
  child.kill()
  await exited
  expect(check(url)).toBe(1)
})

it.skipIf(!openssl)('passes under TLS (with the openssl program, for a certificate)', async () => {
  const folder = temporaryDirectory()
  const [cert, key] = [`${folder}/cert.pem`, `${folder}/key.pem`]
  const args = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=db-4 -out ${cert} -keyout ${key}`
  execFileSync('openssl', args.split(' '), { stdio: 'ignore' })
  const { url } = await serve([
    '--port=0',
    '--logs',
    temporaryDirectory(),
    '--tls-cert',
    cert,
    '--tls-key',
    key,
  ])
  expect(check(url)).toBe(0)
})
