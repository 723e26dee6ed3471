import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FORMATS, writeFormatLogs } from '../format-logs.mjs'
import { drain } from '../measure.mjs'
import { startNodestate } from '../servers.mjs'
import { ratioOf, takeTurns } from '../turns.mjs'
import { MIB } from './contenders.mjs'

const SIZE = 64 * MIB
/** NDJSON is slow enough for less. */
const RECORDS = 8 * MIB

/** What is asked of a log in each format, and how much of it that reads. */
const QUESTIONS = {
  q: (file) => `view?file=${file}&q=${encodeURIComponent('no such text')}`,
  level: (file) => `view?file=${file}&level=error&size=${SIZE}`,
  chart: (file) => `histogram?file=${file}`,
  ndjson: (file) => `view?file=${file}&format=ndjson&size=${RECORDS}`,
}

/** One question to a log in each format, one after the other, next to `beside` of the same log. */
async function measure(bench, question, beside = question) {
  const directory = join(bench.data.root, 'format-logs')
  const server = await bench.start('nodestate', directory, () => {
    mkdirSync(directory)
    writeFormatLogs(directory, SIZE)
    return startNodestate(directory)
  })
  const asked = [...new Set([question, beside])]
  const all = Object.keys(FORMATS).flatMap((name) =>
    asked.map((what) => ({ name: `${name} ${what}`, file: `${name}.log`, what })),
  )
  const once = async ({ file, what }) => {
    const { ms, status, head } = await drain(server, `/api/v1/log/${QUESTIONS[what](file)}`)
    assert.equal(status, 200, head)
    const size = what === 'ndjson' ? RECORDS : statSync(join(directory, file)).size
    return { mbs: size / ms / 1000, p50: ms * 1000, rss: server.rss() }
  }
  const results = await takeTurns(all, once, { rounds: 3, spare: bench.spare })
  return { directory, figures: Object.fromEntries(all.map(({ name }, i) => [name, results[i]])) }
}

/** `level=error` over logs in all formats, next to a text search of the same log. */
export async function formatLevelRow(bench) {
  const { figures } = await measure(bench, 'level', 'q')
  const against = (one, other) => ratioOf('mbs', figures[one], figures[other])
  const names = Object.keys(FORMATS)
  const ratios = [
    ...names.map((name) => [`${name} level / q`, against(`${name} level`, `${name} q`)]),
    ...names.slice(1).map((name) => [`${name} level / lindb`, against(`${name} level`, 'lindb level')]),
    // The same lines, wrapped and plain.
    ...['cri', 'docker'].map((name) => [`${name} q / log4j`, against(`${name} q`, 'log4j q')]),
  ]
  return { title: 'level=error over 64 MiB, by format', figures, ratios }
}

/** The exact chart of the same logs, next to LinDB's and to lnav's count by level. */
export async function formatChartRow(bench) {
  const { directory, figures } = await measure(bench, 'chart', 'q')
  const ratios = [['lindb chart / q', ratioOf('mbs', figures['lindb chart'], figures['lindb q'])]]
  for (const name of Object.keys(FORMATS).slice(1))
    ratios.push([`${name} / lindb`, ratioOf('mbs', figures[`${name} chart`], figures['lindb chart'])])
  for (const name of bench.tools.lnav ? ['postgresql', 'log4j', 'syslog', 'access'] : []) {
    const mbs = countWithLnav(bench.tools.lnav, join(directory, `${name}.log`))
    if (mbs !== null) ratios.push([`${name} / lnav`, figures[`${name} chart`].mbs / mbs])
  }
  return { title: 'exact chart of 64 MiB, by format', figures, ratios }
}

/** The newest records of the same logs as NDJSON, next to LinDB's. */
export async function formatRecordsRow(bench) {
  const { figures } = await measure(bench, 'ndjson')
  const ratios = Object.keys(FORMATS)
    .slice(1)
    .map((name) => [`${name} / lindb`, ratioOf('mbs', figures[`${name} ndjson`], figures['lindb ndjson'])])
  return { title: 'records to NDJSON, by format', figures, ratios }
}

/** How fast lnav counts the lines of a file by level; null if it does not know the format. */
export function countWithLnav(lnav, file) {
  const script = `${file}.lnav`
  writeFileSync(script, ';SELECT log_level, count(*) FROM all_logs GROUP BY log_level\n:write-csv-to -\n')
  const start = performance.now()
  const { stdout, status } = spawnSync(lnav, ['-n', '-f', script, file], { encoding: 'utf8' })
  return status === 0 && /error|info/.test(stdout)
    ? statSync(file).size / (performance.now() - start) / 1000
    : null
}
