import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { cleanUp, serve, temporaryDirectory } from '../../program.ts'

const missing = spawnSync('tmux', ['-V']).error !== undefined
if (missing && process.env.NODESTATE_TEST_COMPLETE) throw new Error("Debian's tmux is missing")
const socket = `nodestate-${process.pid}`
const tmux = (...args: string[]) => execFileSync('tmux', ['-L', socket, ...args], { encoding: 'utf8' })
afterAll(async () => {
  if (!missing) spawnSync('tmux', ['-L', socket, 'kill-server'])
  await cleanUp()
})

/** The screen once it shows what is looked for. */
async function screen(shows: RegExp): Promise<string> {
  for (;;) {
    const now = tmux('capture-pane', '-p', '-e', '-t', 'main')
    if (shows.test(now)) return now
    await sleep(50)
  }
}

describe.skipIf(missing)("in a terminal (needs Debian's tmux)", () => {
  it('colors by level, shows control characters, and Ctrl-C ends it cleanly', async () => {
    const logs = join(temporaryDirectory(), 'logs')
    mkdirSync(logs)
    writeFileSync(
      join(logs, 'broker.log'),
      '2026-11-15 02:10:00.123\tERROR\ta.go:1\t[A]: first\n' +
        '2026-11-15 02:10:00.124\tINFO\ta.go:1\t[A]: \x1b]0;owned\x07 second\n',
    )
    const node = await serve(['--port=0', '--logs', logs])
    tmux('new-session', '-d', '-s', 'main', '-x', '120', '-y', '30', 'sh')
    const command = `'${process.execPath}' '${resolve('dist/entry/cli.js')}' tail ${node.url} broker.log -f; echo "exit $?"`
    tmux('send-keys', '-t', 'main', command, 'Enter')
    const shown = await screen(/second/)
    expect(shown).toContain('\x1b[31m2026-11-15 02:10:00.123')
    // The screen has spaces where the line has tabs.
    expect(tmux('capture-pane', '-p', '-t', 'main')).toMatch(
      /2026-11-15 02:10:00\.123 +ERROR +a\.go:1 +\[A\]: first$/m,
    )
    expect(shown).toContain('[A]: ^[]0;owned^G second')
    expect(tmux('display-message', '-p', '-t', 'main', '#{pane_title}')).not.toContain('owned')
    tmux('send-keys', '-t', 'main', 'C-c')
    const ended = await screen(/exit \d+/)
    expect(ended).toMatch(/exit (0|130)/)
    expect(ended).not.toMatch(/Error|node:internal/)
    const searches = ['second', '--color=never second', '--color=never -m 1 second', "-E --color 'sec|x'"]
    for (const [i, search] of searches.entries()) {
      const grep = `'${process.execPath}' '${resolve('dist/entry/cli.js')}' grep ${search} ${node.url} broker.log; echo "search ${i}: $?"`
      tmux('send-keys', '-t', 'main', `clear; ${grep}`, 'Enter')
      await screen(new RegExp(`search ${i}: \\d`))
      expect(tmux('capture-pane', '-p', '-t', 'main'), search).toContain('[A]: ^[]0;owned^G second')
    }
    expect(tmux('display-message', '-p', '-t', 'main', '#{pane_title}')).not.toContain('owned')
  })
})
