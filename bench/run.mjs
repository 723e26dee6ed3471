// Measures nodestate next to nginx, a plain node:http server and, with --runtime bun, itself on Bun.
//
//   npm run bench [-- --rows view-4k,unchanged] [--runtime bun] [--seconds 0.25] [--rounds 10] [--write]
//
// --rows says which rows (all by default), --write puts them into bench/results.json and the docs. All rows take several minutes.
import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { makeData } from './data.mjs'
import { cpuTimes, noiseSince, Spare } from './noise.mjs'
import { build, countMet, printRow, writeReport } from './report.mjs'
import { ROWS } from './rows.mjs'
import { stopAll } from './servers.mjs'
import { noiseText } from './tables.mjs'
import { compileLoad, findTools } from './tools.mjs'

const { values } = parseArgs({
  options: {
    rows: { type: 'string' },
    runtime: { type: 'string' },
    seconds: { type: 'string', default: '0.25' },
    rounds: { type: 'string', default: '10' },
    write: { type: 'boolean', default: false },
  },
})
const names = values.rows?.split(',') ?? Object.keys(ROWS)
const unknown = names.filter((name) => !Object.hasOwn(ROWS, name))
if (unknown.length > 0)
  refuse(`There is no row ${unknown.join(', ')}; there are ${Object.keys(ROWS).join(', ')}.`)
if (values.runtime !== undefined && !['node', 'bun'].includes(values.runtime))
  refuse(`Cannot measure --runtime ${values.runtime}: it must be node or bun.`)
const options = { seconds: Number(values.seconds), rounds: Number(values.rounds) }
if (!(options.seconds > 0) || !(options.rounds >= 1))
  refuse('--seconds and --rounds must be numbers above 0.')
const { tools, missing } = findTools(values.runtime === 'bun')
if (missing.length > 0) refuse(`These are needed and missing: ${missing.join(', ')}.`)

/** For turns that were not calm; see noise.mjs. */
const SPARE_SECONDS = 30

build()
const start = performance.now()
const before = cpuTimes()
console.log('Making 1 GiB of log, a sparse file of 20 GiB and 10,000 files…')
const data = makeData()
process.on('SIGINT', () => end(130))
process.on('SIGTERM', () => end(143))
// Whatever fails, as a gcc without its headers: the data must not stay.
process.on('uncaughtException', (error) => {
  console.error(String(error.message ?? error))
  end(1)
})

const started = new Map()
const bench = {
  data,
  tools,
  options,
  spare: new Spare(SPARE_SECONDS, names.length),
  load: compileLoad(tools.gcc, data.root),
  /** A server of this kind on this directory: started once, and warm when the next row needs it. */
  async start(kind, directory, begin) {
    const key = `${kind} ${directory}`
    if (!started.has(key)) started.set(key, await begin())
    return started.get(key)
  },
}
const results = {}
for (const name of names) {
  const rowStart = performance.now()
  bench.spare.nextRow()
  try {
    results[name] = await ROWS[name](bench)
  } catch (error) {
    results[name] = { title: name, failed: String(error.message ?? error).split('\n')[0] }
  }
  printRow(name, results[name], (performance.now() - rowStart) / 1000)
}
const took = (performance.now() - start) / 1000
const { met, of } = countMet(results)
const { rounds, repeated, loud } = bench.spare
const noise = { ...noiseSince(before), rounds, repeated, loud }
console.log(`\n${met} of ${of} figures keep their bar; ${Math.round(took)} s. ${noiseText(noise)}`)
if (values.write) writeReport(results, { tools, ...options, noise, only: values.rows !== undefined })
await end(0)

async function end(code) {
  await stopAll()
  rmSync(data.root, { recursive: true, force: true })
  process.exit(code)
}

function refuse(message) {
  console.error(message)
  process.exit(2)
}
