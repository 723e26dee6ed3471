import { describe, expect, it } from 'vitest'
import { includeFilter } from '../../../src/log/files/include.ts'

const cases: [patterns: string[], name: string, wanted: boolean][] = [
  [[], 'anything', true],
  [['*.log'], 'broker.log', true],
  [['*.log'], '.log', true],
  [['*.log'], 'broker.log.1', false],
  [['*.log'], 'broker.LOG', false],
  [['*.log', '*.gz'], 'broker.log.1.gz', true],
  [['broker*'], 'a-broker', false],
  [['b?oker.log'], 'broker.log', true],
  [['b?oker.log'], 'boker.log', false],
  [['?'], '😀', true],
  [['broker-[0-9].log'], 'broker-7.log', true],
  [['broker-[0-9].log'], 'broker-x.log', false],
  [['broker-[!0-9].log'], 'broker-x.log', true],
  [['[]x].log'], '].log', true],
  [['[z-a].log'], 'b.log', false],
  [['[a-😀].log'], 'b.log', true],
  [['[😀-\uffff].log'], '\uffff.log', false],
  [['[.log'], '[.log', true],
  [['[ab]c[[*\\*?'], 'ac[[x*y', true],
  [['[ab]c[[*'], 'cc[[x', false],
  [['[!]c[['], '[!]c[[', true],
  [['{broker,storage}.log'], 'storage.log', true],
  [['{broker,storage}.log'], 'root.log', false],
  [['{a,b{c,d}}-{1,2}'], 'bd-2', true],
  [['{broker.log'], '{broker.log', true],
  [['a+b(c).log'], 'a+b(c).log', true],
  [['a.log'], 'aXlog', false],
  [['\\*.log'], '*.log', true],
  [['\\*.log'], 'a.log', false],
  [['**'], 'x', true],
  [['*'], 'new\nline', true],
]

describe('includeFilter', () => {
  it.each(cases)('%j on %j: %s', (patterns, name, wanted) => {
    expect(includeFilter(patterns)(name)).toBe(wanted)
  })

  it('is not stalled by a pattern that would stall a backtracking engine', () => {
    const wanted = includeFilter([`${'*a'.repeat(40)}b`])
    expect(wanted('a'.repeat(255))).toBe(false)
  })

  it.each(['*a', '?', '*?', 'a?', '[!b]*'])('takes a pattern of thousands of %j', (part) => {
    const wanted = includeFilter([part.repeat(8000)])
    expect(wanted('a'.repeat(255))).toBe(false)
    expect(includeFilter([part.repeat(250)])('a'.repeat(500))).toBe(part !== '?')
  })

  it('refuses braces that stand for too many names', () => {
    expect(() => includeFilter(['{a,b,c,d,e,f,g,h,i,j}'.repeat(4)])).toThrow('too many')
  })
})
