import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LogError } from '../../../src/log/error.ts'
import { Dfa } from '../../../src/log/regex/dfa.ts'
import { fold, property } from '../../../src/log/regex/set.ts'
import { Spans } from '../../../src/log/regex/spans.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const matches = (pattern: string, text: string | number[]) => {
  const record = typeof text === 'string' ? bytes(text) : Uint8Array.from(text)
  const padded = new Uint8Array(record.length + 4).fill(0x61)
  padded.set(record, 2)
  return new Dfa(pattern).test(padded, 2, 2 + record.length)
}

describe('syntax', () => {
  // Each pattern with texts that it matches and texts that it does not.
  test.each<[string, string[], string[]]>([
    ['', ['', 'x'], []],
    ['a', ['a', 'bab'], ['', 'A', 'b']],
    ['a.c', ['abc', 'aéc', 'a😀c', 'a\tc'], ['ac', 'a\nc', 'abbc']],
    ['(?s)a.c', ['a\nc'], ['ac']],
    ['^.$', ['é', '😀', 'a\nbb'], ['éé', '', 'ab']],
    ['[abc]x', ['ax', 'cx'], ['dx', '[x']],
    ['[^abc]x', ['dx', '\nx', '日x'], ['ax', 'x']],
    ['[a-c\\d-]x', ['bx', '5x', '-x'], ['dx']],
    ['[]a]x', [']x', 'ax'], ['bx']],
    ['[^]a]x', ['bx'], [']x', 'ax']],
    ['[a\\]b]x', [']x'], ['\\x']],
    ['[[:alpha:]]1', ['a1', 'Z1'], ['é1', '11']],
    ['[[:^alpha:]_]1', ['é1', '_1'], ['a1']],
    ['[[:word:][:space:]]\\.', ['_.', '\v.'], ['-.']],
    ['[é-ü]', ['ö'], ['a', 'ÿ']],
    ['[\\x{1F600}-\\x{1F64F}]', ['😀', '🙏'], ['🚀']],
    ['\\d\\D\\w\\W\\s\\S', ['1aa-\tx'], ['٣aa-\tx', '1aaa\tx']],
    ['^\\s$', [' ', '\t', '\f'], ['\v', '\u00a0']],
    ['\\bcat\\b', ['a cat.', 'cat', 'écaté'], ['cats', 'concat', '_cat']],
    ['\\Bcat', ['concat'], ['cat', 'a cat']],
    ['^\\B$', [''], ['a']],
    ['\\Aab', ['abc'], ['\nab', 'xab']],
    ['ab\\z', ['xab'], ['ab\n', 'abx']],
    ['^ab$', ['ab', 'x\nab\ny', 'ab\r\ny', 'ab\r'], ['xab', 'ab\rx']],
    ['(?-m)^ab$', ['ab'], ['x\nab', 'ab\n']],
    ['\\t\\n\\f\\v\\a\\0', ['\t\n\f\v\x07\0'], ['tnfva0']],
    ['x\\ry', ['x\ry'], ['xy']],
    ['\\x41\\x{42}\\103\\60', ['ABC0'], ['abc0']],
    ['\\Qa.b*\\E+', ['a.b*', 'a.b***'], ['aab', 'a.b']],
    ['\\Qa|b', ['a|b'], ['a', 'b']],
    ['\\.\\*\\_\\{', ['.*_{'], ['a']],
    ['^\\pL\\p{Lu}\\p{^Lu}\\PN$', ['éÉéx'], ['éÉÉx', 'éÉé5']],
    ['\\p{Greek}\\P{Greek}', ['λx'], ['λλ', 'xλ']],
    ['[\\p{Han}\\d]!', ['日!', '5!'], ['a!']],
    ['^\\p{Any}$', ['\n', '😀'], ['']],
    ['(ab)+c(?:d)(?P<n>e)(?<m>f)', ['ababcdef'], ['abcdf']],
    ['a|bc|', ['', 'zzz'], []],
    ['^(a|bc|)$', ['', 'a', 'bc'], ['b', 'abc']],
    ['^a*b+?c??$', ['b', 'aabb', 'bc'], ['a', 'bcc']],
    ['^a{2}b{1,}c{0,2}$', ['aab', 'aabbcc'], ['ab', 'aabccc', 'aaab']],
    ['^a{0}b$', ['b'], ['ab']],
    ['a{,2}', ['a{,2}'], ['aa']],
    ['a{x}{', ['a{x}{'], ['ax']],
    ['(?i)straße', ['STRAßE', 'ſtraẞe'], ['strasse']],
    ['(?i)k', ['K', '\u212a'], ['x']],
    ['(?i)σ', ['Σ', 'ς'], ['s']],
    ['(?i)[^k]x', ['ax'], ['kx', 'KX', '\u212ax']],
    ['(?i)i', ['I'], ['ı', 'İ']],
    ['(?i)\\p{Lu}', ['a'], ['1']],
    ['a(?i)b|c', ['aB', 'C'], ['AB']],
    ['a(?i:b)c', ['aBc'], ['aBC', 'Abc']],
    ['(?i)a(?-i)b', ['Ab'], ['AB']],
    ['((?i)a)b', ['Ab'], ['AB']],
    ['(?is-m:^A.b$)', ['a\nB'], ['x\na\nb']],
    ['(?U)a+', ['aa'], ['b']],
    ['[^\\x00-\\x{10FFFF}]', [], ['a', '']],
    ['\\x{D800}', [], ['a', '\ufffd']],
    ['$^', ['', 'a\n\nb'], ['a']],
    ['(?:^|,)x(?:$|,)', ['x', 'a,x', 'a\nx,b'], ['ax', 'a,xb']],
  ])('%j', (pattern, yes, no) => {
    for (const text of yes) expect(matches(pattern, text), `${JSON.stringify(text)} should match`).toBe(true)
    for (const text of no) expect(matches(pattern, text), `${JSON.stringify(text)} should not`).toBe(false)
  })

  test.each<[string, RegExp]>([
    ['(', /a "\(" is not closed/],
    ['a)', /"\)" has no "\("/],
    ['[a', /a "\[" is not closed/],
    ['[', /a "\[" is not closed/],
    ['[a-', /a "\[" is not closed/],
    ['[z-a]', /range z-a runs backwards/],
    ['[[:foo:]]', /no class "\[:foo:\]"/],
    ['[[:constructor:]]', /no class/],
    ['\\p{Foo}', /no Unicode category or script "Foo"/],
    ['\\p{L}|\\p{L=}', /no Unicode category or script "L="/],
    ['\\p{', /no Unicode category or script "\{"/],
    ['*a', /nothing before "\*" to repeat/],
    ['a|*', /nothing before "\*"/],
    ['(?i)+', /nothing before "\+"/],
    ['a**', /"\*" repeats what is already repeated/],
    ['a++', /possessive quantifiers are not supported.*linear time/],
    ['a{2}{3}', /"\{3\}" repeats/],
    ['x{1001}', /counts further than 1000/],
    ['x{1,99999999999999999999}', /counts further than 1000/],
    ['x{3,2}', /smaller number last/],
    ['(a{1000}){1000}', /may count to 1000 in all/],
    ['(a{32}){32}', /may count to 1000 in all/],
    ['(a)\\1', /back-references \("\\1"\) are not supported, because matching must take linear time/],
    ['(?P<n>a)\\k<n>', /back-references/],
    ['(?P<n>a)(?P=n)', /back-references/],
    ['(?=a)', /look-arounds \("\(\?="\) are not supported, because matching must take linear time/],
    ['(?!a)', /look-arounds/],
    ['(?<=a)b', /look-arounds/],
    ['(?<!a)b', /look-arounds/],
    ['(?>a)', /atomic groups/],
    ['(?R)', /recursions/],
    ['(?P<>a)', /no valid name/],
    ['(?P<a-b>a)', /no valid name/],
    ['(?P<n>a)|(?<n>b)', /two groups have the name "n"/],
    ['(?x)a', /"\(\?x" begins no group/],
    ['(?', /begins no group/],
    ['(?-)', /begins no group/],
    ['\\', /ends in a single "\\"/],
    ['\\y', /no escape "\\y"/],
    ['\\Z', /no escape/],
    ['\\é', /no escape/],
    ['[\\b]', /no escape "\\b"/],
    ['[a-\\d]', /no escape "\\d"/],
    ['\\xg', /no escape "\\x"/],
    ['\\x{110000}', /no character "\\x\{110000\}"/],
  ])('%j is refused and told why', (pattern, reason) => {
    let error: unknown
    try {
      new Dfa(pattern)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(LogError)
    expect(error).toMatchObject({ code: 'bad-pattern', message: expect.stringMatching(reason) })
    expect((error as LogError).message).toMatch(/^The pattern is not valid: [^\n]+\. Use RE2 syntax\.$/)
  })

  test('any text is a pattern or a refusal', () => {
    const piece = fc.constantFrom(...'()[]{}?*+|^$.\\-:<>=!,PQEpbxdiamsU019é😀\n\ud800'.split(''), '[:', ':]')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.string({ maxLength: 10 }), (pieces, text) => {
        try {
          expect(matches(pieces.join(''), text)).toBeTypeOf('boolean')
        } catch (error) {
          expect(error).toBeInstanceOf(LogError)
        }
      }),
      { numRuns: 1500 },
    )
  })
})

