import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Look, NOTHING, readLook, type Term, writeLook } from '../../../src/doors/page/url.ts'

describe('the address', () => {
  it('holds every look', () => {
    const look = fc.record<Look>({
      file: fc.string({ minLength: 1 }),
      others: fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 3 }),
      nodes: fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 2 }),
      by: fc.constantFrom('', 'file', 'node'),
      different: fc.string(),
      encoding: fc.string(),
      history: fc.string(),
      compare: fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 2 }),
      level: fc.constantFrom('', 'warn', 'error'),
      since: fc.string(),
      until: fc.string(),
      terms: fc.array(
        fc.record<Term>({
          kind: fc.constantFrom('q', 'regex', 'not', 'notregex', 'where', 'pattern'),
          value: fc.string({ minLength: 1 }),
        }),
        { maxLength: 4 },
      ),
      columns: fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 3 }),
      rotated: fc.boolean(),
      all: fc.boolean(),
      follow: fc.boolean(),
      at: fc.string(),
      offset: fc.integer({ min: -1000, max: 1000 }),
      record: fc.boolean(),
      time: fc.string(),
    })
    fc.assert(
      fc.property(look, (each) => {
        fc.pre(!each.others.includes(each.file!))
        expect(readLook(writeLook(each))).toEqual(each)
      }),
    )
  })

  it('reads nonsense as nothing', () => {
    expect(readLook('')).toEqual(NOTHING)
    expect(readLook('#offset=x&rotated=maybe')).toEqual(NOTHING)
  })
})
