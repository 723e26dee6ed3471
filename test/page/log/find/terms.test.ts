import { describe, expect, it } from 'vitest'
import { absoluteRange, momentOf } from '../../../../src/page/log/find/moment.ts'
import { chartQueryOf, isNarrowed, queryOf } from '../../../../src/page/log/find/query.ts'
import {
  inverted,
  invertedLevel,
  levelText,
  termText,
  withTerm,
  withValue,
} from '../../../../src/page/log/find/terms.ts'
import { NOTHING } from '../../../../src/page/url.ts'

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
    expect(withValue(look, { field: '', value: 'slow' }, false)).toEqual({
      find: 'slow',
      regex: false,
      terms: [],
    })
    const found = { ...look, find: 'slow' }
    expect(withValue(found, { field: '', value: 'slow' }, true)).toEqual({
      find: '',
      terms: [{ kind: 'not', value: 'slow' }],
    })
    expect(withTerm(found, { kind: 'regex', value: 'a.b' })).toEqual({
      terms: [{ kind: 'regex', value: 'a.b' }],
    })
  })

  it('can be inverted, and said in words', () => {
    for (const term of [
      { kind: 'q', value: 'a' },
      { kind: 'regex', value: 'a' },
      { kind: 'where', value: 'a.b:c:d' },
    ] as const) {
      expect(inverted(term)).not.toEqual(term)
      expect(inverted(inverted(term))).toEqual(term)
    }
    expect(termText({ kind: 'where', value: '!shard:17' })).toBe('not shard: 17')
    expect(termText({ kind: 'where', value: 'shard:*' })).toBe('with shard')
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
    const query = queryOf({ ...look, find: 'a', terms: [...terms] })
    expect(query).toMatchObject({ file: 'a.log', q: ['a'], not: ['x', 'y'], where: ['shard:1'] })
    expect(chartQueryOf({ ...look, level: 'error', chart: 'where:shard:2', terms: [terms[2]] })).toEqual({
      file: 'a.log',
      where: ['shard:1', 'shard:2'],
    })
    expect(isNarrowed({ ...look, terms: [terms[0]] })).toBe(true)
  })
})

describe('times', () => {
  it('become dates in the zone of the log', () => {
    const clock = absoluteRange({ since: '02:10', until: '02:15' }, 120)
    expect(clock).toMatchObject({
      since: expect.stringMatching(/^\d{4}-\d\d-\d\d 02:10:00\.000$/),
      until: expect.stringMatching(/^\d{4}-\d\d-\d\d 02:15:00\.000$/),
    })
    expect(absoluteRange({ since: '15m', until: '' }, 0)).toMatchObject({
      since: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/),
      until: '',
    })
    const dated = { since: '2026-01-10', until: '2026-01-10T02:00:00+02:00' }
    expect(absoluteRange(dated, 0)).toEqual(dated)
    expect(absoluteRange({ since: 'yesterdy', until: '' }, 0)).toEqual({ wrong: 'since' })
    expect(absoluteRange({ since: '', until: '30:00' }, 0)).toEqual({ wrong: 'until' })
    expect(momentOf('2026-01-10 02:00:00', -330)).toBe(Date.UTC(2026, 0, 10, 7, 30))
  })
})