/** Patterns that mean the same to RE2 and to JavaScript. */
const atom = fc.constantFrom(
  ...['a', 'b', 'k', 's', 'é', 'É', 'σ', '日', '😀', '\\.', '.', '\\d', '\\D', '\\w', '\\W', '[ab]', '[^a]'],
  ...['[a-z]', '[^a-zé]', '[é-ü]', '[日😀]', '\\p{L}', '\\p{Lu}', '[\\d_]', '\\x41', '\\n', '^', '$', '()'],
)
const quantifier = fc.constantFrom('*', '+', '?', '*?', '+?', '??', '{2}', '{0,2}', '{1,}', '{2,3}', '{0}')
const grammar = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    atom,
    fc.tuple(tie('node'), tie('node')).map(([x, y]) => x + y),
    fc.tuple(tie('node'), tie('node')).map(([x, y]) => `(${x}|${y})`),
    fc.tuple(tie('node'), tie('node')).map(([x, y]) => `${x}|${y}`),
    fc.tuple(tie('node'), quantifier).map(([x, q]) => `(?:${x})${q}`),
  ),
})).node
const letters = fc.constantFrom(...'abkszAKSéÉüσςΣ日😀ſ\u212a05_ .\n')
const text = fc.array(letters, { maxLength: 14 }).map((list) => list.join(''))

