import { describe, expect, it } from 'vitest'
import { clockOf } from '../../../../../src/doors/page/log/find/clock.ts'
import { momentOf, rangeOf, rangeText, shownMoment } from '../../../../../src/doors/page/log/find/moment.ts'
import { chartQueryOf, isNarrowed, queryOf } from '../../../../../src/doors/page/log/find/query.ts'
import {
  inverted,
  invertedLevel,
  levelText,
  searchOf,
  termText,
  withSearch,
  withTerm,
  withValue,
} from '../../../../../src/doors/page/log/find/terms.ts'
import { NOTHING } from '../../../../../src/doors/page/url.ts'

const look = { ...NOTHING, file: 'a.log' }

describe('conditions', () => {
  it('come from values, and the opposite goes', () => {
    const shard = { field: 'shard', value: '17' }
    const only = withValue(look, shard, false)
    expect(only).toEqual({ terms: [{ kind: 'where', value: 'shard:17' }] })
    expect(withValue({ ...look, ...only }, shard, true)).toEqual({
      terms: [{ kind: 'where', value: '!shard:17' }],
    })
    expect(withValue(look, { field: 'level', value: 'warn' }, false)).toEqual({ level: '=warn', terms: [] })
    const slow = { field: '', value: 'slow' }
    const found = { ...look, ...withValue(look, slow, false) }
    expect(found.terms).toEqual([{ kind: 'q', value: 'slow' }])
    expect(withValue(found, slow, true)).toEqual({ terms: [{ kind: 'not', value: 'slow' }] })
    expect(withTerm(found, { kind: 'regex', value: 'a.b' })).toEqual({
      terms: [...found.terms, { kind: 'regex', value: 'a.b' }],
    })
  })

  it('have their first text in the search field', () => {
    const shard = { kind: 'where', value: 'shard:17' } as const
    const found = { ...look, terms: [shard, { kind: 'regex', value: 'a+' } as const] }
    expect(searchOf(found)).toEqual({ kind: 'regex', value: 'a+' })
    expect(searchOf(look)).toBe(undefined)
    expect(withSearch(found, 'b', false)).toEqual({ terms: [{ kind: 'q', value: 'b' }, shard] })
    expect(withSearch(found, '', false)).toEqual({ terms: [shard] })
  })

  it('can be inverted, and said in words', () => {
    for (const term of [
      { kind: 'q', value: 'a' },
      { kind: 'regex', value: 'a' },
      { kind: 'where', value: 'a.b:c:d' },
      { kind: 'where', value: 'took>1.5s' },
    ] as const) {
      expect(inverted(term)).not.toEqual(term)
      expect(inverted(inverted(term))).toEqual(term)
    }
    expect(termText({ kind: 'where', value: '!shard:17' })).toBe('not shard: 17')
    expect(termText({ kind: 'where', value: 'shard:*' })).toBe('with shard')
    expect(termText({ kind: 'where', value: '!status>=500' })).toBe('not status ≥ 500')
    expect(termText({ kind: 'where', value: 'path~/api/*' })).toBe('path ~ /api/*')
    expect(termText({ kind: 'notregex', value: 'a+' })).toBe('not /a+/')
    expect(invertedLevel('error')).toBe('=debug,info,warn')
    expect(invertedLevel('=warn')).toBe('=debug,info,error,fatal')
    expect(levelText('=warn,fatal')).toBe('level: warn or fatal')
  })

  it('are asked of the node by their names', () => {
    const terms = [
      { kind: 'not', value: 'x' },
      { kind: 'not', value: 'y' },
      { kind: 'where', value: 'shard:1' },
    ] as const
    const query = queryOf({ ...look, terms: [{ kind: 'q', value: 'a' }, ...terms] })
    expect(query).toMatchObject({ file: 'a.log', q: ['a'], not: ['x', 'y'], where: ['shard:1'] })
    expect(chartQueryOf({ ...look, level: 'error', terms: [{ kind: 'where', value: 'shard:1' }] })).toEqual({
      file: 'a.log',
      where: ['shard:1'],
    })
    expect(isNarrowed({ ...look, terms: [terms[0]] })).toBe(true)
  })
})

describe('times', () => {
  const utc = clockOf('log', 0)

  it('become dates in the zone of the log; ages stay ages', () => {
    expect(rangeOf({ since: '02:10', until: '02:15' }, clockOf('log', 120))).toMatchObject({
      since: expect.stringMatching(/^\d{4}-\d\d-\d\d 02:10:00\.000$/),
      until: expect.stringMatching(/^\d{4}-\d\d-\d\d 02:15:00\.000$/),
    })
    expect(rangeOf({ since: '15m', until: '' }, utc)).toEqual({ since: '15m', until: '' })
    const dated = { since: '2026-01-10', until: '2026-01-10T02:00:00+02:00' }
    expect(rangeOf(dated, utc)).toEqual(dated)
    expect(rangeOf({ since: 'yesterdy', until: '' }, utc)).toEqual({ wrong: 'since' })
    expect(rangeOf({ since: '', until: '30:00' }, utc)).toEqual({ wrong: 'until' })
    expect(momentOf('2026-01-10 02:00:00', -330)).toBe(Date.UTC(2026, 0, 10, 7, 30))
  })

  it('are typed and shown on the chosen clock, and kept in that of the log', () => {
    const clock = clockOf('UTC', 120)
    expect(rangeOf({ since: '2026-01-10 02:10', until: '' }, clock)).toEqual({
      since: '2026-01-10 04:10:00.000',
      until: '',
    })
    expect(shownMoment('2026-01-10 04:10:00.000', clock)).toBe('2026-01-10 02:10:00.000')
    expect(clock.text('2026-01-10T04:10:00.123456+02:00')).toBe('2026-01-10 02:10:00.123456')
  })

  it.each([
    [{ since: '', until: '' }, 'All time'],
    [{ since: '1h', until: '' }, 'Last hour'],
    [{ since: '90m', until: '' }, 'Last 90 minutes'],
    [{ since: '1d', until: '' }, 'Last day'],
    [{ since: '2026-01-10 02:41:00', until: '2026-01-10 02:45:00.000' }, '01-10 02:41:00 – 02:45:00'],
    [{ since: '', until: '2h' }, 'Until 2 h ago'],
  ])('reads %j as “%s”', (range, text) => {
    expect(rangeText(range, utc)).toBe(text)
  })
})
