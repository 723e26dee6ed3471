// npm test: the fast tests, which need nothing but `npm ci`, types and lint. One line at the end says what was tested,
// what was not, and how to test that.
import { spawnSync } from 'node:child_process'

// The tests build dist and the page, which the types need.
const STEPS = {
  tests: ['npx', 'vitest', 'run', '--project', 'fast', '--project', 'alone'],
  types: ['npm', 'run', '--silent', 'typecheck'],
  lint: ['npm', 'run', '--silent', 'lint'],
}

const begun = Date.now()
const failed = Object.entries(STEPS).filter(([name, [program, ...args]]) => {
  console.log(`\n== ${name}`)
  return spawnSync(program, args, { stdio: 'inherit' }).status !== 0
})
const seconds = Math.round((Date.now() - begun) / 1000)
const tested =
  'types, lint, the contract of the stores, every operation on Node, log formats, paging and merging, masking, tokens, the client and simulated worlds'
const rest =
  'Not tested: Bun, Deno, Workers, the packed package, the page in a browser, real buckets, rotators and databases, the samples of the documents (npm run test:all).'
if (failed.length > 0) console.log(`\nFailed in ${seconds} s: ${failed.map(([name]) => name).join(', ')}.`)
else console.log(`\nTested in ${seconds} s: ${tested}. ${rest}`)
process.exitCode = failed.length > 0 ? 1 : 0
