import { expect, it } from 'vitest'
import { parseShallow } from '../../../src/kit/limits/shallow-json.ts'

const nested = (levels: number, text = '1') => `${'['.repeat(levels)}${text}${']'.repeat(levels)}`

it('parses 32 levels and refuses 33', () => {
  expect(parseShallow(nested(32))).toEqual(JSON.parse(nested(32)))
  expect(() => parseShallow(nested(33))).toThrow(SyntaxError)
  expect(() => parseShallow('{"a":'.repeat(33))).toThrow(SyntaxError)
})

it('counts neither brackets in texts nor those that were closed', () => {
  const texts = JSON.stringify({ a: '['.repeat(100), b: '\\"[[', '{{{': ['\\'] })
  expect(parseShallow(texts)).toEqual(JSON.parse(texts))
  const flat = JSON.stringify(Array.from({ length: 1000 }, () => [{}]))
  expect(parseShallow(flat)).toEqual(JSON.parse(flat))
})

it('refuses what is not JSON', () => {
  for (const text of ['', '{', '"', ']]]]', '{"a":"\\']) expect(() => parseShallow(text)).toThrow(SyntaxError)
})
