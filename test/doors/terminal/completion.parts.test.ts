import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, serve, temporaryDirectory } from '../../program.ts'

const isThere = (program: string, ...args: string[]) => spawnSync(program, args).error === undefined
const missing = [
  ...(isThere('tmux', '-V') ? [] : ['tmux']),
  ...['bash', 'zsh', 'fish'].filter((shell) => !isThere(shell, '--version')),
]
if (missing.length > 0 && process.env.NODESTATE_TEST_COMPLETE)
  throw new Error(`Debian's ${missing.join(', ')} missing`)

const socket = `nodestate-completion-${process.pid}`
const tmux = (...args: string[]) => execFileSync('tmux', ['-L', socket, ...args], { encoding: 'utf8', env })
const folder = temporaryDirectory()
const logs = join(folder, 'logs')
const bin = join(folder, 'bin')
const work = join(folder, 'work')
/** Of the tmux server, and so of the shells. */
const env: NodeJS.ProcessEnv = {
  ...process.env,
  LC_ALL: 'C.UTF-8',
  HOME: work,
  PATH: `${bin}:${process.env.PATH}`,
}

/** What is typed, in each shell's own quoting, and the file that it must complete to. */
const NAMES: [name: string, typed: string][] = [
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell must not expand it either
  ['$(touch${IFS}pwned).log', '\\$'],
  ['`touch pwned`.log', '\\`'],
  ['a b.log', 'a'],
  ["it's.log", 'it'],
  ['double"quote".log', 'dou'],
  ['semi;touch pwned;.log', 'semi'],
  ['redirect>pwned.log', 'red'],
  ['tilde~{x,y}*?[a].log', 'til'],
  ['hash#!.log', 'hash'],
  ['colon:12:x.log', 'col'],
  ['größe €.log', 'gr'],
  ['|touch pwned|.log', '\\|'],
  ['&touch pwned&.log', '\\&'],
]

beforeAll(async () => {
  for (const directory of [logs, bin, work]) mkdirSync(directory)
  for (const [name] of NAMES) writeFileSync(join(logs, name), 'x\n')
  writeFileSync(join(logs, '-n.log'), 'x\n')
  writeFileSync(join(logs, 'new\nline.log'), 'x\n')
  env.NODESTATE_URL = (await serve(['--port=0', '--logs', logs])).url
  // `tail` records its arguments; everything else is the real program.
  const program = `#!/bin/sh
if [ "$1" = tail ]; then shift; for a in "$@"; do printf '%s\\0' "$a"; done > "${folder}/got.$$"; mv "${folder}/got.$$" "${folder}/got"; exit; fi
exec '${process.execPath}' '${resolve('dist/entry/cli.js')}' "$@"
`
  writeFileSync(join(bin, 'nodestate'), program)
  chmodSync(join(bin, 'nodestate'), 0o755)
})

afterAll(async () => {
  spawnSync('tmux', ['-L', socket, 'kill-server'])
  await cleanUp()
})

const SHELLS: Record<string, { command: string; set: string; script: string }> = {
  bash: {
    command: 'bash --norc --noprofile',
    set: 'PS1="ready$ "',
    script: 'source <(nodestate completion bash)',
  },
  zsh: {
    command: 'zsh -f',
    set: 'PS1="ready$ "; autoload -U compinit; compinit -u -D; unsetopt auto_menu auto_list list_beep',
    script: 'source <(nodestate completion zsh)',
  },
  fish: {
    command: 'fish --no-config --private',
    set: "function fish_prompt; echo -n 'ready$ '; end; bind \\t complete",
    script: 'nodestate completion fish | source',
  },
}

describe.skipIf(missing.length > 0).each(Object.entries(SHELLS))(
  "%s completes names as data (needs Debian's tmux, zsh and fish)",
  (shell, { command, set, script }) => {
    const type = (...keys: string[]) => tmux('send-keys', '-t', shell, ...keys)
    const shown = () => tmux('capture-pane', '-p', '-t', shell)

    beforeAll(async () => {
      tmux('-u', 'new-session', '-d', '-s', shell, '-x', '150', '-y', '40', '-c', work, command)
      await sleep(500)
      type('-l', set)
      type('Enter')
      type('-l', `${script}; echo loa''ded`)
      type('Enter')
      while (!shown().includes('loaded')) await sleep(50)
    })

    it.each(NAMES)('%s', async (name, typed) => {
      spawnSync('rm', ['-f', join(folder, 'got')])
      type('-l', `nodestate tail ${typed}`)
      type('Tab')
      // The end of every name is on the line once it is completed, whatever its quotes.
      await expect.poll(shown).toMatch(/\.log\S* *$/m)
      type('Enter')
      await expect.poll(() => existsSync(join(folder, 'got'))).toBe(true)
      const got = execFileSync('cat', [join(folder, 'got')], { encoding: 'utf8' })
      expect(got.split('\0').slice(0, -1)).toEqual([name])
      expect(readdirSync(work).filter((file) => /pwned/.test(file))).toEqual([])
      type('-l', ' clear')
      type('Enter')
      await expect.poll(shown).not.toContain('tail')
    })

    it('runs nothing when it lists all of them', async () => {
      type('-l', 'nodestate tail ')
      type('Tab')
      type('Tab')
      await sleep(2000)
      type('C-c')
      expect(readdirSync(work).filter((file) => /pwned/.test(file))).toEqual([])
    })
  },
)
