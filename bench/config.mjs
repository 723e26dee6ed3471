import { fileURLToPath } from 'node:url'
import { parse } from 'smol-toml'
import { redact } from '../dist/core/mask/redact.js'
import { maskedText } from '../dist/core/node/config.js'
import { SHAPES } from './config-shapes.mjs'

const KIB = 1024
const SIZES = [16 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB]
/** Until code is compiled, the first runs are slower. */
const WARM = 8
const RUNS = 5

/**
 * What masking costs, for each shape and size of a configuration: milliseconds of CPU, without parsing, and the
 * longest time for which the event loop was held, also without what a parse takes in one go.
 */
export async function measureMasking(shapes = Object.keys(SHAPES), sizes = SIZES) {
  const rows = []
  for (const shape of shapes) {
    for (let i = 0; i < WARM; i++) redact(SHAPES[shape](64 * KIB))
    for (const size of sizes) rows.push({ shape, size, ...(await measure(SHAPES[shape](size))) })
  }
  return rows
}

async function measure(text) {
  const parseMs = fastest(() => parse(text))
  const cpu = fastest(() => redact(text))
  let held = Number.POSITIVE_INFINITY
  // A comment makes it another text: what is masked already is remembered.
  for (let i = 0; i < RUNS; i++) held = Math.min(held, await longestTurn(() => maskedText(`${text}\n#${i}`)))
  return { cpu, held, parse: parseMs }
}

function fastest(run) {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < RUNS; i++) {
    const before = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1000)
  }
  return best
}

/** The longest time between two turns of the event loop while something runs. */
async function longestTurn(run) {
  let longest = 0
  let last = performance.now()
  let isOver = false
  const turn = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await run()
  isOver = true
  return longest
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rows = await measureMasking(process.argv[2] ? [process.argv[2]] : undefined)
  console.log('| shape | KiB | CPU, ms | µs per KiB | longest turn, ms | of which a parse, ms |')
  console.log('|---|---|---|---|---|---|')
  for (const { shape, size, cpu, held, parse } of rows)
    console.log(
      `| ${shape} | ${size / KIB} | ${cpu.toFixed(1)} | ${((1000 * cpu * KIB) / size).toFixed(0)} | ${held.toFixed(0)} | ${parse.toFixed(0)} |`,
    )
}
