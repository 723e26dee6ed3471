// Installs the heavy parts of the tests when they are missing or their lock has changed.
//   node test/parts/install.mjs          Bun, Deno, workerd, a newer Node
//   node test/parts/install.mjs long     ClickHouse and the linters of what is released
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SETS = {
  '': 'the parts of the tests (Bun, Deno, workerd, a newer Node): about 600 MB',
  long: 'the parts of the long tests (ClickHouse, Kustomize, linters, clients of MCP): about 760 MB',
}
const name = process.argv[2] ?? ''
if (!(name in SETS)) throw new Error(`There are no parts named ${name}.`)
const here = join(dirname(fileURLToPath(import.meta.url)), name)
const mark = join(here, 'node_modules', '.installed')
const wanted = createHash('sha256')
  .update(readFileSync(join(here, 'package-lock.json')))
  .update(`${process.platform}-${process.arch}`)
  .digest('hex')

if (!existsSync(mark) || readFileSync(mark, 'utf8') !== wanted) {
  console.error(`Installing ${SETS[name]}, once.`)
  // No install scripts: they only link what the platform packages hold, and the tests call those directly.
  // `npm ci` refuses the long set: its optional packages for other platforms are not in every registry, nor in the lock.
  const install = name === 'long' ? ['install', '--no-save'] : ['ci']
  const args = [...install, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const { status } = spawnSync(npm, args, { cwd: here, stdio: ['ignore', 2, 2] })
  if (status !== 0) {
    console.error('The parts could not be installed: check the network. `npm test` needs none of them.')
    process.exit(status ?? 1)
  }
  writeFileSync(mark, wanted)
}
