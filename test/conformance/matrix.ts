import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { CELLS } from './cells.ts'

const STORES = ['directory', 'S3', 'R2', 'peer'] as const
const FILE = resolve(import.meta.dirname, '../../docs/matrix.md')

/** The table of docs/matrix.md: how many requests each runtime answers over each store, and alike. */
export function matrixText(passed: Map<string, number>): string {
  const runtimes = [...new Set(CELLS.map((cell) => cell.runtime))]
  const rows = runtimes.map((runtime) => {
    const counts = STORES.map((store) => {
      const has = CELLS.some((cell) => cell.runtime === runtime && cell.store === store)
      return has ? `${passed.get(`${runtime} ${store}`) ?? 0} passed` : '–'
    })
    return `| ${runtime} | ${counts.join(' | ')} |`
  })
  return `# The matrix

One suite that speaks only HTTP (\`test/conformance/\`) runs against every runtime over every store that it supports. Each answer is compared byte by byte with the answer of Node over a directory: status, headers and body. Left out are Date, Connection, framing and content encoding, which belong to the runtimes. Of tags and cursors, which name a version in one store, only the form is compared.

| runtime | ${STORES.join(' | ')} |
|---|${STORES.map(() => '---').join('|')}|
${rows.join('\n')}

S3 is the endpoint of Miniflare, which checks signatures, and R2 its binding in workerd. The store contract (\`test/contract/\`) runs over both and over Ceph's radosgw. A peer is a coordinator that reads the files of another nodestate over its API. A dash: a worker has no directories and no peers, and only a worker has an R2 binding.

\`npm run matrix\` runs the suite and writes this page.
`
}

/** Writes docs/matrix.md. */
export function writeMatrix(passed: Map<string, number>): void {
  writeFileSync(FILE, matrixText(passed))
}

/** The text of docs/matrix.md. */
export function readMatrix(): string {
  return readFileSync(FILE, 'utf8')
}
