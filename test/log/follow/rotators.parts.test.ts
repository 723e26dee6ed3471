import { execFileSync, spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { faultOf } from '../../support/log-clients.ts'
import {
  expectAll,
  type Lines,
  program,
  ROTATIONS,
  WHEN_TOLD,
  watched as watchedIn,
} from '../../support/rotated.ts'

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

let root: string
let folder: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'nodestate-rotators-'))
  folder = join(root, 'log')
  mkdirSync(folder)
})
afterEach(() => rmSync(root, { recursive: true }))
const path = (name: string) => join(folder, name)

/** Names with seconds need more than one between two rotations. */
const OVER_A_SECOND = 1100

/** Writes by name, as a program that opens its log again after a rotation, and rotates by a command after `ms`. */
async function byName(lines: Lines, rotate: (n: number) => void, ms = 400): Promise<void> {
  for (let n = 0; n <= ROTATIONS; n++) {
    const until = Date.now() + ms
    while (Date.now() < until) {
      for (let i = 0; i < 5; i++) appendFileSync(path('app.log'), lines.next())
      await lines.pace()
      await sleep(5)
    }
    if (n < ROTATIONS) rotate(n)
  }
}

/** Writes into a rotator that rotates by itself, until it has done so often enough. */
async function byPipe(lines: Lines, command: string, args: string[], rotated: () => number): Promise<void> {
  const child = spawn(command, args, { cwd: folder, stdio: ['pipe', 'ignore', 'inherit'] })
  const gone = new Promise((resolve) => child.once('close', resolve))
  while (rotated() < ROTATIONS) {
    for (let i = 0; i < 5; i++) child.stdin.write(lines.next())
    await lines.pace()
    await sleep(5)
  }
  for (let i = 0; i < 5; i++) child.stdin.write(lines.next())
  child.stdin.end()
  await gone
}

const watched = (file: () => string, write: (lines: Lines) => Promise<void>) =>
  watchedIn({ folder, file, write })

const logrotate = program('logrotate', 'logrotate')
describe.skipIf(logrotate.missing)(`logrotate ${logrotate.missing ?? ''}`, { retry: WHEN_TOLD }, () => {
  const rotateWith = (rules: string) => {
    writeFileSync(
      join(root, 'conf'),
      `${path('app.log')} {\n rotate 20\n su root root\n${rules.replaceAll(', ', '\n')}\n}\n`,
    )
    return () => execFileSync(logrotate.path, ['-f', '-s', join(root, 'state'), join(root, 'conf')])
  }

  it.each([
    ['create', 'create'],
    ['nocreate', 'nocreate'],
    ['copytruncate', 'copytruncate'],
    ['compressed at once', 'compress, create'],
    ['compressed a turn later', 'compress, delaycompress, create'],
    ['extension', 'extension .log, create'],
    ['extension, compressed', 'extension .log, compress, create'],
    ['dateext', 'dateext, dateformat -%Y%m%d-%s, create'],
    ['epoch', 'dateext, dateformat -%s, create'],
  ])(
    '%s',
    async (_, rules) => {
      const rotate = rotateWith(rules)
      expectAll(
        await watched(
          () => 'app.log',
          (lines) => byName(lines, rotate, rules.includes('%s') ? OVER_A_SECOND : undefined),
        ),
      )
      expect(readdirSync(folder).length).toBeGreaterThan(ROTATIONS)
    },
    120_000,
  )

  it('olddir: what is no longer listed is a gap that is told, and nothing comes twice', async () => {
    mkdirSync(join(root, 'old'))
    const rotate = rotateWith(`olddir ${join(root, 'old')}, create`)
    const results = await watched(
      () => 'app.log',
      (lines) => byName(lines, rotate),
    )
    expect(results.map((got) => faultOf(got, true)).filter(Boolean)).toEqual([])
    for (const got of results) if (faultOf(got) !== null) expect(got.told, got.who).toContain('gap')
  }, 120_000)
})

const savelog = program('savelog', 'debianutils')
describe.skipIf(savelog.missing)(`savelog ${savelog.missing ?? ''}`, { retry: WHEN_TOLD }, () => {
  it('numbers from 0', async () => {
    const rotate = () => execFileSync(savelog.path, ['-c', '20', '-n', '-t', 'app.log'], { cwd: folder })
    expectAll(
      await watched(
        () => 'app.log',
        (lines) => byName(lines, rotate),
      ),
    )
  }, 120_000)
})

const rotatelogs = program('rotatelogs', 'apache2-utils')
describe.skipIf(rotatelogs.missing)(`rotatelogs ${rotatelogs.missing ?? ''}`, { retry: WHEN_TOLD }, () => {
  const rotated = () => readdirSync(folder).filter((name) => name !== 'latest').length - 1
  const newest = () =>
    readdirSync(folder)
      .filter((name) => name !== 'latest')
      .sort()
      .at(-1)!

  it('seconds since 1970', async () => {
    const write = (lines: Lines) => byPipe(lines, rotatelogs.path, ['access.log', '1'], rotated)
    expectAll(await watched(newest, write))
  }, 120_000)

  it('dates with an underscore', async () => {
    const args = ['access_%Y_%m_%d_%H_%M_%S.log', '1']
    expectAll(await watched(newest, (lines) => byPipe(lines, rotatelogs.path, args, rotated)))
  }, 120_000)

  it('a hard link to the newest file', async () => {
    const write = (lines: Lines) =>
      byPipe(lines, rotatelogs.path, ['-L', 'latest', 'access.log', '1'], rotated)
    expectAll(await watched(() => 'latest', write))
  }, 120_000)

  it('round in a circle', async () => {
    // The circle has more files than there are rotations, so that nothing is overwritten that was not read.
    const write = (lines: Lines) => byPipe(lines, rotatelogs.path, ['-n', '20', 'access.log', '20K'], rotated)
    expectAll(await watched(() => 'access.log', write))
  }, 120_000)
})

const svlogd = program('svlogd', 'runit')
describe.skipIf(svlogd.missing)(`svlogd ${svlogd.missing ?? ''}`, { retry: WHEN_TOLD }, () => {
  it('@4000….s and current', async () => {
    writeFileSync(path('config'), 's20000\nn50\n')
    const rotated = () => readdirSync(folder).filter((name) => name.startsWith('@')).length
    expectAll(
      await watched(
        () => 'current',
        (lines) => byPipe(lines, svlogd.path, ['-b', '8192', '.'], rotated),
      ),
    )
  }, 120_000)
})

const multilog = program('multilog', 'daemontools')
describe.skipIf(multilog.missing)(`multilog ${multilog.missing ?? ''}`, { retry: WHEN_TOLD }, () => {
  it('@4000….s and current', async () => {
    const rotated = () => readdirSync(folder).filter((name) => name.startsWith('@')).length
    const write = (lines: Lines) => byPipe(lines, multilog.path, ['s20000', 'n50', '.'], rotated)
    expectAll(await watched(() => 'current', write))
  }, 120_000)
})
