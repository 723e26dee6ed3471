import { strict as assert } from 'node:assert'
import { closeSync, mkdirSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { FORMATS } from '../format-logs.mjs'
import { drain } from '../measure.mjs'
import { startNodestate } from '../servers.mjs'
import { linesOf, SHAPES } from '../shape-logs.mjs'
import { ratioOf, takeTurns } from '../turns.mjs'
import { MIB } from './contenders.mjs'
import { countWithLnav } from './formats.mjs'

const SIZE = 16 * MIB
/** NDJSON is slow enough for less. */
const RECORDS = 4 * MIB
const ROUNDS = 3

/** What the others are measured by: LinDB's own lines. */
const LINDB = 'lindb-own'

const QUESTIONS = {
  level: (file) => `view?file=${file}&level=error&size=${SIZE}`,
  chart: (file) => `histogram?file=${file}`,
  ndjson: (file) => `view?file=${file}&format=ndjson&size=${RECORDS}`,
  q: (file) => `view?file=${file}&q=${encodeURIComponent('no such text')}`,
}

/** The shapes of each format that this is asked of, by name. Without levels there is nothing to find by level. */
const NO_LEVELS = ['syslog-late', 'syslog-writers', 'syslog-short']
const shapesOf = (format) => Object.keys(SHAPES[format]).map((shape) => `${format}-${shape}`)

/** How fast one question is answered for each of some logs, in turns. */
async function measure(bench, question, names) {
  const directory = join(bench.data.root, 'shape-logs')
  const server = await bench.start('nodestate', directory, () => {
    mkdirSync(directory)
    writeShapes(directory)
    return startNodestate(directory)
  })
  const once = async (name) => {
    const { ms, status, head } = await drain(server, `/api/v1/log/${QUESTIONS[question](`${name}.log`)}`)
    assert.equal(status, 200, head)
    const size = question === 'ndjson' ? RECORDS : statSync(join(directory, `${name}.log`)).size
    return { mbs: size / ms / 1000, p50: ms * 1000, rss: server.rss() }
  }
  // What is compiled in the first turns is not measured.
  for (const name of names) for (let i = 0; i < 3; i++) await once(name)
  const results = await takeTurns(names, once, { rounds: ROUNDS, spare: bench.spare })
  return { directory, figures: Object.fromEntries(names.map((name, i) => [name, results[i]])) }
}

function writeShapes(directory) {
  const logs = { lindb: { own: FORMATS.lindb }, ...SHAPES }
  for (const [format, shapes] of Object.entries(logs))
    for (const [shape, lineOf] of Object.entries(shapes)) {
      const file = openSync(join(directory, `${format}-${shape}.log`), 'w')
      for (const text of linesOf(lineOf, SIZE)) writeSync(file, text)
      closeSync(file)
    }
}

/** The least of each format's shapes against another log, by the name of the format. */
function worst(figures, against = () => LINDB) {
  const least = {}
  for (const name of Object.keys(figures)) {
    const format = name.slice(0, name.indexOf('-'))
    if (format === 'lindb') continue
    const ratio = ratioOf('mbs', figures[name], figures[against(name)])
    least[format] = Math.min(least[format] ?? Number.POSITIVE_INFINITY, ratio)
  }
  return Object.entries(least).map(([format, ratio]) => [`${format}, worst / lindb`, ratio])
}

const ALL = [LINDB, ...Object.keys(SHAPES).flatMap(shapesOf)]

/** `level=error` over the lines of other programs, next to LinDB's. */
export async function shapeLevelRow(bench) {
  const names = ALL.filter((name) => !NO_LEVELS.includes(name))
  const { figures } = await measure(bench, 'level', names)
  return { title: 'level=error over 16 MiB, worst of four or more shapes', figures, ratios: worst(figures) }
}

/** The exact chart of the same logs, next to LinDB's and to lnav's count by level where it knows the lines. */
export async function shapeChartRow(bench) {
  const { directory, figures } = await measure(bench, 'chart', ALL)
  const ratios = worst(figures)
  const known = ['syslog', 'log4j', 'postgresql', 'access', 'glog', 'rfc5424'].flatMap(shapesOf)
  for (const name of bench.tools.lnav ? known : []) {
    const mbs = countWithLnav(bench.tools.lnav, join(directory, `${name}.log`))
    if (mbs !== null) ratios.push([`${name} / lnav`, figures[name].mbs / mbs])
  }
  return { title: 'exact chart of 16 MiB, worst of four or more shapes', figures, ratios }
}

/** The newest records of the same logs as NDJSON, next to LinDB's. */
export async function shapeRecordsRow(bench) {
  const { figures } = await measure(bench, 'ndjson', ALL)
  const slowest = Math.min(...ALL.map((name) => figures[name].mbs))
  const ratios = [...worst(figures), ['slowest, MB/s', slowest]]
  return { title: 'records to NDJSON, worst of four or more shapes', figures, ratios }
}

/** A text in lines that Docker or CRI wrapped, next to plain ones. */
export async function shapeTextRow(bench) {
  const names = ['log4j-traces', ...shapesOf('cri'), ...shapesOf('docker')]
  const { figures } = await measure(bench, 'q', names)
  const ratios = worst(figures, () => 'log4j-traces')
    .filter(([name]) => !name.startsWith('log4j'))
    .map(([name, ratio]) => [name.replace('lindb', 'plain'), ratio])
  return { title: 'a text in wrapped lines, worst of four or more shapes', figures, ratios }
}
