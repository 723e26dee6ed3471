// Attacks the running service and writes what was seen to docs/reliability.md.
//   npm run test:chaos [-- NAME…] [-- --all] [-- --write]
// Each fault says what it tried, how often, a figure, and whether the promise held. Where another request is asked beside
// it, the row says how long that one may be held up, waits for a core left out. Machines differ, and some are busy: a row
// that takes longer is slow, and only one that takes ten times as long is broken. Bounded in count and time; talks to
// loopback only. In CI, a promise that did not hold is tried once more. The exit code is 1 when one does not hold.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { cleanUp, longestWait } from './service.mjs'

const words = process.argv.slice(2)
const only = words.filter((word) => !word.startsWith('--'))
const write = words.includes('--write')
/** The faults that take half a minute and more are tried at night, or by name. */
const all = write || words.includes('--all')
const BUDGET_MS = (all ? 40 : 12) * 60_000
const FAULT_MS = 150_000
/** How long a request beside a fault may be held up, unless the fault says otherwise. */
const WAIT_MS = 100
/** How many times as long as promised a request may be held up on a slow or busy machine. */
const SLOWER = 10
const START = '<!-- figures: npm run test:chaos -- --write -->'
const END = '<!-- end of figures -->'

const place = join(import.meta.dirname, 'faults')
const rows = []
let again = 0
const begun = Date.now()
for (const file of readdirSync(place).sort()) {
  const { faults } = await import(join(place, file))
  for (const fault of faults) {
    if (only.length > 0 && !only.some((name) => fault.name.includes(name))) continue
    if (fault.nightly && !all && only.length === 0) continue
    if (Date.now() - begun > BUDGET_MS) {
      rows.push({ name: fault.name, tried: 'no time was left', count: 0, figure: '', held: false })
      continue
    }
    const start = Date.now()
    let row = await attempt(fault)
    if (!row.held && process.env.CI) {
      console.log(`again    ${fault.name}: ${row.figure}`)
      again++
      row = await attempt(fault)
    }
    rows.push({ name: fault.name, ...row })
    const seconds = ((Date.now() - start) / 1000).toFixed(1)
    const waited = row.promised ? `; held up for ${Math.round(row.waited)} ms of ${row.promised}` : ''
    console.log(`${wordOf(row).padEnd(8)} ${fault.name} (${seconds} s): ${row.figure}${waited}`)
  }
}
const failed = rows.filter(({ held }) => !held).length
const slow = rows.filter((row) => row.held && row.isSlow).length
if (write) report()
console.log(`${rows.length - failed} passed (${slow} of them slow), ${failed} failed, ${again} tried again`)
process.exit(failed === 0 ? 0 : 1)

async function attempt(fault) {
  try {
    longestWait()
    const row = await Promise.race([fault.run(), timeout()])
    const waited = longestWait()
    if (waited === null) return row
    const { waits = WAIT_MS } = fault
    const held = row.held && waited <= waits * SLOWER
    return { ...row, promised: `${waits} ms`, waited, isSlow: waited > waits, held }
  } catch (error) {
    const figure = String(error?.message ?? error).slice(0, 120)
    return { tried: 'failed', count: 0, figure, held: false }
  } finally {
    await cleanUp()
  }
}

function wordOf({ held, isSlow }) {
  if (!held) return 'NOT HELD'
  return isSlow ? 'slow' : 'held'
}

function timeout() {
  return new Promise((_, fail) => setTimeout(() => fail(new Error('no end after 150 s')), FAULT_MS).unref())
}

function report() {
  const path = 'docs/reliability.md'
  const text = readFileSync(path, 'utf8')
  const date = new Date().toISOString().slice(0, 10)
  const named = new Map(rows.map((row) => [row.name, row]))
  // Rows that were not tried now stay as they are.
  const known = text.slice(text.indexOf(START), text.indexOf(END)).split('\n')
  for (const old of known.filter((each) => each.startsWith('| ')).slice(1)) {
    const name = old.split(' | ')[0].slice(2)
    if (only.length > 0 && !named.has(name)) named.set(name, old)
  }
  const table = [...named.values()].map(rowOf).join('\n')
  const made = `${START}
${date}, ${cpus().length} cores (${process.arch}), Node ${process.versions.node}.

| fault | what was tried | how often | figure | a request beside it waits at most | held |
|---|---|---|---|---|---|
${table}
${END}`
  writeFileSync(path, text.slice(0, text.indexOf(START)) + made + text.slice(text.indexOf(END) + END.length))
}

function rowOf(row) {
  if (typeof row === 'string') return row
  const { name, tried, count, figure, promised, waited, held, isSlow } = row
  const beside = promised ? `${promised}; ${Math.round(waited)} ms were measured` : ''
  return `| ${name} | ${tried} | ${count} | ${figure} | ${beside} | ${held && !isSlow ? 'yes' : '**no**'} |`
}