describe('against the native engine', () => {
  test('property: matches what it matches', () => {
    let yes = 0
    let all = 0
    const flags = fc.constantFrom('', 'i', 's', 'm', 'im', 'is', 'ims')
    const inner = fc.array(text, { minLength: 4, maxLength: 4 })
    fc.assert(
      fc.property(flags, grammar, inner, (flags, source, texts) => {
        const native = new RegExp(source, `u${flags}`)
        const on = flags.replace('m', '')
        const dfa = new Dfa(`${flags.includes('m') ? '' : '(?-m)'}${on && `(?${on})`}${source}`)
        for (const each of texts) {
          const expected = native.test(each)
          all++
          if (expected) yes++
          const record = bytes(each)
          expect(dfa.test(record, 0, record.length), `/${source}/u${flags} on ${JSON.stringify(each)}`).toBe(
            expected,
          )
        }
      }),
      { numRuns: 1500 },
    )
    expect(yes).toBeGreaterThan(all / 10)
    expect(all - yes).toBeGreaterThan(all / 10)
  })

  test('property: word borders are where it finds them', () => {
    const piece = fc.constantFrom(
      '\\b',
      '\\B',
      'a',
      '\\w+',
      '\\W',
      'é',
      '^',
      '$',
      '.*?',
      '(\\b|a)*',
      '(?:\\B.)+',
    )
    // V8 also tries the middle of a surrogate pair, which is no place in the text: /\B/u.test('a😀a') is true there.
    const narrow = text.map((each) => each.replace(/[\u{10000}-\u{10ffff}]/gu, 'é'))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), narrow, (pieces, each) => {
        const source = pieces.join('')
        expect(matches(source, each), `/${source}/ on ${JSON.stringify(each)}`).toBe(
          new RegExp(source, 'mu').test(each),
        )
      }),
      { numRuns: 1500 },
    )
  })

  test('property: finds the spans that it finds', () => {
    const part = fc
      .tuple(atom, fc.constantFrom('', '', '*', '+', '?', '*?', '+?', '??', '{1,2}'))
      .map(([x, q]) => (/^[\^$]$/.test(x) ? x : x + q))
    const branch = fc.array(part, { minLength: 1, maxLength: 4 }).map((list) => list.join(''))
    const source = fc.array(branch, { minLength: 1, maxLength: 3 }).map((list) => list.join('|'))
    let found = 0
    fc.assert(
      fc.property(source, text, (source, each) => {
        const expected = [...each.matchAll(new RegExp(source, 'gmu'))]
          .filter((match) => match[0] !== '')
          .map((match) => [match.index, match.index + match[0].length])
        found += expected.length
        const spans = new Spans(source)
        expect(spans.find(each, 100), `/${source}/ on ${JSON.stringify(each)}`).toEqual(expected)
        expect(spans.test(each)).toBe(new RegExp(source, 'mu').test(each))
      }),
      { numRuns: 1500 },
    )
    expect(found).toBeGreaterThan(500)
  })

  test('cases fold as they fold there', () => {
    for (const code of [
      ...property('Lu')!,
      ...property('Ll')!,
      0x131,
      0x130,
      0x345,
      0x1e9e,
      0x13a0,
      0xab70,
    ]) {
      const folded = fold([code, code])
      const native = new RegExp(`^\\u{${code.toString(16)}}$`, 'iu')
      for (let i = 0; i < folded.length; i += 2)
        for (let other = folded[i]!; other <= folded[i + 1]!; other++)
          expect(native.test(String.fromCodePoint(other)), `${code} ${other}`).toBe(true)
      const char = String.fromCodePoint(code)
      for (const form of [char.toLowerCase(), char.toUpperCase()])
        if (native.test(form)) {
          const other = form.codePointAt(0)!
          expect(folded.some((lo, i) => i % 2 === 0 && lo <= other && other <= folded[i + 1]!)).toBe(true)
        }
    }
  })

  test.each(['L', 'Cn', 'Co', 'Han', 'Inherited'])('\\p{%s} is complete', (name) => {
    const set = property(name)!
    const native = new RegExp(`\\p{${name === 'Han' || name === 'Inherited' ? 'sc' : 'gc'}=${name}}`, 'u')
    const wrong: number[] = []
    for (let code = 0, i = 0; code <= 0x10ffff; code++) {
      while (i < set.length && set[i + 1]! < code) i += 2
      if (code >= 0xd800 && code < 0xe000) continue
      if (native.test(String.fromCodePoint(code)) !== (i < set.length && set[i]! <= code)) wrong.push(code)
    }
    expect(wrong).toEqual([])
  })
})

