// bench/results.json holds the figures of the last runs with --write. README.md and docs/ show figures from it only,
// between `<!-- bench: NAME -->` and `<!-- end -->` (`# bench: NAME` and `# end` in a unit file);
// test/docs.figures.test.ts compares them.
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { BLOCKS } from './tables.mjs'
import { ROOT } from './tools.mjs'

const PATH = join(ROOT, 'bench/results.json')

/** The documents with figures. */
export const DOCUMENTS = [
  'docs/performance.md',
  'docs/scale.md',
  'docs/shipping.md',
  'deploy/systemd/nodestate.service',
]

export const readResults = () => JSON.parse(readFileSync(PATH, 'utf8'))

/** Changes the results of one bench, and the documents that show them. */
export function saveResults(bench, change) {
  const before = readResults()
  const changed = {
    date: new Date().toISOString().slice(0, 10),
    machine: machine(),
    ...change(before[bench]),
  }
  const all = { ...before, [bench]: rounded(changed) }
  writeFileSync(PATH, `${JSON.stringify(all, null, 2)}\n`)
  for (const path of DOCUMENTS)
    writeFileSync(join(ROOT, path), withFigures(readFileSync(join(ROOT, path), 'utf8'), all))
}

/** A document with the figures of these results. */
export function withFigures(text, results) {
  return text.replace(
    /((?:<!--|#) bench: ([\w-]+)(?: -->)?\n)[\s\S]*?((?:<!--|#) end\b)/g,
    (_, start, name, end) => {
      if (!BLOCKS[name]) throw new Error(`There is no block of figures ${name} in bench/tables.mjs`)
      return `${start}${BLOCKS[name](results)}\n${end}`
    },
  )
}

const machine = () =>
  `${cpus().length} × ${cpus()[0].model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release().replace(/-.*/, '')}, Node ${process.version}`

/** Four digits of each figure: the rest is noise. */
function rounded(value) {
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number(value.toPrecision(4))
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(rounded)
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, rounded(each)]))
}
