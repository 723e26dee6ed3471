import fc from 'fast-check'
import { stringify } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { changesOf } from '../../../../src/routes/insight/config/changes.ts'
import { valuesOf } from '../../../../src/routes/insight/config/values.ts'

const values = (toml: string) => Object.fromEntries(valuesOf(toml).values)
const changes = (before: string, after: string) => changesOf(valuesOf(before), valuesOf(after))

describe('valuesOf', () => {
  it.each([
    ['a = 30', { a: '30' }],
    ['a = "eu"', { a: '"eu"' }],
    ["a = 'C:\\x'", { a: '"C:\\\\x"' }],
    ['a = """\nx\ny"""', { a: '"x\\ny"' }],
    ['a = "\\u007f"', { a: '"\\u007f"' }],
    ['a = [1,2,]', { a: '[1, 2]' }],
    ['a = [\n  1, # one\n  2\n]', { a: '[1, 2]' }],
    ['a = []', { a: '[]' }],
    ['a = [[1], ["x"]]', { a: '[[1], ["x"]]' }],
    ['a = [{ c = 2, b = 1 }, 3]', { a: '[{ b = 1, c = 2 }, 3]' }],
    ['a = inf\nb = -inf\nc = nan\nd = +inf', { a: 'inf', b: '-inf', c: 'nan', d: 'inf' }],
    ['a = 1\nb = 1.0\nc = 1e2\nd = -0.0', { a: '1', b: '1.0', c: '100.0', d: '-0.0' }],
    ['a = 9223372036854775807\nb = 9007199254740993', { a: '9223372036854775807', b: '9007199254740993' }],
    ['a = 0xff\nb = 1_000', { a: '255', b: '1000' }],
    ['a = 1e21\nb = 6.02e23', { a: '1e+21', b: '6.02e+23' }],
    ['a = true', { a: 'true' }],
    ['a = 2026-11-14', { a: '2026-11-14' }],
    ['a = 02:10:00', { a: '02:10:00' }],
    ['a = 2026-11-14 02:10:00.120', { a: '2026-11-14T02:10:00.12' }],
    ['a = 2026-11-14T02:10:00Z', { a: '2026-11-14T02:10:00Z' }],
    ['a = 2026-11-14T02:10:00+02:00', { a: '2026-11-14T00:10:00Z' }],
    ['"a b".c = 1', { '"a b".c': '1' }],
    ['"a.b" = 1\n"" = 2', { '"a.b"': '1', '""': '2' }],
    ['"é" = 1', { '"é"': '1' }],
    ['a.b.c = 1', { 'a.b.c': '1' }],
    ['[a.b]\nc = 1', { 'a.b.c': '1' }],
    ['a = { b = { c = 1 } }', { 'a.b.c': '1' }],
    ['[[peers]]\nhost = "a"\n[[peers]]\nhost = "b"', { 'peers[0].host': '"a"', 'peers[1].host': '"b"' }],
    ['peers = [{ host = "a" }]', { 'peers[0].host': '"a"' }],
    ['[[a]]\n[[a.b]]\nc = 1', { 'a[0].b[0].c': '1' }],
    ['[a]\n[b]\nc = {}', { a: '{}', 'b.c': '{}' }],
    ['__proto__ = 1\nconstructor = 2', { __proto__x: '' }],
    ['', {}],
  ])('reads %j', (toml, expected) => {
    if (toml.startsWith('__proto__')) {
      expect([...valuesOf(toml).values].sort()).toEqual([
        ['__proto__', '1'],
        ['constructor', '2'],
      ])
    } else expect(values(toml)).toEqual(expected)
  })

  it('writes keys and values that TOML reads as the same again', () => {
    const key = fc.oneof(
      fc.constantFrom('a', 'b-c', 'd.e', '', 'f g', '"', "'", 'é', '[0]'),
      fc.string({ unit: 'binary' }),
    )
    const leaf = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.double(),
      fc.boolean(),
    )
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(leaf),
        fc.dictionary(key, tie('any'), { noNullPrototype: true }),
      ),
    })).any
    fc.assert(
      fc.property(fc.dictionary(key, value, { noNullPrototype: true }), (data) => {
        const found = [...valuesOf(stringify(data, { numbersAsFloat: true })).values]
        const again = valuesOf(found.map(([path, text]) => `${path} = ${text}`).join('\n'))
        expect([...again.values].sort()).toEqual(found.sort())
      }),
      { numRuns: 300 },
    )
  })

  it('says what it cannot compare', () => {
    expect(() => valuesOf('a = ')).toThrow(expect.objectContaining({ code: 'not-toml' }))
    const deep = Array.from({ length: 20_000 }, () => 'a').join('.')
    const keys = Array.from({ length: 20_000 }, (_, i) => `k${i} = 1`).join('\n')
    expect(() => valuesOf(`[${deep}]\n${keys}`)).toThrow(expect.objectContaining({ code: 'too-large' }))
    expect(() => valuesOf(`x = [{ ${deep} = 1 }, 2]`)).toThrow(expect.objectContaining({ code: 'too-large' }))
  })

  it('reads many keys at once', () => {
    const keys = Array.from({ length: 150_000 }, (_, i) => `k${i} = 1`).join('\n')
    expect(valuesOf(keys).values.size).toBe(150_000)
  })
})

describe('changesOf', () => {
  it.each([
    ['a = 1 # one\nb = 2', '# two\nb   = 2\n\na=1'],
    ['[a]\nb = 1', 'a = { b = 1 }'],
    ['a = "x"', "a = '''x'''"],
    ['a = 0x10', 'a = 16'],
    ['a = 1.50', 'a = 1.5'],
    ['a = nan', 'a = -nan'],
  ])('finds none from %j to %j', (before, after) => {
    expect(changes(before, after)).toEqual([])
    expect(changes(after, before)).toEqual([])
  })

  it.each([
    ['a = 30', 'a = 64', [{ key: 'a', before: '30', after: '64' }]],
    ['a = 1', 'a = 1.0', [{ key: 'a', before: '1', after: '1.0' }]],
    ['a = 1', 'a = "1"', [{ key: 'a', before: '1', after: '"1"' }]],
    ['', 'a = 1', [{ key: 'a', after: '1' }]],
    ['a = 1', '', [{ key: 'a', before: '1' }]],
    ['a = [1]', 'a = [1, 2]', [{ key: 'a', before: '[1]', after: '[1, 2]' }]],
    ['[a]', '[a]\nb = 1', [{ key: 'a.b', after: '1' }]],
    ['a = []', '[[a]]\nb = 1', [{ key: 'a[0].b', after: '1' }]],
    ['[a]', '', [{ key: 'a', before: '{}' }]],
    [
      'a = 1',
      '[a]\nb = 1',
      [
        { key: 'a', before: '1' },
        { key: 'a.b', after: '1' },
      ],
    ],
    [
      'z = 1\na = 1',
      'a = 2\nz = 2',
      [
        { key: 'a', before: '1', after: '2' },
        { key: 'z', before: '1', after: '2' },
      ],
    ],
  ])('finds those from %j to %j', (before, after, expected) => {
    expect(changes(before, after)).toEqual(expected)
  })
})
