// Bundles an entry for a platform that takes no node_modules, into dist/PLATFORM.
//   node scripts/bundle.mjs worker|lambda
// Code that is imported only when needed (patterns, the page) stays a separate file.
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { build } from 'vite'

const PLATFORMS = {
  worker: {
    entry: 'src/entry/cli/worker.ts',
    decoders: 'src/store/codec/portable.ts',
    fetch: 'src/store/remote/fetch.ts',
    turns: 'src/kit/limits/edge-turns.ts',
    runtime: 'src/kit/runtime/edge.ts',
    target: 'webworker',
    conditions: ['workerd', 'worker', 'browser', 'import', 'default'],
    extension: 'js',
  },
  lambda: {
    entry: 'src/entry/cli/lambda.ts',
    decoders: 'src/store/codec/native.ts',
    fetch: 'src/store/remote/node/fetch.ts',
    turns: 'src/kit/limits/turns.ts',
    runtime: 'src/kit/runtime/native.ts',
    target: 'node',
    conditions: ['node', 'import', 'default'],
    extension: 'mjs',
  },
}
const name = process.argv[2]
const platform = PLATFORMS[name]
if (!platform) {
  console.error('Usage: node scripts/bundle.mjs worker|lambda')
  process.exit(2)
}
let core = null

/** The modules that the entry imports, and those that they import, but none that is loaded later. */
function atOnce(chunking) {
  if (core) return core
  const entry = resolve(platform.entry)
  core = new Set([entry])
  for (const id of core) for (const next of chunking.getModuleInfo(id)?.importedIds ?? []) core.add(next)
  return core
}

/** The name of a chunk after its module: `routes-config` and `node-config` rather than `config` and `config2`. */
function nameOf(module) {
  const path = module && relative(resolve('src'), module)
  return path && !path.startsWith('..') ? path.replace(/\.[jt]s$/, '').replaceAll('/', '-') : null
}

// Built aside and moved into place file by file: a worker that starts meanwhile finds each of them whole. Not in dist,
// which may be packed at the same time.
const folder = `dist/${name}`
const aside = `node_modules/.cache/nodestate-${name}-${process.pid}`
await build({
  configFile: false,
  logLevel: 'warn',
  publicDir: false,
  // package.json maps these to dist, per runtime; here everything comes from src.
  resolve: {
    alias: {
      '#decoders': resolve(platform.decoders),
      '#fetch': resolve(platform.fetch),
      '#turns': resolve(platform.turns),
      '#runtime': resolve(platform.runtime),
    },
  },
  ssr: { noExternal: true, target: platform.target, resolve: { conditions: platform.conditions } },
  build: {
    ssr: platform.entry,
    outDir: aside,
    emptyOutDir: true,
    minify: true,
    target: 'es2023',
    rolldownOptions: {
      // workerd takes every export of the entry for a handler: what the chunks share must not be among them.
      preserveEntrySignatures: 'strict',
      output: {
        format: 'es',
        // One file for all that the entry imports at once: cut into pieces it would be a tenth larger.
        codeSplitting: {
          groups: [
            {
              debugName: 'core',
              name: (id, chunking) => (atOnce(chunking).has(id) ? 'core' : null),
              priority: 1,
            },
            // Formats would take it along, and the time of a configuration does not need them.
            {
              debugName: 'clock',
              name: (id) => (id.endsWith('/src/log/wall-clock.ts') ? 'clock' : null),
              priority: 1,
            },
            { debugName: 'formats', name: (id) => (id.includes('/src/log/format/') ? 'formats' : null) },
          ],
        },
        entryFileNames: `${name}.${platform.extension}`,
        chunkFileNames: ({ facadeModuleId, name }) =>
          `${nameOf(facadeModuleId) ?? name}.${platform.extension}`,
      },
    },
  },
})
const files = readdirSync(aside)
mkdirSync(folder, { recursive: true })
for (const file of files) renameSync(join(aside, file), join(folder, file))
for (const file of readdirSync(folder)) if (!files.includes(file)) rmSync(join(folder, file))
rmSync(aside, { recursive: true })
