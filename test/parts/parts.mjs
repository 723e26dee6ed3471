// Where the binaries of the parts lie. The platform packages are called directly: they need no install scripts.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the parts. */
export const partsFolder = dirname(fileURLToPath(import.meta.url))

const { platform, arch } = process
const cpu = arch === 'arm64' ? 'aarch64' : 'x64'
const deno = { linux: 'linux-$-glibc', darwin: 'darwin-$' }[platform] ?? 'win32-$'
const CANDIDATES = {
  node: [`node-${platform}-${arch}/bin/node`],
  bun: [`@oven/bun-${platform}-${cpu}/bin/bun`, `@oven/bun-${platform}-${cpu}-baseline/bin/bun`],
  deno: [`@deno/${deno.replace('$', arch)}/deno`],
  workerd: [`@cloudflare/workerd-${platform}-${arch === 'x64' ? '64' : arch}/bin/workerd`],
  esbuild: [`@esbuild/${platform}-${arch}/bin/esbuild`],
  wrangler: ['wrangler/bin/wrangler.js'],
  miniflare: ['miniflare/package.json'],
  duckdb: [`@duckdb/node-bindings-${platform}-${arch}/package.json`],
}

/** The path of a part, or null when it is not installed. */
export function findPart(name) {
  const paths = CANDIDATES[name].map((path) => join(partsFolder, 'node_modules', path))
  return paths.find((path) => existsSync(path)) ?? null
}