describe('broken UTF-8', () => {
  test.each<[string, number[], boolean]>([
    ['^a.b$', [0x61, 0xff, 0x62], true],
    ['^a..b$', [0x61, 0xe2, 0x82, 0x62], true],
    ['^a.b$', [0x61, 0xe2, 0x82, 0x62], false],
    ['a[^x]$', [0x61, 0xe2], true],
    ['^[^x]{3}$', [0xed, 0xa0, 0x80], true],
    ['^..$', [0xc0, 0x80], true],
    ['^.{4}$', [0xf4, 0x90, 0x80, 0x80], true],
    ['^.$', [0xf4, 0x8f, 0xbf, 0xbf], true],
    ['\\x{FFFD}', [0x61, 0x80], true],
    ['é', [0xff, 0xc3, 0xa9], true],
    ['\\w', [0xff, 0x80], false],
    ['b$', [0xff, 0x62, 0x0d, 0x0a, 0x63], true],
    ['\\bb', [0xff, 0x62], true],
    ['x*', [0xff], true],
  ])('%j on %j: %s', (pattern, record, expected) => {
    expect(matches(pattern, record)).toBe(expected)
  })
  test('property: it is read as U+FFFD, byte by byte', () => {
    const units = fc.array(
      fc.oneof(
        letters.map((char) => [...bytes(char)]),
        fc.constantFrom([0xff], [0xc0], [0xf8]),
      ),
      { maxLength: 10 },
    )
    fc.assert(
      fc.property(grammar, units, (source, list) => {
        const repaired = list.map((unit) =>
          unit[0]! > 0xf4 || unit[0] === 0xc0 ? '\ufffd' : new TextDecoder().decode(Uint8Array.from(unit)),
        )
        expect(matches(source, list.flat())).toBe(new RegExp(source, 'mu').test(repaired.join('')))
      }),
      { numRuns: 1000 },
    )
  })
})

