import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { redact } from '../../../src/core/mask/redact.ts'
import { createConfigReader } from '../../../src/core/node/config.ts'

const page = readFileSync(new URL('../../../docs/masking.md', import.meta.url), 'utf8')

/** Every row of every table, as TOML. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split(' | ') as [string, string])
  .map(([written, shown]) => [toToml(written), shown.trim() === 'as it is' ? null : toToml(shown)] as const)

/** `[table] key = x` is two lines, and so is what `⏎` separates. */
function toToml(cell: string): string {
  return [...cell.matchAll(/`([^`]+)`/g)]
    .map((match) => match[1]!.replace(/^(\[[\w.-]+\]) (?=\S)/, '$1\n'))
    .join('\n')
}

describe('docs/masking.md', () => {
  it('has tables', () => {
    expect(rows.length).toBeGreaterThan(70)
  })

  it.each(rows)('%j', async (written, shown) => {
    parse(written)
    expect(redact(written)).toBe(shown ?? written)
    expect((await createConfigReader(written).read()).text).toBe(shown ?? written)
  })
})
