// One program for a host without Node: the service, the page and the commands, with Bun's runtime inside. After a build:
//   node scripts/binary.mjs                              dist/binary/nodestate-linux-x64, for this machine
//   node scripts/binary.mjs linux-arm64 darwin-arm64     for others, whose Bun is downloaded
//   node scripts/binary.mjs --root DIR                   with the libraries it needs, as the root of a container
// Bun, not Node's single executable: Node 26 alone has 150 MB, and takes three times the CPU to start and twice the memory.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findPart } from '../test/parts/parts.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const at = process.argv.indexOf('--root')
const place = at < 0 ? null : process.argv[at + 1]
const own = `${process.platform}-${process.arch}`
const targets = process.argv.slice(2, at < 0 ? undefined : at)

const bun = process.env.BUN ?? findPart('bun') ?? inModules() ?? 'bun'
for (const target of targets.length > 0 ? targets : [own]) build(target)

function build(target) {
  const to =
    place && target === own ? join(place, 'nodestate') : join(root, 'dist/binary', `nodestate-${target}`)
  mkdirSync(dirname(to), { recursive: true })
  // What a program finds in its directory must not change it: Bun would read .env and bunfig.toml there.
  const flags = ['--minify', '--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig']
  if (target !== own) flags.push(`--target=bun-${target}`)
  run(bun, ['build', '--compile', ...flags, join(root, 'dist/entry/cli/bun.js'), '--outfile', to])
  if (place) for (const library of librariesOf(to)) copy(library, join(place, library))
  console.log(to)
}

/** The shared libraries of a program, and the loader that finds them. */
function librariesOf(program) {
  const loader = ['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1'].find((path) =>
    existsSync(path),
  )
  const found = run(loader, ['--list', program]).match(/\/\S+(?= \(0x)/g)
  return new Set([loader, ...found])
}

function copy(from, to) {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
}

/** Bun, where the image installs it. */
function inModules() {
  const cpu = process.arch === 'arm64' ? 'aarch64' : 'x64'
  const path = join(root, `bun/node_modules/@oven/bun-${process.platform}-${cpu}/bin/bun`)
  return existsSync(path) ? path : null
}

function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`)
  return stdout
}
