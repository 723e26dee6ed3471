import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalEnd, jsonEnd } from '../../../../src/log/write/bytes/json-value.ts'
import { viewOf } from '../../../../src/log/write/bytes/words.ts'

/** Whether it is one whole JSON value on one line, as JSON.parse says, without a tab. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
  } catch {
    return false
  }
  return !/[\t\n\r]/.test(text) && text === text.trim()
}
const check = (text: string) => {
  const bytes = new TextEncoder().encode(text)
  return jsonEnd(viewOf(bytes), 0, bytes.length) === bytes.length
}

test.each([
  '{}',
  '[]',
  '{"a":1}',
  '{ "a" : [ 1 , -0.5e+3 , true , null , "x\\u00e9\\n" ] }',
  '"\\""',
  '0',
  '-1E5',
  '{"a":1,}',
  '[1,]',
  '{a:1}',
  '01',
  '1.',
  '.5',
  '-',
  '1e',
  '"\\x"',
  '"\\u12g4"',
  '"\\u12"',
  '"',
  '"\t"',
  '{"a"}',
  '{"a":}',
  '[1 2]',
  'tru',
  'nul',
  'truex',
  '{"é":"日本 😀\u2028"}',
  '',
  '{"a":\t1}',
])('%j', (text) => {
  expect(check(text)).toBe(isJson(text))
})

test('nested too deep is left to others', () => {
  expect(check('['.repeat(90) + ']'.repeat(90))).toBe(true)
  const objects = (deep: number) => '{"a":'.repeat(deep) + 1 + '}'.repeat(deep)
  expect([objects(100), objects(101)].map(check)).toEqual([true, false])
  expect(check('['.repeat(5000) + ']'.repeat(5000))).toBe(false)
})

test('property: agrees with JSON.parse, also on damaged text', () => {
  let valid = 0
  const damaged = fc
    .tuple(
      fc.json(),
      fc.nat(40),
      fc.constantFrom('', '"', '{', '}', ',', '0', '\\', ' ', 'e', '-'),
      fc.nat(2),
    )
    .map(([text, at, put, cut]) => text.slice(0, at) + put + text.slice(at + cut))
  fc.assert(
    fc.property(fc.oneof(fc.json(), damaged), (text) => {
      const trimmed = text.trim()
      if (isJson(trimmed)) valid++
      expect(check(trimmed)).toBe(isJson(trimmed))
    }),
    { numRuns: 10_000 },
  )
  expect(valid).toBeGreaterThan(1000)
})

const isCanonical = (text: string) => {
  const bytes = new TextEncoder().encode(text)
  return canonicalEnd(viewOf(bytes), 0, bytes.length) === bytes.length
}

test.each(['{"a":1,"b":[true,null,-7,1.5,0.25],"c":{"d":"x\\n\\"y"}}', '[]', '{}', '123456789012345', '"é"'])(
  '%s is written as JSON.stringify writes it',
  (text) => {
    expect(JSON.stringify(JSON.parse(text))).toBe(text)
    expect(isCanonical(text)).toBe(true)
  },
)

test('property: what counts as written by JSON.stringify is what it would write', () => {
  const part = fc.constantFrom(
    ...[
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b"',
      '"1"',
      '"__proto__"',
      '""',
      '"\\n"',
      '"\\u0041"',
      '"\\/"',
    ],
    ...[
      ' ',
      '0',
      '-0',
      '1',
      '12',
      '.5',
      '.50',
      '.05',
      '0.000001',
      'e5',
      'E',
      '-',
      'true',
      'null',
      'é',
      '"é"',
    ],
    ...['{"a":1', '{"a":1,"a":2}', '[1.5,', '1234567890123456', '0.1234567890123456', '123456.7890123456'],
  )
  const built = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''))
  const whole = fc.json({ maxDepth: 4 })
  const spelled = whole.map((text) => JSON.stringify(JSON.parse(text)))
  fc.assert(
    fc.property(fc.oneof(built, whole, spelled), (text) => {
      if (isCanonical(text)) expect(JSON.stringify(JSON.parse(text))).toBe(text)
    }),
    { numRuns: 1500 },
  )
})
