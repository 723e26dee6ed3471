import { describe, expect, it } from 'vitest'
import { amountOf, durationOf } from '../../../../src/doors/loki/logql/amounts.ts'
import { parseQuery, parseSelector } from '../../../../src/doors/loki/logql/parse.ts'
import { LokiError } from '../../../../src/doors/loki/logql/query.ts'

const by = (...labels: string[]) => ({ labels, without: false })

describe('parseQuery', () => {
  it('reads selectors, line filters, parsers and label filters', () => {
    expect(
      parseQuery(
        '{file="broker.log", level=~"error|warn"} |= "a \\"b\\"" != `ra\\w` |~ "x.*" | json | shard="17" | level!="error", status == 500',
      ),
    ).toEqual({
      kind: 'log',
      selection: {
        selector: [
          { name: 'file', operator: '=', value: 'broker.log' },
          { name: 'level', operator: '=~', value: 'error|warn' },
          { name: 'level', operator: '!=', value: 'error' },
        ],
        lines: [
          { operator: '|=', values: ['a "b"'] },
          { operator: '!=', values: ['ra\\w'] },
          { operator: '|~', values: ['x.*'] },
        ],
        stages: [
          { kind: 'parse', parser: 'json' },
          { kind: 'where', condition: { name: 'shard', operator: '=', value: '17' } },
          { kind: 'where', condition: { name: 'status', sign: '==', unit: 'number', amount: 500 } },
        ],
      },
    })
  })

  it.each([
    ['operators', `1${'+1'.repeat(4_000)}`],
    ['comparisons', `1${'>1'.repeat(4_000)}`],
    ['alternatives', `1${' or 1'.repeat(1_500)}`],
    ['operators between two comments', `1 #"\n${'+1'.repeat(4_000)}\n#"`],
    ['brackets', `${'('.repeat(4_000)}{file="a"}${')'.repeat(4_000)}`],
    ['open brackets', '('.repeat(8_000)],
    ['sums', `${'sum('.repeat(1_000)}rate({file="a"}[1m])${')'.repeat(1_000)}`],
    ['filters', `{file="a"}${'|="a"'.repeat(1_500)}`],
    ['conditions', `{file="a"}|${'a="b" and '.repeat(800)}a="b"`],
  ])('refuses thousands of %s in one sentence', (_, query) => {
    expect(() => parseQuery(query)).toThrow(LokiError)
  })

  it('reads a query in brackets', () => {
    expect(parseQuery('(({file="x"} |= "a"))')).toEqual(parseQuery('{file="x"} |= "a"'))
  })

  it.each([
    ['{file="\\UFFFFFFFF"}', /not a Unicode character/],
    ['count_over_time({file="x"}[99999999999999y])', /at most 100y/],
    [`{file="x"}${' |~ "a"'.repeat(33)}`, /33 filters/],
    [`{file="x"} | json${' | a="b"'.repeat(40)}`, /40 filters/],
    [`{file="x"}${' | json'.repeat(33)}`, /33 filters/],
    [`{file="x"} |= "${'a'.repeat(9000)}"`, /at most 8192/],
    [`${'('.repeat(4000)}{file="x"}${')'.repeat(4000)} |= 1`, /at most 100 are/],
  ])('refuses %.40s', (query, sentence) => {
    expect(() => parseQuery(query)).toThrow(sentence)
    expect(() => parseQuery(query)).toThrow(expect.objectContaining({ name: 'LokiError' }))
  })

  it('reads alternatives of a line filter', () => {
    expect(parseQuery('{file="a"} |= "x" or "y"')).toMatchObject({
      selection: { lines: [{ operator: '|=', values: ['x', 'y'] }] },
    })
  })

  it.each([
    ['count_over_time({file="a"}[5m])', 'count_over_time', 300_000, null],
    ['rate({file="a"} |= "e" [1m30s])', 'rate', 90_000, null],
    ['sum by (level) (count_over_time({file="a"}[1h]))', 'count_over_time', 3_600_000, by('level')],
    ['sum(rate({file="a"}[1m])) by (level, file)', 'rate', 60_000, by('level', 'file')],
    ['sum(count_over_time({file="a"} | json | drop __error__[1s]))', 'count_over_time', 1000, by()],
    [
      'sum without (file) (bytes_rate({file="a"}[1m]))',
      'bytes_rate',
      60_000,
      { ...by('file'), without: true },
    ],
  ])('reads %s', (source, operation, range, sum) => {
    expect(parseQuery(source)).toMatchObject({ kind: 'metric', operation, range, sum, offset: 0 })
  })

  it('reads an offset and the health check', () => {
    expect(parseQuery('count_over_time({file="a"}[1m] offset 5m)')).toMatchObject({ offset: 300_000 })
    expect(parseQuery('count_over_time({file="a"}[1m] offset -5m)')).toMatchObject({ offset: -300_000 })
    expect(parseQuery('vector(1)+vector(1)')).toEqual({ kind: 'scalar', value: 2 })
    expect(parseQuery('vector(1) + vector(1)')).toEqual({ kind: 'scalar', value: 2 })
  })

  it.each([
    '{file="a"',
    '',
    'hello',
    '{file="a"} | line_format "x"',
    '{file="a"} |= ip("1.2.3.4")',
    '{file="a"} | a="1" or b="2" and c="3"',
    '{file="a"} | a="1" and (b="2"), c="3" or d="4"',
    '{file="a"} | json | cost > 1e400',
    'topk(5, rate({file="a"}[1m]))',
    'avg_over_time({file="a"} | unwrap x [1m])',
    'rate({file="a"}[1m]) > 5',
    '{file="a"} | unpack',
  ])('refuses %s in one sentence', (source) => {
    expect(() => parseQuery(source)).toThrow(/./)
    try {
      parseQuery(source)
    } catch (error) {
      expect(error).toMatchObject({ name: 'LokiError', status: 400 })
      expect((error as Error).message).not.toContain('\n')
    }
  })

  it('says where a long query is broken', () => {
    expect(() => parseQuery(`{a="b"} ${'|= "x" '.repeat(150)}`)).toThrow(/at most/)
    expect(() => parseQuery(`{a="b"} ${'|= "x" ) '.repeat(800)}`)).toThrow(/parse error at character 16/)
    expect(() => parseQuery('{'.repeat(8000))).toThrow(/parse error at character 2/)
  })

  it('reads selectors alone, and durations', () => {
    expect(parseSelector('{node="x"}')).toEqual([{ name: 'node', operator: '=', value: 'x' }])
    expect(() => parseSelector('rate({a="b"}[1m])')).toThrow()
    expect(durationOf('1h30m')).toBe(5_400_000)
    expect(durationOf('1.5s')).toBe(1500)
    for (const text of ['0s', '-5m', '5 m', 'x5m', '5'])
      expect(() => durationOf(text), text).toThrow(expect.objectContaining({ name: 'LokiError' }))
    for (const text of ['{a="b"} |= "x"', '{a="b"} | json'])
      expect(() => parseSelector(text)).toThrow(/selector/)
  })

  it.each([
    ['number', '44', 44],
    ['number', '-1.5e3', -1500],
    ['number', '', Number.NaN],
    ['number', '4 4', Number.NaN],
    ['number', '10s', Number.NaN],
    ['duration', '1m30.5s', 90_500],
    ['duration', '-2ms', -2],
    ['duration', '0', 0],
    ['duration', '5', Number.NaN],
    ['duration', '1d', Number.NaN],
    ['bytes', '10KB', 10_000],
    ['bytes', '1.5 mib', 1_572_864],
    ['bytes', '42', 42],
    ['bytes', '3 bytes', Number.NaN],
    ['bytes', 'x', Number.NaN],
  ] as const)('a %s as Go reads it: %s', (unit, text, amount) => {
    expect(amountOf(text, unit)).toBe(amount)
  })
})
