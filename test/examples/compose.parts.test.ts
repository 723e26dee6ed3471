import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parseDocument } from 'yaml'
import { cleanUp, serve } from '../program.ts'
import { lacking } from '../support/parts.ts'

const file = resolve('examples/compose/compose.yaml')
const document = parseDocument(readFileSync(file, 'utf8'))
const { services, volumes } = document.toJS()
const { db, nodestate } = services

const LIB = '/usr/lib/postgresql'
const bin = existsSync(LIB) ? join(LIB, readdirSync(LIB).sort().at(-1)!, 'bin') : null
const missing = bin ? null : lacking('PostgreSQL is not installed: apt-get install postgresql')

const folder = mkdtempSync(join(tmpdir(), 'nodestate-compose-'))
afterAll(async () => {
  await cleanUp()
  rmSync(folder, { recursive: true, force: true })
})

describe('compose', () => {
  it('is valid, and gives nodestate the logs to read and nothing else', () => {
    expect([...document.errors, ...document.warnings]).toEqual([])
    const [volume, place] = db.volumes[0].split(':')
    expect(volumes).toHaveProperty(volume)
    expect(db.command).toContain(`log_directory=${place}`)
    expect(nodestate.volumes).toEqual([`${volume}:/logs:ro`])
    expect(nodestate).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
    expect(nodestate.ports).toEqual(['127.0.0.1:9000:9000'])
    const { context, dockerfile } = nodestate.build
    expect(existsSync(resolve(file, '..', context, dockerfile))).toBe(true)
  })

  it('is not up without a token and a password', () => {
    // `:?` makes Compose refuse a variable that is unset or empty.
    expect(nodestate.environment.NODESTATE_TOKEN).toBe(`\${TOKEN:?}`)
    expect(db.environment.POSTGRES_PASSWORD).toBe(`\${POSTGRES_PASSWORD:?}`)
  })

  it.skipIf(missing)(
    `shows the log of a PostgreSQL that was started by its command${missing ? ` (${missing})` : ''}`,
    async () => {
      const logs = join(folder, 'logs')
      mkdirSync(logs)
      for (const one of [folder, logs]) chmodSync(one, 0o777)
      const data = join(folder, 'data')
      // PostgreSQL does not run as root.
      const nobody =
        process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []
      const as = (command: string[]): [string, string[]] => {
        const [first, ...rest] = [...nobody, ...command]
        return [first!, rest]
      }
      const made = spawnSync(...as([join(bin!, 'initdb'), '-D', data, '-U', 'postgres']), {
        encoding: 'utf8',
      })
      expect(made.status, made.stderr).toBe(0)
      const command = db.command.map((word: string) => word.replace('/var/log/postgresql', logs))
      const quiet = ['-D', data, '-k', folder, '-c', 'listen_addresses=']
      const child = spawn(...as([join(bin!, command[0]), ...command.slice(1), ...quiet]), { stdio: 'ignore' })
      const ended = once(child, 'close')
      try {
        const args = nodestate.command.map((word: string) => word.replace('/logs', logs))
        const env = { NODESTATE_TOKEN: 's3cret', NODESTATE_PORT: '0', NODESTATE_LOG_LEVEL: 'off' }
        const { url } = await serve(['serve', ...args], { env })
        const ask = async (path: string) =>
          (await fetch(`${url}/api/v1/log/${path}`, { headers: { Authorization: 'Bearer s3cret' } })).text()
        const name = async () => (JSON.parse(await ask('list')) as { name: string }[])[0]?.name
        await expect.poll(name).toMatch(/^postgresql-.*\.log$/)
        const view = `view?file=${await name()}&format=ndjson&q=ready to accept connections`
        await expect.poll(() => ask(view)).not.toBe('')
        expect(JSON.parse(await ask(view))).toMatchObject({
          message: expect.stringContaining('database system is ready to accept connections'),
          time: expect.any(String),
        })
      } finally {
        child.kill('SIGINT')
        await ended
      }
    },
  )
})
