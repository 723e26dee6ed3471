import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LogError } from '../../../src/log/error.ts'
import { type Matcher, regexMatcher, textMatcher } from '../../../src/log/pattern/pattern.ts'
import { Dfa } from '../../../src/log/regex/dfa.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const has = (matcher: Matcher, text: string) => matcher.test(bytes(`<<${text}>>`), 2, 2 + bytes(text).length)

describe('textMatcher', () => {
  test.each([
    ['error', 'an ERROR here', true],
    ['error', 'an Error', true],
    ['error', 'erro r', false],
    ['Error', 'an ERROR here', false],
    ['Error', 'an Error here', true],
    ['über', 'ÜBER alles', true],
    ['über', 'über', true],
    ['Über', 'über', false],
    ['straße', 'STRAßE', true],
    ['λόγος', 'ΛΌΓΟΣ', true],
    ['日本', 'in 日本 today', true],
    ['ошибка', 'ОШИБКА', true],
    ['ошибка', 'ОшибкАх', true],
    ['р', 'Р', true],
    // The first byte of р with the second of Р.
    ['р', 'Ѡ', false],
    // The last byte of А is also the last of ѐ.
    ['ѐа', 'хѐа', true],
    ['a.b', 'axb', false],
    ['[x]', 'tag [X]', true],
    ['', 'anything', true],
    ['', '', true],
    ['x', '', false],
    ['aab', 'aaab', true],
    ['abab', 'abaabab', true],
    ['{"port":9000}', '\t{"port":9000}', true],
    ['a\nb', 'a\nb', true],
  ])('%j in %j: %s', (needle, text, expected) => {
    expect(has(textMatcher(needle), text)).toBe(expected)
  })
  test('looks at nothing outside its range', () => {
    const all = bytes('xxneedlexx')
    const matcher = textMatcher('needle')
    expect(matcher.test(all, 2, 8)).toBe(true)
    expect(matcher.test(all, 3, 8)).toBe(false)
    expect(matcher.test(all, 2, 7)).toBe(false)
    expect(matcher.find?.(all, 0, all.length)).toBe(2)
    expect(matcher.find?.(all, 3, all.length)).toBe(-1)
  })
  test('a text without a line break can be looked for line by line', () => {
    expect(textMatcher('ab 1').needle).toEqual({ low: bytes('ab 1'), fold: Uint8Array.of(32, 32, 0, 0) })
    expect(textMatcher('aB').needle).toEqual({ low: bytes('aB'), fold: Uint8Array.of(0, 0) })
    expect(textMatcher('É').needle).toEqual({ low: bytes('É'), fold: Uint8Array.of(0, 0) })
    expect(textMatcher('é').needle).toBe(undefined)
    expect(textMatcher('a\nb').needle).toBe(undefined)
  })
  test('a text that is too long is refused with its limit', () => {
    expect(() => textMatcher('x'.repeat(1001))).toThrow(/1001 characters long; at most 1000/)
  })
  test('property: finds text in other scripts, whatever the case', () => {
    const letters = [...'арбАРБопрОПРσΣ日d ']
    const text = (least: number, most: number) =>
      fc
        .array(fc.constantFrom(...letters), { minLength: least, maxLength: most })
        .map((list) => list.join(''))
    fc.assert(
      fc.property(text(1, 6), text(0, 40), fc.boolean(), (some, around, isThere) => {
        const needle = some.toLowerCase().replaceAll('ς', 'σ')
        const all = isThere ? `${around}${some.toUpperCase()}${around}` : around
        const place = all.toLowerCase().replaceAll('ς', 'σ').indexOf(needle)
        const expected = place < 0 ? -1 : bytes(all.slice(0, place)).length
        const record = bytes(all)
        expect(textMatcher(needle).find!(record, 0, record.length)).toBe(expected)
      }),
      { numRuns: 3000 },
    )
  })
  test('property: finds text in what nearly matches everywhere', () => {
    const periodic = (least: number, most: number) =>
      fc
        .array(fc.constantFrom('a'.repeat(30), 'ä'.repeat(30), 'σς', 'b', 'Ä', 'ſs', 'ı'), {
          minLength: least,
          maxLength: most,
        })
        .map((list) => list.join(''))
    const fold = (text: string) => [...text].map((char) => char.toUpperCase().toLowerCase()).join('')
    fc.assert(
      fc.property(periodic(1, 6), periodic(0, 30), (some, around) => {
        const needle = some.toLowerCase()
        const record = bytes(around)
        // Letters such as s and ſ are the same only for a text that has both.
        const isSame =
          needle.includes('ſ') === around.includes('ſ') && needle.includes('ı') === around.includes('ı')
        fc.pre(isSame && !/σ/.test(needle) === !/ς/.test(needle))
        const place = fold(around).indexOf(fold(needle))
        const expected = place < 0 ? -1 : bytes(around.slice(0, place)).length
        expect(textMatcher(needle).find!(record, 0, record.length)).toBe(expected)
        const exact = around.indexOf(`Ä${some}`)
        const at = exact < 0 ? -1 : bytes(around.slice(0, exact)).length
        expect(textMatcher(`Ä${some}`).find!(record, 0, record.length)).toBe(at)
      }),
      { numRuns: 2000 },
    )
  })
  test.each([
    ['b', 'a', ''],
    ['', 'a', 'b'],
    ['b', 'ä', ''],
    ['', 'ı', 'b'],
    ['B', 'ı', ''],
    ['', 'a', 'ba'],
  ])('takes linear time for %s, many %s and %s', (before, letter, after) => {
    const needle = before + letter.repeat(1000 - before.length - after.length) + after
    const record = bytes(letter.repeat(1024 * 1024))
    const start = performance.now()
    expect(textMatcher(needle).test(record, 0, record.length)).toBe(false)
    // Comparing at every place takes 5 to 60 s.
    expect(performance.now() - start).toBeLessThan(1500)
  })
  test('property: finds what a search of strings finds', () => {
    const small = fc.stringMatching(/^[abAB é\n]{0,12}$/)
    fc.assert(
      fc.property(small, fc.stringMatching(/^[abAB éÉ\n]{0,40}$/), (needle, text) => {
        const exact = /\p{Lu}/u.test(needle)
        const expected = exact ? text.includes(needle) : text.toLowerCase().includes(needle)
        const matcher = textMatcher(needle)
        expect(has(matcher, text)).toBe(expected)
        const all = bytes(text)
        const at = matcher.find!(all, 0, all.length)
        const naive = exact ? text.indexOf(needle) : text.toLowerCase().indexOf(needle)
        expect(at).toBe(naive < 0 ? -1 : bytes(text.slice(0, naive)).length)
      }),
      { numRuns: 3000 },
    )
  })
})

