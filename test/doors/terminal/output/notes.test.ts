import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fieldHints, SENTENCES } from '../../../../src/doors/terminal/output/notes.ts'

describe('notes', () => {
  it('are each explained in a sentence', () => {
    const [, table] = readFileSync('docs/api/errors.md', 'utf8').split('| note | meaning |\n')
    const documented = [...table!.split('\n\n')[0]!.matchAll(/^\| `([\w-]+)` \|/gm)].map((match) => match[1]!)
    expect(documented).toContain('family-order')
    expect(Object.keys(SENTENCES)).toEqual(expect.arrayContaining(documented))
    for (const sentence of Object.values(SENTENCES)) expect(sentence).toMatch(/^[A-Z].*\.$/)
  })
})

describe('hints for fields', () => {
  const named = (...names: string[]) => ({ fields: names.map((name) => ({ name, count: 1, values: [] })) })
  const hint = (field: string, meant: string) =>
    `The newest records do not seem to have a field ${field}: did you mean ${meant}?`

  it.each([
    ['shrad:3', 'shrad', 'shard'],
    ['!shrad:3', 'shrad', 'shard'],
    ['shrad~a>3', 'shrad', 'shard'],
    ['shrad >= 3', 'shrad', 'shard'],
    ['levle:warn', 'levle', 'level'],
    ['request.usr:ann', 'request.usr', 'request.user'],
    ['a<c:1', 'a<c', 'a<b'],
  ])('%s', (where, field, meant) => {
    expect(fieldHints(where, named('shard', 'request.user', 'a<b'))).toEqual([hint(field, meant)])
  })

  it('come once for each field, and not for one that there is or that is like none', () => {
    const where = ['shrad:3', 'shrad>1', 'shard > 9', 'level:warn', 'planet:mars']
    expect(fieldHints(where, named('shard'))).toEqual([hint('shrad', 'shard')])
    expect(fieldHints(undefined, named('shard'))).toEqual([])
  })
})
