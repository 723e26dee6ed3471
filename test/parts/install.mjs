// Installs the heavy parts of the tests (runtimes, local buckets) when they are missing or their lock has changed.
//   node test/parts/install.mjs
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const mark = join(here, 'node_modules', '.installed')
const wanted = createHash('sha256')
  .update(readFileSync(join(here, 'package-lock.json')))
  .update(`${process.platform}-${process.arch}`)
  .digest('hex')

if (!existsSync(mark) || readFileSync(mark, 'utf8') !== wanted) {
  console.error('Installing the parts of the tests (Bun, Deno, workerd, a newer Node): about 600 MB, once.')
  // No install scripts: they only link what the platform packages hold, and the tests call those directly.
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const { status } = spawnSync(npm, args, { cwd: here, stdio: ['ignore', 2, 2] })
  if (status !== 0) {
    console.error(
      'The parts could not be installed: check the network, or run `npm run test:unit` without them.',
    )
    process.exit(status ?? 1)
  }
  writeFileSync(mark, wanted)
}