describe('regexMatcher', () => {
  test.each([
    ['time(out|d)', 'request timeout', true],
    ['(?i)TIMEOUT', 'request Timeout', true],
    ['TIMEOUT', 'timeout', false],
    ['^at ', 'Error\nat main', true],
    ['Error$', 'Error\r\nat main', true],
    ['main$', 'at main\r', true],
    ['a.b', 'a\nb', false],
    ['(?s)a.b', 'a\nb', true],
    ['\\[Broker\\].*"port":\\d{4}', '[Broker] x {"port":9000}', true],
    ['\\[Broker\\].*"port":\\d{5}', '[Broker] x {"port":9000}', false],
    ['über|naïve', 'so naïve', true],
    ['(?i)task', 'tas\u212a', true],
    ['x*', '', true],
  ])('%j on %j: %s', async (pattern, text, expected) => {
    expect(has(await regexMatcher(pattern), text)).toBe(expected)
  })
  test('survives broken UTF-8', async () => {
    const matcher = await regexMatcher('a.b')
    expect(matcher.test(new Uint8Array([0x61, 0xff, 0x62]), 0, 3)).toBe(true)
  })
  test.each(['(', '[z-a]', '(?=a)', '(a)\\1', 'a**', '\\', 'x{1001}', '(a{1000}){1000}', '\\p{Foo}', '*a'])(
    '%j is refused in one sentence',
    async (pattern) => {
      const refused = regexMatcher(pattern).then(
        () => null,
        (error: unknown) => error,
      )
      const error = (await refused) as LogError
      expect(error).toBeInstanceOf(LogError)
      expect(error.code).toBe('bad-pattern')
      expect(error.message).toMatch(/^The pattern is not valid: .*RE2 syntax/)
      expect(error.message).not.toMatch(/\(\?m\)|\n| {4}at /)
    },
  )
  test('too long or too large is refused', async () => {
    await expect(regexMatcher('x'.repeat(1001))).rejects.toThrow(/at most 1000/)
    await expect(regexMatcher('[a-z]{1000}'.repeat(20))).rejects.toThrow(/too large/)
  })
  test('patterns that stall a backtracking engine take steps in proportion to the text', () => {
    const evil = bytes('a'.repeat(100_000))
    for (const pattern of ['(a+)+b', '(a|a)*b', '(a*)*b', '(.*a){20}b', '^(a?){50}a{50}b$']) {
      const matcher = new Dfa(pattern)
      expect(matcher.test(evil, 0, evil.length)).toBe(false)
      expect(matcher.steps).toBeLessThan(10 * evil.length)
    }
  })
})

