// Attacks the running service and writes what was seen to docs/reliability.md.
//   npm run test:chaos [-- NAME…] [-- --write]
// Each fault says what it tried, how often, a figure, and whether the promise held. Bounded in count and time; talks to
// loopback only. In CI, a promise that did not hold is tried once more. The exit code is 1 when one does not hold.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { cleanUp } from './service.mjs'

const words = process.argv.slice(2)
const only = words.filter((word) => !word.startsWith('--'))
const write = words.includes('--write')
const BUDGET_MS = 15 * 60_000
const FAULT_MS = 150_000
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
    console.log(`${row.held ? 'held    ' : 'NOT HELD'} ${fault.name} (${seconds} s): ${row.figure}`)
  }
}
const failed = rows.filter(({ held }) => !held).length
if (write) report()
console.log(`${rows.length - failed} passed, ${failed} failed, ${again} tried again`)
process.exit(failed === 0 ? 0 : 1)

async function attempt(fault) {
  try {
    return await Promise.race([fault.run(), timeout()])
  } catch (error) {
    const figure = String(error?.message ?? error).slice(0, 120)
    return { tried: 'failed', count: 0, figure, held: false }
  } finally {
    await cleanUp()
  }
}

function timeout() {
  return new Promise((_, fail) => setTimeout(() => fail(new Error('no end after 150 s')), FAULT_MS).unref())
}

function report() {
  const path = 'docs/reliability.md'
  const text = readFileSync(path, 'utf8')
  const date = new Date().toISOString().slice(0, 10)
  const table = rows
    .map(
      ({ name, tried, count, figure, held }) =>
        `| ${name} | ${tried} | ${count} | ${figure} | ${held ? 'yes' : '**no**'} |`,
    )
    .join('\n')
  const made = `${START}
${date}, ${cpus().length} cores (${process.arch}), Node ${process.versions.node}.

| fault | what was tried | how often | figure | held |
|---|---|---|---|---|
${table}
${END}`
  writeFileSync(path, text.slice(0, text.indexOf(START)) + made + text.slice(text.indexOf(END) + END.length))
}
