import { describe, expect, it } from 'vitest'
import { durationOf, parseQuery, parseSelector } from '../../src/loki/parse.ts'

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
        ],
        lines: [
          { operator: '|=', values: ['a "b"'] },
          { operator: '!=', values: ['ra\\w'] },
          { operator: '|~', values: ['x.*'] },
        ],
        fields: [
          { name: 'shard', operator: '=', value: '17' },
          { name: 'level', operator: '!=', value: 'error' },
          { name: 'status', operator: '=', value: '500' },
        ],
      },
    })
  })

  it('reads a query in brackets', () => {
    expect(parseQuery('(({file="x"} |= "a"))')).toEqual(parseQuery('{file="x"} |= "a"'))
  })

  it.each([
    ['{file="\\UFFFFFFFF"}', /not a Unicode character/],
    ['count_over_time({file="x"}[99999999999999y])', /at most 100y/],
    [`{file="x"}${' |~ "a"'.repeat(33)}`, /33 filters/],
    [`{file="x"} | json${' | a="b"'.repeat(40)}`, /40 filters/],
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
    ['sum by (level) (count_over_time({file="a"}[1h]))', 'count_over_time', 3_600_000, ['level']],
    ['sum(rate({file="a"}[1m])) by (level, file)', 'rate', 60_000, ['level', 'file']],
    ['sum(count_over_time({file="a"} | json | drop __error__[1s]))', 'count_over_time', 1000, []],
  ])('reads %s', (source, operation, range, by) => {
    expect(parseQuery(source)).toMatchObject({ kind: 'metric', operation, range, by, offset: 0 })
  })

  it('reads an offset and the health check', () => {
    expect(parseQuery('count_over_time({file="a"}[1m] offset 5m)')).toMatchObject({ offset: 300_000 })
    expect(parseQuery('vector(1)+vector(1)')).toEqual({ kind: 'scalar', value: 2 })
    expect(parseQuery('vector(1) + vector(1)')).toEqual({ kind: 'scalar', value: 2 })
  })

  it.each([
    '{file="a"',
    '',
    'hello',
    '{file="a"} | line_format "x"',
    '{file="a"} |= ip("1.2.3.4")',
    '{file="a"} | a="1" or b="2"',
    '{file="a"} | status >= 500',
    '{file="a"} | duration > 10s',
    'topk(5, rate({file="a"}[1m]))',
    'sum without (level) (rate({file="a"}[1m]))',
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

  it('reads selectors alone, and durations', () => {
    expect(parseSelector('{node="x"}')).toEqual([{ name: 'node', operator: '=', value: 'x' }])
    expect(() => parseSelector('rate({a="b"}[1m])')).toThrow()
    expect(durationOf('1h30m')).toBe(5_400_000)
    expect(durationOf('1.5s')).toBe(1500)
  })
})
