import { describe, expect, it } from 'vitest'
import { misfits, readFaults, readRows } from './faults.mjs'

const faults = readFaults()

describe('the faults that worlds must find', () => {
  it.each(faults)('$name says what it is, and fits the sources', (fault) => {
    for (const key of ['part', 'fault', 'fixed', 'rule'] as const) expect(fault[key], key).toMatch(/\w/)
    expect(fault.edits.length).toBeGreaterThan(0)
    expect(misfits(fault), 'write the edit again, or delete the fault if it cannot exist any more').toEqual(
      [],
    )
  })

  it('have names of their own', () => {
    expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length)
  })

  it('are the rows of the table in docs/reliability.md, each found', () => {
    const rows = readRows()
    expect([...rows.keys()].sort()).toEqual(faults.map(({ fault }) => fault).sort())
    for (const { part, fault, rule } of faults) {
      const [, , ...last] = rows.get(fault)!.split(' | ')
      expect(rows.get(fault)).toMatch(new RegExp(`^\\| ${part} \\| `))
      expect(last.join(' | ')).toMatch(new RegExp(`^${rule} \\| [1-9]\\d* \\|$`))
    }
  })
})
