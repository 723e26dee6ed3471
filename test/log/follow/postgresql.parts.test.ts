import { execFileSync, spawn } from 'node:child_process'
import { appendFileSync, chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectAll, type Lines, program, ROTATIONS, watched } from '../../support/rotated.ts'

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const VERSIONS = '/usr/lib/postgresql'
const folders = existsSync(VERSIONS)
  ? readdirSync(VERSIONS).map((version) => join(VERSIONS, version, 'bin'))
  : []
const pgCtl = program('pg_ctl', 'postgresql', folders)
const bin = (name: string) => join(pgCtl.path, '..', name)

/** PostgreSQL does not run as root. */
function asPostgres(command: string, args: string[]): [command: string, args: string[]] {
  if (process.getuid!() !== 0) return [command, args]
  return ['setpriv', ['--reuid=postgres', '--regid=postgres', '--init-groups', command, ...args]]
}

let root: string
let data: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'nodestate-postgresql-'))
  chmodSync(root, 0o777)
  data = join(root, 'data')
})
afterEach(() => {
  if (existsSync(join(data, 'postmaster.pid'))) run(pgCtl.path, ['stop', '-D', data, '-m', 'immediate'])
  rmSync(root, { recursive: true })
})

function run(command: string, args: string[]): void {
  execFileSync(...asPostgres(command, args), { cwd: root, stdio: 'ignore' })
}

/** Starts a server whose collector writes to `folder()`. */
function start(settings: string): void {
  run(bin('initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync'])
  appendFileSync(
    join(data, 'postgresql.conf'),
    `
listen_addresses = ''
unix_socket_directories = '${root}'
fsync = off
logging_collector = on
log_directory = 'log'
log_filename = 'postgresql-%Y-%m-%d_%H%M%S.log'
log_error_verbosity = terse
log_min_error_statement = panic
${settings}
`,
  )
  run(pgCtl.path, ['start', '-D', data, '-w', '-l', join(root, 'start.log')])
}

const folder = () => join(data, 'log')
const filesEnding = (ending: string) =>
  readdirSync(folder())
    .filter((name) => name.endsWith(ending))
    .sort()

/** One session logs line after line; now and then it calls `rotate`, if the server does not rotate by itself. */
async function logged(lines: Lines, ending: string, rotate: string): Promise<void> {
  const args = ['-h', root, '-U', 'postgres', '-d', 'postgres', '-q', '-o', '/dev/null']
  const session = spawn(...asPostgres(bin('psql'), args), { cwd: root, stdio: ['pipe', 'ignore', 'inherit'] })
  const gone = new Promise((resolve) => session.once('close', resolve))
  const more = () => {
    for (let i = 0; i < 5; i++) session.stdin.write(`DO $$ BEGIN RAISE LOG '${lines.text()}'; END $$;\n`)
  }
  for (let files = filesEnding(ending).length; files <= ROTATIONS; files = filesEnding(ending).length) {
    // A name holds the second: two rotations within one would write to the same file.
    const next = Date.now() + 1100
    while (Date.now() < next || (rotate === '' && filesEnding(ending).length <= files)) {
      more()
      await lines.pace()
      await sleep(10)
    }
    session.stdin.write(rotate)
  }
  more()
  session.stdin.end()
  await gone
}

const ROTATE = 'SELECT pg_rotate_logfile();\n'

describe.skipIf(pgCtl.missing)(`PostgreSQL's collector ${pgCtl.missing ?? ''}`, () => {
  it.each([
    ['by command', '.log', ROTATE, ''],
    ['by size', '.log', '', 'log_rotation_size = 40'],
    ['jsonlog', '.json', ROTATE, "log_destination = 'jsonlog'"],
    ['csvlog', '.csv', ROTATE, "log_destination = 'csvlog'"],
  ])(
    'rotates %s',
    async (_, ending, rotate, settings) => {
      start(settings)
      const results = await watched({
        folder: folder(),
        file: () => filesEnding(ending).at(-1)!,
        write: (lines) => logged(lines, ending, rotate),
      })
      expectAll(results)
      expect(filesEnding(ending).length).toBeGreaterThan(ROTATIONS)
    },
    120_000,
  )
})
