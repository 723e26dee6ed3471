import { describe, expect, it } from 'vitest'
import { contextText, tagsText } from '../../../../../src/doors/page/log/record/context.ts'
import { fits, valuesOf } from '../../../../../src/doors/page/log/record/fields.ts'
import { parse } from '../../../../../src/doors/page/log/record/record.ts'
import { NOTHING } from '../../../../../src/doors/page/url.ts'

const record = parse(
  JSON.stringify({
    time: '2026-01-10T00:00:00Z',
    level: 'warn',
    source: { file: 'a/b.go', line: 12 },
    tags: ['Storage', 'WAL'],
    message: 'said',
    context: { shard: 17, ok: true, none: null, deep: { 'a.b': { c: 'x' } }, level: 'own' },
  }),
)

describe('fields of a record', () => {
  it.each([
    ['level', ['warn']],
    ['source', ['a/b.go:12', 'a/b.go']],
    ['tag', ['Storage', 'WAL']],
    ['shard', ['17']],
    ['ok', ['true']],
    ['none', ['null']],
    ['deep.a.b.c', ['x']],
    ['missing', []],
  ])('%s', (field, values) => {
    expect(valuesOf(record, field)).toEqual(values)
  })

  it('decide whether it is a hit', () => {
    const where = (value: string) => [{ term: { kind: 'where', value } as const, matcher: null }]
    expect(fits(record, NOTHING, where('shard:17'))).toBe(true)
    expect(fits(record, NOTHING, where('!shard:17'))).toBe(false)
    expect(fits(record, NOTHING, where('!missing:1'))).toBe(true)
    expect(fits(record, NOTHING, where('missing:*'))).toBe(false)
    expect(fits(record, NOTHING, where('shard>=17'))).toBe(true)
    expect(fits(record, NOTHING, where('shard<17'))).toBe(false)
    expect(fits(record, NOTHING, where('!missing>1'))).toBe(true)
    expect(fits(record, { ...NOTHING, level: '=warn,fatal' }, [])).toBe(true)
    expect(fits(record, { ...NOTHING, level: '=error' }, [])).toBe(false)
    expect(fits(record, { ...NOTHING, level: 'error' }, [])).toBe(false)
    expect(fits(record, { ...NOTHING, level: 'warning' }, [])).toBe(true)
  })
})

describe('context as the log writes it', () => {
  it.each([
    [{ shard: '20', who: 'a b' }, 'msg="x" shard=20 who="a b"', 'shard=20 who="a b"'],
    [{ a: 1 }, '2026\tINFO\tx\t{"a":1}', '{"a":1}'],
    [{ a: 1, b: 'c' }, '2026\tINFO\tx\t{"a": 1, "b": "c"}', '{"a": 1, "b": "c"}'],
    [{ a: 1, b: 2 }, '{"a":1,"msg":"x","b":2}', '{"a":1,"b":2}'],
  ])('%j in %j', (context, raw, shown) => {
    expect(contextText(context, raw)).toBe(shown)
  })

  it('leaves out what the message says, and what a line of text says in another way', () => {
    const raw = '10.0.0.7 - - [x] "GET / HTTP/1.1" 200 5 rt=0.004'
    const context = { client: '10.0.0.7', status: 200, rt: '0.004' }
    expect(contextText(context, raw, '"GET / HTTP/1.1" 200 5 rt=0.004')).toBe('')
    expect(contextText({ user: 'a' }, 'x user=a LOG:  hi', 'hi')).toBe('user=a')
  })

  it('and tags', () => {
    expect(tagsText(['A', 'B'], 'x\t[ A][B]: y')).toEqual(['[ A]', '[B]'])
    expect(tagsText(['raft'], '{"logger":"raft"}')).toEqual(['raft'])
  })
})
