import { execFileSync } from 'node:child_process'
import { BARS, isMet } from './bars.mjs'
import { CALM } from './noise.mjs'
import { saveResults } from './results.mjs'
import { barText, number, percent, shown } from './tables.mjs'
import { ROOT, versionOf } from './tools.mjs'

const milliseconds = (micros) => (micros === undefined ? '' : number(micros / 1000, micros < 10_000 ? 2 : 0))

/** A row as it is printed during the run. */
export function printRow(id, { title, figures, ratios, failed }, took) {
  console.log(`\n${title}   [${id}, ${number(took, 1)} s]`)
  if (failed) return console.log(`  failed: ${failed}`)
  for (const name in figures) {
    const { rps, mbs, p50, p99, cpu, rss, stolen } = figures[name]
    const parts = [
      rps && `${number(rps)}/s`,
      mbs && `${number(mbs)} MB/s`,
      p50 && `p50 ${milliseconds(p50)} ms`,
      p99 && `p99 ${milliseconds(p99)} ms`,
      cpu && `${number(cpu, 1)} µs CPU each`,
      rss && `${number(rss / 1e6)} MB`,
      stolen > CALM && `${percent(stolen)} stolen`,
    ]
    console.log(`  ${name.padEnd(20)} ${parts.filter(Boolean).join('  ')}`)
  }
  for (const [name, value] of ratios) {
    const bar = BARS[id]?.[name]
    const met = isMet(value, bar)
    const verdict = met === null ? '' : met ? 'met' : 'not met'
    console.log(`  ${name.padEnd(26)} ${shown(value, bar).padStart(8)}  ${barText(bar)} ${verdict}`)
  }
}

/** How many figures keep their bar, and how many there are. */
export function countMet(results) {
  const all = Object.entries(results).flatMap(([id, { ratios, failed }]) =>
    failed ? [false] : ratios.map(([name, value]) => isMet(value, BARS[id]?.[name])),
  )
  return { met: all.filter((met) => met === true).length, of: all.filter((met) => met !== null).length }
}

/** Writes this run to bench/results.json. With `only` some rows, these replace the ones of the last complete run. */
export function writeReport(results, { tools, seconds, rounds, noise, only }) {
  const date = new Date().toISOString().slice(0, 10)
  const rows = Object.fromEntries(
    Object.entries(results).map(([id, { title, figures = {}, ratios = [], failed }]) => [
      id,
      {
        title,
        figures: Object.fromEntries(
          // The figures of each round are not kept.
          Object.entries(figures).map(([server, { turns, took, ...medians }]) => [server, medians]),
        ),
        ratios: Object.fromEntries(ratios),
        ...(failed && { failed }),
        ...(only && { date }),
      },
    ]),
  )
  const nginx = versionOf(tools.nginx, '-v').replace(/^.*nginx\//, '')
  saveResults('service', (before) =>
    only
      ? { ...before, rows: { ...before.rows, ...rows } }
      : { nginx, grep: versionOf(tools.grep), rounds, seconds, noise, rows },
  )
}

/** Makes dist, as `npm start` does. */
export function build() {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' })
}
