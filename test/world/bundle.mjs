import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'vite'

/** Constants that are other ones in a world. */
const CONSTANTS = [
  // A search takes 40 MB of address space, and one is kept for the next. In a world, where searches overlap all the
  // time, making another cost more than everything else together.
  { file: '/src/log/scanner/scanner.ts', from: 'const MAX_IDLE = 1\n', to: 'const MAX_IDLE = 3\n' },
  // Logs are small here: with segments of a quarter of a MiB, no life would have two.
  { file: '/src/segment/names.ts', from: 'SMALLEST_SEGMENT = 256 * 1024\n', to: 'SMALLEST_SEGMENT = 1024\n' },
  { file: '/src/segment/names.ts', from: 'TAIL_BYTES = 64 * 1024\n', to: 'TAIL_BYTES = 512\n' },
]

const constants = {
  name: 'constants',
  enforce: 'pre',
  transform(code, id) {
    const own = CONSTANTS.filter(({ file }) => id.endsWith(file))
    if (own.length === 0) return null
    return {
      code: own.reduce((text, { from, to }) => {
        if (!text.includes(from)) throw new Error(`${id} has changed: adapt test/world/bundle.mjs`)
        return text.replace(from, to)
      }, code),
      map: null,
    }
  },
}

/**
 * Bundles the simulator with the sources of a directory into one file, with nothing left that is loaded later: an
 * import that waits for the disk would be a call that no seed decides. Returns the file's address and what removes it.
 */
export async function bundle(root = resolve(import.meta.dirname, '../..')) {
  const outDir = mkdtempSync(join(tmpdir(), 'nodestate-world-'))
  const at = (path) => join(root, path)
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    publicDir: false,
    plugins: [constants],
    resolve: {
      alias: {
        // What is synchronous, and asks neither the machine nor the clock.
        '#decoders': at('src/codec/portable.ts'),
        '#fetch': at('src/store/remote/fetch.ts'),
        '#turns': at('src/limits/edge-turns.ts'),
        '#runtime': at('src/runtime/edge.ts'),
      },
    },
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: at('test/world/main.ts'),
      outDir,
      emptyOutDir: true,
      minify: false,
      sourcemap: 'inline',
      target: 'es2023',
      rolldownOptions: { output: { format: 'es', codeSplitting: false, entryFileNames: 'world.mjs' } },
    },
  })
  const file = join(outDir, 'world.mjs')
  return { url: pathToFileURL(file).href, remove: () => rmSync(outDir, { recursive: true, force: true }) }
}
