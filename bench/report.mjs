import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { CALM } from './noise.mjs'
import { ROOT, versionOf } from './tools.mjs'

const number = (value, digits = 0) => value.toLocaleString('en-US', { maximumFractionDigits: digits })
const ratio = (value) => (value >= 100 ? number(value) : value >= 10 ? number(value, 1) : number(value, 2))
/** A figure next to its bar, with one more digit if rounding would make it look met. */
const measured = (entry) => {
  const [, value, bar] = entry
  return isMet(entry) === false && ratio(value) === ratio(bar) ? number(value, 4) : ratio(value)
}
const percent = (share) => `${number(share * 100, share < 0.1 ? 1 : 0)} %`
const milliseconds = (micros) => (micros === undefined ? '' : number(micros / 1000, micros < 10_000 ? 2 : 0))

/** Whether a figure keeps its bar; null where there is none. */
function isMet([, value, bar, sense = 'least']) {
  if (bar === null) return null
  return sense === 'least' ? value >= bar : value <= bar
}

const verdict = (met) => (met === null ? '' : met ? 'met' : '**not met**')
const barText = ([, , bar, sense = 'least']) =>
  bar === null ? '' : `${sense === 'least' ? '≥' : '≤'} ${bar}`

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
  for (const entry of ratios)
    console.log(
      `  ${entry[0].padEnd(26)} ${measured(entry).padStart(8)}  ${barText(entry)} ${verdict(isMet(entry)).replaceAll('*', '')}`,
    )
}

/** How many figures keep their bar, and how many there are. */
export function countMet(results) {
  const all = Object.values(results).flatMap(({ ratios, failed }) => (failed ? [false] : ratios.map(isMet)))
  return { met: all.filter((met) => met === true).length, of: all.filter((met) => met !== null).length }
}

/** How calm the machine was: a reader can tell a noisy run. */
export function noiseText({ stolen, iowait, rounds, repeated, loud }) {
  const taken = `The host took ${percent(stolen)} of the CPU time that was wanted, ${percent(iowait)} waited for disks`
  return `${taken}; ${repeated} of ${rounds} rounds were repeated because of that, ${loud} counted although they were not calm.`
}

/** Writes docs/performance.md. */
export function writeReport(results, { tools, seconds, rounds, took, noise }) {
  const rows = Object.values(results)
  const complete = rows.filter(({ failed }) => !failed)
  const text = `# Performance

Measured by \`npm run bench\` on one machine, all servers in the same run, taking turns, after a warm-up until they got no faster; each figure is the median of ${rounds} rounds with turns of ${seconds} s. A ratio is the median of the ratios of the rounds: a virtual machine is faster in one second than in the next, and in one round it is nearly the same for all. A round in which the host gave more than ${percent(CALM)} of a turn's CPU time to other guests was taken anew while there was time for it. Every body was compared with the file, byte by byte, before it counted. The load client (\`bench/load.c\`) is one thread that discards bodies in the kernel. Absolute figures differ from machine to machine; the ratios are what counts.

| | |
|---|---|
| machine | ${cpus().length} × ${cpus()[0].model.trim()}, ${number(totalmem() / 2 ** 30)} GiB, ${type()} ${release()} |
| nodestate | ${JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version}, Node ${process.version}${tools.bun ? `, Bun ${versionOf(tools.bun)}` : ''} |
| nginx | ${versionOf(tools.nginx, '-v').replace(/^.*nginx\//, '')}, 1 worker, sendfile, \`tcp_nopush off\` |
| node:http | \`bench/baseline.mjs\`: the same answers with fs promises |
| grep | ${versionOf(tools.grep)} |
| calm | ${noiseText(noise)} |
| date | ${new Date().toISOString().slice(0, 10)}, in ${number(took)} s |

## Against the bar

| what | figure | measured | bar | |
|---|---|---|---|---|
${rows
  .flatMap(({ title, ratios, failed }) =>
    failed
      ? [`| ${title} | | failed: ${failed} | | **not met** |`]
      : ratios.map(
          (entry, i) =>
            `| ${i === 0 ? title : ''} | ${entry[0]} | ${measured(entry)} | ${barText(entry)} | ${verdict(isMet(entry))} |`,
        ),
  )
  .join('\n')}

nginx sends the bytes from the page cache to the socket without reading them. nodestate also finds the line start and makes a tag and two cursors. A ratio against nginx is the distance to the limit of the machine.

## All figures

CPU is what the server's processes used per request; memory is resident, at the end of the row; stolen is what the host took of the CPU time in the turns that counted.

| what | server | requests/s | MB/s | p50 ms | p99 ms | CPU µs | MB | stolen |
|---|---|---|---|---|---|---|---|---|
${complete
  .flatMap(({ title, figures }) =>
    Object.entries(figures).map(
      ([name, { rps, mbs, p50, p99, cpu, rss, stolen }], i) =>
        `| ${i === 0 ? title : ''} | ${name} | ${rps ? number(rps) : ''} | ${mbs ? number(mbs) : ''} | ${milliseconds(p50)} | ${milliseconds(p99)} | ${cpu ? number(cpu, 1) : ''} | ${rss ? number(rss / 1e6) : ''} | ${stolen === undefined ? '' : percent(stolen)} |`,
    ),
  )
  .join('\n')}
`
  const path = join(ROOT, 'docs/performance.md')
  writeFileSync(path, keepNotes(path, text))
}

/** What people wrote below this heading stays. */
const NOTES = '\n## Where the time goes\n'

function keepNotes(path, text) {
  let old = ''
  try {
    old = readFileSync(path, 'utf8')
  } catch {}
  const at = old.indexOf(NOTES)
  return at < 0 ? text : text + old.slice(at)
}

/** Makes dist, as `npm start` does. */
export function build() {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' })
}
