// What an app weighs and how long it takes to start, by what it is made of:
//   npm run build && node scripts/weigh.mjs [--write]
// Bundles with the esbuild of the tests (node test/parts/install.mjs), minified and gzipped: in one file, and split, where the
// first chunk is what a worker starts with. Cold starts are the median of 9 processes. `--write` writes docs/performance.md.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import process from 'node:process'
import { gzipSync } from 'node:zlib'
import { findPart } from '../test/parts/parts.mjs'

const root = resolve(import.meta.dirname, '..')
const esbuild = findPart('esbuild')
if (esbuild === null) throw new Error('esbuild is not installed: run node test/parts/install.mjs')
const folder = mkdtempSync(join(root, 'dist/.weigh-'))
const at = (name) => `../${name}.js`
const WORKER = `import { r2Store } from '${at('store/r2')}'\nimport { handle } from '${at('entry/cloudflare')}'\nimport { createApp } from '${at('index')}'\n`
const PROGRAMS = {
  'three operations, R2': `${WORKER}export default handle((env) => createApp({ logs: r2Store(env.BUCKET), config: env.CONFIG, auth: env.TOKEN }))`,
  'search and follow, R2': `${WORKER}import { search } from '${at('routes/search')}'\nimport { follow } from '${at('routes/follow')}'\nexport default handle((env) => createApp({ logs: r2Store(env.BUCKET), config: env.CONFIG, with: [search(), follow()] }))`,
  'full(), R2': `${WORKER}import { full } from '${at('full')}'\nexport default handle((env) => createApp({ logs: r2Store(env.BUCKET), config: env.CONFIG, with: full() }))`,
  'three operations, Lambda and S3': `import { handle } from '${at('entry/aws-lambda')}'\nimport { s3Store } from '${at('store/s3')}'\nimport { createApp } from '${at('index')}'\nexport const handler = handle(createApp({ logs: s3Store({ bucket: 'logs' }), config: '' }))`,
}

try {
  const rows = Object.entries(PROGRAMS).map(([name, program], i) => {
    const path = join(folder, `program-${i}.js`)
    writeFileSync(path, program)
    const whole = bundle(path, `whole-${i}`, [])
    const split = bundle(path, `split-${i}`, ['--splitting'])
    return [name, kilobytes(whole.all), kilobytes(split.first)]
  })
  const table = [
    '| app | one file | split: it starts with |',
    '|---|---|---|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ]
  const start = starts()
  const text = [
    ...table,
    '',
    `On Node ${process.versions.node.split('.')[0]}, \`import\` and the first tail take ${start.app.toFixed(0)} ms with \`createApp\` and ${start.hand.toFixed(0)} ms with a Hono app of three routes written by hand: ${(start.app / start.hand).toFixed(1)} times.`,
  ].join('\n')
  console.log(text)
  if (process.argv.includes('--write')) {
    const path = join(root, 'docs/performance.md')
    const marked = /(<!-- weights -->\n)[\s\S]*?(<!-- end -->)/
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(marked, (_, from, to) => `${from}${text}\n${to}`),
    )
  }
} finally {
  rmSync(folder, { recursive: true })
}

function bundle(path, name, more) {
  const outdir = join(folder, name)
  const args = [path, '--bundle', '--minify', '--format=esm', `--outdir=${outdir}`, '--conditions=workerd']
  const external = ['--external:node:*', '--external:@modelcontextprotocol/server']
  const { status, stderr } = spawnSync(
    esbuild,
    [...args, ...external, ...more, `--metafile=${outdir}.json`],
    {
      encoding: 'utf8',
    },
  )
  if (status !== 0) throw new Error(stderr)
  const { outputs } = JSON.parse(readFileSync(`${outdir}.json`, 'utf8'))
  const sizeOf = new Map(
    readdirSync(outdir).map((file) => [
      file,
      gzipSync(readFileSync(join(outdir, file)), { level: 9 }).length,
    ]),
  )
  // Chunks that are loaded later are entry points, too.
  const entry = Object.keys(outputs).find((file) => outputs[file].entryPoint?.endsWith(basename(path)))
  const first = new Set([entry])
  for (const file of first)
    for (const { path, kind } of outputs[file].imports)
      if (kind === 'import-statement' && outputs[path]) first.add(path)
  const sum = (files) => files.reduce((bytes, file) => bytes + sizeOf.get(file.split('/').at(-1)), 0)
  return { all: sum(Object.keys(outputs)), first: sum([...first]) }
}

function kilobytes(bytes) {
  return `${(bytes / 1024).toFixed(1)} KiB`
}

/** Milliseconds of CPU, so that other work on the machine does not count. */
function starts() {
  const log = join(folder, 'a.log')
  writeFileSync(log, 'one\n'.repeat(1000))
  const app = `import { fsStore } from '${at('store/fs')}'\nimport { createApp } from '${at('index')}'\nconst app = createApp({ logs: fsStore('${folder}'), config: '' })\n`
  const hand = `import { open } from 'node:fs/promises'\nimport { Hono } from 'hono'\nconst app = new Hono()\napp.get('/api/v1/log/list', (c) => c.json([]))\napp.get('/api/v1/config', (c) => c.json({}))\napp.get('/api/v1/log/view', async (c) => {\n  const file = await open('${folder}/' + c.req.query('file'))\n  const { size } = await file.stat()\n  const { buffer } = await file.read(Buffer.alloc(100), 0, 100, Math.max(0, size - 100))\n  await file.close()\n  return c.body(buffer)\n})\n`
  const asked = `const answer = await app.request('/api/v1/log/view?file=a.log&size=100')\nif (answer.status !== 200) throw new Error(await answer.text())\nawait answer.arrayBuffer()\nconst { user, system } = process.cpuUsage()\nconsole.log((user + system) / 1000)\n`
  const median = (name, program) => {
    const path = join(folder, `${name}.mjs`)
    writeFileSync(path, program + asked)
    const times = Array.from({ length: 9 }, () =>
      Number(spawnSync(process.execPath, [path], { encoding: 'utf8' }).stdout),
    )
    return times.sort((a, b) => a - b)[4]
  }
  return { app: median('app', app), hand: median('hand', hand) }
}
