import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SENTENCES } from '../../../src/terminal/output/notes.ts'

describe('notes', () => {
  it('are each explained in a sentence', () => {
    const [, table] = readFileSync('docs/api/errors.md', 'utf8').split('| note | meaning |\n')
    const documented = [...table!.split('\n\n')[0]!.matchAll(/^\| `([\w-]+)` \|/gm)].map((match) => match[1]!)
    expect(documented).toContain('family-order')
    expect(Object.keys(SENTENCES)).toEqual(expect.arrayContaining(documented))
    for (const sentence of Object.values(SENTENCES)) expect(sentence).toMatch(/^[A-Z].*\.$/)
  })
})
