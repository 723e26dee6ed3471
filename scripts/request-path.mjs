// Counts what one warm request goes through, by V8's call coverage: npm run --silent build && node scripts/request-path.mjs
//
// A file counts if one of its functions was called, a function once however often it was called. With --list, prints the
// files in the order of their rooms, with the number of functions of each.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const dist = process.env.NODESTATE_DIST ?? fileURLToPath(new URL('../dist', import.meta.url))
const { createApp } = await import(pathToFileURL(join(dist, 'index.js')).href)
const { full } = await import(pathToFileURL(join(dist, 'full.js')).href)
const { fsStore } = await import(pathToFileURL(join(dist, 'store/fs.js')).href)

const LINES = 20_000
const REQUESTS = {
  'one log': '/api/v1/log/view?file=a.log&level=error&lines=100',
  'three logs': '/api/v1/log/view?file=a.log&file=b.log&file=c.log&level=error&lines=100',
}
/** Requests before the one that counts: then everything is loaded, and nothing is done for the first time. */
const WARM = 5

const logs = mkdtempSync(join(tmpdir(), 'nodestate-path-'))
const session = new Session()
session.connect()
try {
  for (const name of ['a', 'b', 'c']) writeFileSync(join(logs, `${name}.log`), textOf(name))
  const app = createApp({ logs: fsStore(logs), config: '', with: full() })
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  for (const [what, path] of Object.entries(REQUESTS)) {
    for (let i = 0; i < WARM; i++) await ask(app, path)
    await session.post('Profiler.takePreciseCoverage')
    await ask(app, path)
    const called = calledIn(await session.post('Profiler.takePreciseCoverage'))
    const functions = called.reduce((sum, file) => sum + file.functions, 0)
    const rooms = new Set(called.map(({ name }) => dirname(name))).size
    console.log(`${what}: ${called.length} files, ${functions} functions, ${rooms} rooms`)
    if (!process.argv.includes('--list')) continue
    for (const { name, functions } of called) console.log(`  ${String(functions).padStart(3)} ${name}`)
  }
} finally {
  session.disconnect()
  rmSync(logs, { recursive: true })
}

/** A log in which every tenth record is an error. */
function textOf(name) {
  const time = (i) => new Date(Date.UTC(2026, 10, 16) + i * 100).toISOString().replace('T', ' ').slice(0, 23)
  const level = (i) => (i % 10 === 0 ? 'ERROR' : 'INFO')
  const lines = Array.from(
    { length: LINES },
    (_, i) => `${time(i)}\t${level(i)}\tstorage/wal.go:${i % 100}\t[Storage]: ${name} synced ${i}\n`,
  )
  return lines.join('')
}

async function ask(app, path) {
  const response = await app.request(path)
  const text = await response.text()
  if (response.status !== 200 || text.split('\n').length !== 101)
    throw new Error(`Cannot read ${path}: ${text}`)
}

/** Our files of which a function was called, and how many of their functions were. */
function calledIn({ result }) {
  const called = []
  for (const { url, functions } of result) {
    if (!url.startsWith('file:')) continue
    const name = relative(dist, fileURLToPath(url))
    const count = functions.filter(({ ranges }) => ranges[0].count > 0).length
    if (count > 0 && !name.startsWith('..')) called.push({ name, functions: count })
  }
  return called.sort((a, b) => (a.name < b.name ? -1 : 1))
}
