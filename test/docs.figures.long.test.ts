import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { DOCUMENTS, readResults, withFigures } from '../bench/results.mjs'

it.each(DOCUMENTS)(
  '%s shows the figures of bench/results.json (NODESTATE_WRITE_DOCS=1 writes them)',
  (path) => {
    const text = readFileSync(path, 'utf8')
    const written = withFigures(text, readResults())
    expect(written).toMatch(/^(<!--|#) bench: /m)
    if (process.env.NODESTATE_WRITE_DOCS) writeFileSync(path, written)
    else expect(text).toBe(written)
  },
)

it('finds a time with no more reads than docs/api/filters.md says', async () => {
  const [, most] = /at most (\d+) small reads/.exec(readFileSync('docs/api/filters.md', 'utf8'))!
  const { countReads } = await import('../bench/bisection.mjs')
  expect(await countReads(20 * 2 ** 30)).toBeLessThanOrEqual(Number(most))
})

it('docs/embedding.md says what a worker starts with, as docs/performance.md does', () => {
  const [, core] = /^\| core: .* \| ([\d.]+) \|$/m.exec(readFileSync('docs/performance.md', 'utf8'))!
  expect(readFileSync('docs/embedding.md', 'utf8')).toContain(`starts with ${core} KB`)
})
