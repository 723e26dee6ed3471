// Puts into dist the declarations that can be reached from the package's exports, a fifth of all, and removes what no
// source stands behind any more.
//   node scripts/types.mjs
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const MADE = 'node_modules/.cache/nodestate-types'
const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
const entries = Object.values(exports).flatMap(({ types }) =>
  types ? [normalize(types).slice('dist/'.length)] : [],
)

const texts = new Map()
const reached = new Set(entries)
for (const name of reached) {
  // A declaration that was written by hand is in src.
  const text = readFileSync(join(existsSync(join(MADE, name)) ? MADE : 'src', name), 'utf8')
  texts.set(name, text)
  for (const [, path] of text.matchAll(/(?:from|import\() ?['"](\.[^'"]+)\.[jt]s['"]/g))
    reached.add(`${normalize(join(dirname(name), path))}.d.ts`)
}
for (const [name, text] of texts) {
  const file = join('dist', name)
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
// Bundles have no source of their own. Another build may remove stale files at the same time.
for (const name of readdirSync('dist', { recursive: true }).filter(
  (each) => !/^(worker|lambda)\//.test(each),
)) {
  const isStale = name.endsWith('.d.ts')
    ? !reached.has(name)
    : name.endsWith('.js') && !existsSync(join('src', name.replace(/js$/, 'ts')))
  if (isStale && name !== 'doors/page/assets.js') rmSync(join('dist', name), { force: true })
}
