import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { cleanUp, serve, temporaryDirectory } from '../../program.ts'

afterAll(cleanUp)

const DIGESTED = 'only-its-digest-is-known.0123456789'
const PLAIN = 'plain+token/of=the.file'
const SINGLE = 'single-token-of-the-flag'

it('no token that the process knows is in what it writes, wherever a client puts it', async () => {
  const folder = temporaryDirectory()
  const audit = join(folder, 'audit.jsonl')
  const digest = createHash('sha256').update(DIGESTED).digest('hex')
  writeFileSync(
    join(folder, 'tokens.toml'),
    `[[tokens]]\nname = "one"\ntoken = "sha256:${digest}"\n[[tokens]]\nname = "two"\ntoken = "${PLAIN}"\n`,
  )
  writeFileSync(join(folder, 'a.log'), 'x\n')
  const program = await serve(
    ['--logs', folder, '--tokens', join(folder, 'tokens.toml'), '--audit-file', audit, '--log-level', 'info'],
    { env: { NODESTATE_TOKEN: SINGLE } },
  )
  for (const token of [DIGESTED, PLAIN, SINGLE])
    for (const [i, auth] of [token, SINGLE, ''].entries()) {
      const encoded = encodeURIComponent(token)
      const headers = {
        'X-Request-Id': token.replace(/[^\w.-]/g, '_') === token ? token : `id-${i}`,
        ...(auth && { Authorization: `Bearer ${auth}` }),
      }
      for (const target of [
        `/api/v1/log/view?file=${encoded}`,
        `/api/v1/log/view?file=a.log&q=${token === DIGESTED ? 'a%20' : 'prefix-'}${encoded}`,
        `/api/v1/log/view?file=a.log&q=${encoded}&x=${encodeURIComponent(encoded)}`,
        `/${encoded}/api/v1/log/list`,
        `/a/${token}`,
        `/?${token}`,
      ])
        await (await fetch(`${program.url}${target}`, { headers })).arrayBuffer()
    }
  program.child.kill()
  await program.exited
  const written = program.stderr() + program.stdout() + readFileSync(audit, 'utf8')
  expect(written).toContain('/api/v1/log/view?file=***')
  expect(readFileSync(audit, 'utf8').trim().split('\n')).toHaveLength(54)
  const decoded = decodeURIComponent(decodeURIComponent(written.replace(/%(?![\da-f]{2})/gi, '')))
  for (const token of [DIGESTED, PLAIN, SINGLE])
    for (const text of [written, decoded]) expect(text.includes(token), token).toBe(false)
})

it('CONNECT is audited and logged, and a header of coordinators is reported once, without a stack', async () => {
  const folder = temporaryDirectory()
  const audit = join(folder, 'audit.jsonl')
  writeFileSync(join(folder, 'a.log'), 'x\n')
  const program = await serve([
    '--logs',
    folder,
    '--peer',
    'db-1=http://127.0.0.1:9',
    '--peer-self',
    'me',
    '--insecure',
    '--audit-file',
    audit,
  ])
  const { port } = new URL(program.url)
  const status = await new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', method: 'CONNECT', path: `evil.example:443` })
    asked.on('connect', (response, socket) => {
      socket.destroy()
      resolve(response.statusCode)
    })
    asked.on('error', reject)
    asked.end()
  })
  expect(status).toBe(405)
  for (let i = 0; i < 5; i++) {
    const answer = await fetch(`${program.url}/api/v1/nodes`, { headers: { 'X-Nodestate-Hop': '1' } })
    expect(answer.status).toBe(508)
  }
  program.child.kill()
  await program.exited
  const lines = readFileSync(audit, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.find(({ method }) => method === 'CONNECT')).toMatchObject({
    url: 'evil.example:443',
    status: 405,
    address: '127.0.0.1',
  })
  const log = program.stderr().split('\n')
  expect(log.filter((line) => line.includes('CONNECT evil.example:443 405'))).toHaveLength(1)
  const told = log.filter((line) => line.includes('came from a coordinator'))
  expect(told).toHaveLength(1)
  expect(told[0]).toContain('\tWARN\t')
  expect(told[0]).not.toContain('stack')
})
