import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { findPart } from '../test/parts/parts.mjs'

export const ROOT = join(import.meta.dirname, '..')

/** Where a program is, or null. */
function find(name) {
  const found = spawnSync('sh', ['-c', `command -v ${name} || ls /usr/sbin/${name} 2>/dev/null`], {
    encoding: 'utf8',
  })
  return found.stdout.trim().split('\n')[0] || null
}

const HINTS = {
  gcc: 'apt-get install gcc',
  nginx: 'apt-get install nginx-light',
  grep: 'apt-get install grep',
  bun: 'npm run serve:bun once, or put bun into PATH',
}

/** Programs next to which figures are measured where they are installed. */
const OPTIONAL = { rg: 'apt-get install ripgrep', lnav: 'apt-get install lnav' }

/** The programs that a run needs, and what is missing, each with how to get it. */
export function findTools(wantsBun) {
  const tools = {
    gcc: find('gcc'),
    nginx: find('nginx'),
    grep: find('grep'),
    ...(wantsBun && { bun: findPart('bun') ?? find('bun') }),
  }
  const missing = Object.keys(tools)
    .filter((name) => tools[name] === null)
    .map((name) => `${name} (${HINTS[name]})`)
  for (const [name, hint] of Object.entries(OPTIONAL)) {
    tools[name] = find(name)
    if (tools[name] === null) console.log(`No figures next to ${name}: it is not installed (${hint}).`)
  }
  return { tools, missing }
}

/** Compiles the load client into a directory. */
export function compileLoad(gcc, directory) {
  const path = join(directory, 'load')
  execFileSync(gcc, ['-O2', '-Wall', '-Wextra', '-o', path, join(import.meta.dirname, 'load.c')])
  return path
}

/** The first line that a program says of its version. */
export function versionOf(program, flag = '--version') {
  const { stdout, stderr } = spawnSync(program, [flag], { encoding: 'utf8' })
  return (stdout || stderr).trim().split('\n')[0]
}