describe('time and memory', () => {
  let seed = 1
  const random = (length: number, alphabet: string) => {
    let out = ''
    for (let i = 0; i < length; i++) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
      out += alphabet[(seed >>> 16) % alphabet.length]
    }
    return out
  }
  test.each([
    '(a*)*z',
    '(a+)+z',
    '(x+x+)+y',
    '(.*){1,32}[xy]z',
    '((a{1,10}){1,10}){1,10}z',
    '(a|b|ab)*z',
    '^(a?){50}a{50}z$',
    '(.*a){200}z',
    '(((((a?)*)?)*)?)*z',
    '\\b(\\w+\\b)*z',
    '(a|aa|aaa|aaaa){1,150}z',
    '(\\pL{1,100}|\\pN){1,9}z',
    `${'('.repeat(450)}a${')*'.repeat(450)}z`,
    `(${'()'.repeat(400)}){1000}z`,
  ])('%j does not stall', (pattern) => {
    const dfa = new Dfa(pattern)
    for (const record of [bytes('a'.repeat(100_000)), bytes(random(100_000, 'abx'))])
      expect(dfa.test(record, 0, record.length)).toBe(false)
    expect(dfa.steps).toBeLessThan(200 * 200_000)
  })
  test.each([
    '[a-z]{1000}'.repeat(5),
    '(abcdef){900}',
    '(.{1,30}){30}.{1,999}.{0,999}',
    '((a|b|c|d){1,30}){1,30}',
  ])('%j is too large', (pattern) => {
    expect(() => new Dfa(pattern)).toThrow(/too large; use smaller counts/)
  })
  test.each(['(\\w|\\W){1000}z', 'a.{900}z'])(
    '/%s/ is refused in a text where it would hold up everybody else',
    (pattern) => {
      const text = bytes(Array.from({ length: 400_000 }, (_, i) => 'ab'[((i * i) % 7) & 1]).join(''))
      const dfa = new Dfa(pattern)
      let refused: unknown
      try {
        for (let at = 0; at < text.length; at += 4000) dfa.test(text, at, Math.min(at + 4000, text.length))
      } catch (error) {
        refused = error
      }
      expect(refused).toMatchObject({
        code: 'bad-pattern',
        message: expect.stringContaining('too much work'),
      })
      // Half a second's worth of steps, and 20 for each byte of the text.
      expect(dfa.steps).toBeLessThan(6e7 + 20 * text.length)
    },
  )

  test('is right where its states are forgotten and where they do not pay', () => {
    for (const [pattern, records, times] of [
      ['a.{16} z$', 400, 20],
      ['\\Ba.{30} z\\b', 100, 1],
      ['(a.{200}|b.{199}) z$', 40, 1],
    ] as const) {
      const dfa = new Dfa(pattern)
      const native = new RegExp(pattern, 'mu')
      let yes = 0
      for (let i = 0; i < records; i++) {
        const record = `${random(times === 1 ? 1000 : 100, 'abécd')} z`
        const all = bytes(record)
        const expected = native.test(record)
        if (expected) yes++
        for (let k = 0; k < times; k++) expect(dfa.test(all, 0, all.length), record).toBe(expected)
      }
      expect(yes).toBeGreaterThan(records / 10)
      expect(yes).toBeLessThan(records)
    }
  })
})
