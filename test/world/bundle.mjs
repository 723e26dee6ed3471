import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'vite'

/** Constants that are other ones in a world. */
const CONSTANTS = [
  // A search takes 40 MB of address space, and one is kept for the next. In a world, where searches overlap all the
  // time, making another cost more than everything else together.
  { file: 'src/log/scanner/scanner.ts', from: 'const MAX_IDLE = 1', to: 'const MAX_IDLE = 3' },
  // What is never handed back would be freed whenever the garbage collector finds it: no seed decides that.
  {
    file: 'src/kit/limits/memory-budget.ts',
    from: ': new FinalizationRegistry<() => void>((release) => release())',
    to: ': null',
  },
  // Logs are small here.
  { file: 'src/store/segment/names.ts', from: 'TAIL_BYTES = 64 * 1024', to: 'TAIL_BYTES = 512' },
]

/** Where a text is in a file, whatever the white space between its words; null unless it is there exactly once. */
export function placeOf(text, code) {
  const words = text.trim().split(/\s+/)
  const pattern = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('\\s+')
  const found = [...code.matchAll(new RegExp(pattern, 'g'))]
  return found.length === 1 ? { from: found[0].index, to: found[0].index + found[0][0].length } : null
}

const edited = (edits) => ({
  name: 'edited',
  enforce: 'pre',
  transform(code, id) {
    const own = edits.filter(({ file }) => id.endsWith(`/${file}`))
    if (own.length === 0) return null
    const result = own.reduce((text, { from, to }) => {
      const place = placeOf(from, text)
      if (!place) throw new Error(`${id} has changed: it has no "${from}"`)
      return text.slice(0, place.from) + to + text.slice(place.to)
    }, code)
    return { code: result, map: null }
  },
})

const root = resolve(import.meta.dirname, '../..')

/**
 * Bundles the simulator with the sources into one file, with nothing left that is loaded later: an import that waits for
 * the disk would be a call that no seed decides. `edits` are made in the sources on the way, as `{ file, from, to }`.
 * Returns the file's address and what removes it.
 */
export async function bundle(edits = []) {
  const outDir = mkdtempSync(join(tmpdir(), 'nodestate-world-'))
  const at = (path) => join(root, path)
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    publicDir: false,
    plugins: [edited([...CONSTANTS, ...edits])],
    resolve: {
      alias: {
        // What is synchronous, and asks neither the machine nor the clock.
        '#decoders': at('src/store/codec/portable.ts'),
        '#fetch': at('src/store/remote/fetch.ts'),
        '#turns': at('src/kit/limits/edge-turns.ts'),
        '#runtime': at('src/kit/runtime/edge.ts'),
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
      rolldownOptions: {
        transform: {
          inject: {
            DecompressionStream: [at('test/world/bucket/decompression.ts'), 'SynchronousDecompression'],
            crypto: [at('test/world/kernel/crypto.ts'), 'synchronousCrypto'],
          },
        },
        output: { format: 'es', codeSplitting: false, entryFileNames: 'world.mjs' },
      },
    },
  })
  const file = join(outDir, 'world.mjs')
  return { url: pathToFileURL(file).href, remove: () => rmSync(outDir, { recursive: true, force: true }) }
}