describe('the literals of a pattern', () => {
  const exact = (...texts: string[]) => texts.map((text) => ({ text, folded: false }))
  test.each([
    ['timeout', exact('timeout')],
    ['timeout|refused', exact('timeout', 'refused')],
    ['a(timeout|refused)b', exact('timeout', 'refused')],
    ['connection (reset|refused)? by', exact('connection ')],
    ['\\d+ms timeout', exact('ms timeout')],
    ['ab+cdef', exact('cdef')],
    ['colou?r', exact('colo')],
    ['x{0,3}abc', exact('abc')],
    ['\\[Broker\\]', exact('[Broker]')],
    ['[abc]def', exact('def')],
    ['[]x]def', exact('def')],
    ['[^\\]]def[[:alpha:]]', exact('def')],
    ['(?P<n>foo)', exact('foo')],
    ['(?i)lead', [{ text: 'lead', folded: true }]],
    ['(?i)task', [{ text: 'ta', folded: true }]],
    ['a|bcd', null],
    ['abc|', null],
    ['.*', null],
    ['(?i:abc)de', [{ text: 'abc', folded: true }]],
    ['[aA][bB]1', [{ text: 'ab1', folded: true }]],
    ['(?i)ab密c', [{ text: 'ab', folded: true }]],
    ['\\x41bc', exact('Abc')],
    ['\\Qa|b\\E', exact('a|b')],
    ['(?:ab){2}', exact('ab')],
    ['(?:ab){0,2}', null],
    ['ab\\ncd', exact('ab')],
    ['(abc)*', null],
  ])('%j', (pattern, expected) => {
    expect(new Dfa(pattern).literals).toEqual(expected)
  })
  test('property: no match without a required literal', () => {
    const atom = fc.oneof(
      fc.constantFrom(
        'a',
        'b',
        'ab',
        'ba',
        'k',
        'é',
        '.',
        '[ab]',
        '[^a]',
        '\\.',
        '\\w',
        '^',
        '$',
        '\\b',
        '\n',
        '[aA]',
        '\\x61b',
        '(?i:ab)',
        '(?i:kéa)',
        '(?i)b',
      ),
      fc.constantFrom('a', 'b'),
    )
    const regex = fc.letrec<{ node: string }>((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        atom,
        fc.tuple(tie('node'), tie('node')).map(([x, y]) => x + y),
        fc.tuple(tie('node'), tie('node')).map(([x, y]) => `(${x}|${y})`),
        fc.tuple(tie('node'), tie('node')).map(([x, y]) => `${x}|${y}`),
        fc
          .tuple(tie('node'), fc.constantFrom('*', '+', '?', '{0,2}', '{2}', '{1,}', '??'))
          .map(([x, q]) => `(?:${x})${q}`),
        fc.tuple(atom, fc.constantFrom('*', '+', '?', '{2}')).map(([x, q]) => (x.length > 1 ? x : x + q)),
      ),
    })).node
    let matched = 0
    fc.assert(
      fc.property(
        fc.constantFrom('', '(?i)', '(?s)'),
        regex,
        fc.stringMatching(/^([ab]{0,25}|[abAB]{0,25}|[abABkéÉK\u212a.\n]{0,25})$/),
        (flags, body, text) => {
          let dfa: Dfa
          try {
            dfa = new Dfa(flags + body)
          } catch {
            return
          }
          const all = bytes(text)
          const { literals } = dfa
          if (!literals || !dfa.test(all, 0, all.length)) return
          matched++
          const found = literals.some(({ text: literal, folded }) =>
            folded ? text.toLowerCase().includes(literal.toLowerCase()) : text.includes(literal),
          )
          expect(found, `${flags}${body} on ${JSON.stringify(text)}`).toBe(true)
        },
      ),
      { numRuns: 20_000 },
    )
    expect(matched).toBeGreaterThan(100)
  })
})

test('compiles many patterns in turns', async () => {
  let turns = 0
  let isOver = false
  const turn = () => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const sources = Array.from({ length: 24 }, (_, i) => `\\pL{${40 + i}}x${i}`)
  await Promise.all(sources.map((source) => regexMatcher(source)))
  isOver = true
  expect(turns).toBeGreaterThan(8)
})
