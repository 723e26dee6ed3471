// Builds the page with Vite and packs it into one module of compressed assets, so that the app can serve it on
// every runtime, with no file system. Does nothing when no input has changed since.
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = join(here, '../../..')
const packed = join(here, 'assets.js')
const shipped = join(root, 'dist/doors/page')

const TYPES = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Rooms that are loaded on first use. */
const LATER =
  /\/page\/(timeline\/|parts\.|log\/panel\/(panel|fields|patterns|entries|groups|different)\.|config\/(blame|compare|history)\.)|\/log\/(regex\/|error\.)/

/** Vite's helper for dynamic imports preloads styles and scripts, of which there are none here; it weighs 900 bytes. */
const plainImports = {
  name: 'plain-imports',
  enforce: 'pre',
  load: (id) =>
    id.endsWith('vite/preload-helper.js') ? 'export const __vitePreload = (load) => load()' : null,
}

const stamp = `// ${await fingerprint()}`
const known = await readFile(packed, 'utf8').catch(() => '')
if (!known.startsWith(stamp)) await pack()
await mkdir(shipped, { recursive: true })
await ship(packed, 'assets.js')
await ship(join(here, 'assets.d.ts'), 'assets.d.ts')

/** Copies what has changed and moves it into place, so that a program that starts meanwhile never sees half a file. */
async function ship(from, name) {
  const to = join(shipped, name)
  const text = await readFile(from)
  const there = await readFile(to).catch(() => null)
  if (there?.equals(text)) return
  const aside = `${to}-${process.pid}`
  await writeFile(aside, text)
  await rename(aside, to)
}

async function pack() {
  const { build } = await import('vite')
  const out = join(root, 'node_modules/.cache/nodestate-page')
  await build({
    configFile: false,
    root: here,
    base: './',
    logLevel: 'warn',
    plugins: [plainImports],
    // The classic calls are half a kilobyte shorter than the automatic ones.
    oxc: {
      // Without `development`, a build under NODE_ENV=test would name the files of this machine.
      jsx: { runtime: 'classic', pragma: '_h', pragmaFrag: '_Fragment', development: false },
      jsxInject: "import { h as _h, Fragment as _Fragment } from 'preact'",
    },
    build: {
      outDir: out,
      emptyOutDir: true,
      target: 'es2022',
      assetsInlineLimit: 0,
      modulePreload: false,
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      reportCompressedSize: false,
      // What both the page and a later chunk need stays in the page: one more chunk would weigh a kilobyte.
      rollupOptions: {
        output: { codeSplitting: { groups: [{ name: 'index', test: (id) => !LATER.test(id) }] } },
      },
    },
  })
  const html = (await readFile(join(out, 'index.html'), 'utf8')).replace(/\n\s*/g, '\n')
  const assets = {}
  for (const name of (await readdir(join(out, 'assets'))).sort()) {
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
    if (type === undefined) throw new Error(`Cannot pack "${name}": no content type is known for it`)
    const bytes = await readFile(join(out, 'assets', name))
    assets[name] = { type, size: bytes.length, gzip: (await gzip(bytes)).toString('base64') }
  }
  const tag = createHash('sha256').update(html).digest('base64url').slice(0, 16)
  const page = { html, etag: `"${tag}"`, assets }
  await writeFile(packed, `${stamp}\nexport const assets = ${JSON.stringify(page)}\n`)
  await rm(out, { recursive: true })
}

/** Zopfli takes a second longer than zlib and saves three percent; without it the page is larger, but works. */
async function gzip(bytes) {
  const zopfli = await import('@gfx/zopfli').catch(() => null)
  return zopfli === null
    ? gzipSync(bytes, { level: 9 })
    : Buffer.from(await zopfli.default.gzipAsync(bytes, {}))
}

/** A hash of everything the page is made of: its sources, what it imports, and the versions of what it bundles. */
async function fingerprint() {
  const hash = createHash('sha256')
  const single = ['src/doors/client.ts', 'src/core/mask/mask.ts', 'package-lock.json']
  for (const name of ['instant', 'offset', 'wall-clock', 'error', 'where/compare', 'histogram/steps'])
    single.push(`src/log/${name}.ts`)
  const files = single.map((name) => join(root, name))
  for (const folder of [here, join(root, 'src/doors/client'), join(root, 'src/log/regex')]) {
    for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
      const path = join(entry.parentPath ?? entry.path, entry.name)
      if (entry.isFile() && path !== packed) files.push(path)
    }
  }
  for (const path of files.sort()) hash.update(`${relative(root, path)}\0`).update(await readFile(path))
  return hash.digest('hex')
}
