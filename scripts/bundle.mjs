// Bundles an entry for a platform that takes no node_modules, into dist/PLATFORM.
//   node scripts/bundle.mjs worker|lambda
// What is imported only when it is needed (patterns, the page) stays a file of its own.
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'

const PLATFORMS = {
  worker: {
    target: 'webworker',
    conditions: ['workerd', 'worker', 'browser', 'import', 'default'],
    extension: 'js',
  },
  lambda: { target: 'node', conditions: ['node', 'import', 'default'], extension: 'mjs' },
}
const name = process.argv[2]
const platform = PLATFORMS[name]
if (!platform) {
  console.error('Usage: node scripts/bundle.mjs worker|lambda')
  process.exit(2)
}
// Built aside and moved into place file by file: a worker that starts meanwhile finds each of them whole.
const folder = `dist/${name}`
const aside = `${folder}-${process.pid}`
await build({
  configFile: false,
  logLevel: 'warn',
  publicDir: false,
  ssr: { noExternal: true, target: platform.target, resolve: { conditions: platform.conditions } },
  build: {
    ssr: `src/entry/${name}.ts`,
    outDir: aside,
    emptyOutDir: true,
    minify: true,
    target: 'es2023',
    rolldownOptions: {
      // workerd takes every export of the entry for a handler: what the chunks share must not be among them.
      preserveEntrySignatures: 'strict',
      output: {
        format: 'es',
        codeSplitting: true,
        entryFileNames: `${name}.${platform.extension}`,
        chunkFileNames: `[name].${platform.extension}`,
      },
    },
  },
})
const files = readdirSync(aside)
mkdirSync(folder, { recursive: true })
for (const file of files) renameSync(join(aside, file), join(folder, file))
for (const file of readdirSync(folder)) if (!files.includes(file)) rmSync(join(folder, file))
rmSync(aside, { recursive: true })
