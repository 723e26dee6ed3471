import { describe, expect, it } from 'vitest'
import { detectFormat } from '../../../../src/log/format/detect.ts'
import { type Characters, fits } from '../../../../src/log/format/read/json-fit.ts'
import { UTC } from '../../../../src/log/time.ts'
import { toNdjson } from '../../render/whole.ts'

const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
const wide = (keys: number) => `{${Array.from({ length: keys }, (_, i) => `"k${i}":${i}`).join(',')}}`

/** A text that counts how often it is read. */
function counted(text: string): Characters & { steps: number } {
  const self = {
    steps: 0,
    length: text.length,
    charCodeAt: (at: number) => {
      self.steps++
      return text.charCodeAt(at)
    },
    indexOf: (part: string, from?: number) => {
      self.steps++
      return text.indexOf(part, from)
    },
  }
  return self
}

describe('what is parsed', () => {
  it.each([
    [200, true],
    [201, false],
  ])('%i levels: %s', (levels, expected) => {
    expect(fits(nested(levels))).toBe(expected)
  })
  it.each([
    [10_000, true],
    [10_001, false],
  ])('%i keys: %s', (keys, expected) => {
    expect(fits(wide(keys))).toBe(expected)
  })
  it('counts neither brackets nor colons in strings', () => {
    expect(fits(JSON.stringify({ a: `${'[{:,'.repeat(50_000)}"\\\\"` }))).toBe(true)
    expect(fits(`{"a\\\\\\"${':'.repeat(20_000)}":1}`)).toBe(true)
  })
  it('stops at the first level, key or element too many, and jumps over strings', () => {
    const deep = counted(nested(5_000_000))
    expect(fits(deep)).toBe(false)
    expect(deep.steps).toBeLessThan(300)
    const many = counted(wide(300_000))
    expect(fits(many)).toBe(false)
    expect(many.steps).toBeLessThan(150_000)
    const array = counted(`[${'1,'.repeat(3_000_000)}1]`)
    expect(fits(array)).toBe(false)
    expect(array.steps).toBeLessThan(210_000)
    const long = counted(`{"a":"${'x'.repeat(5_000_000)}"}`)
    expect(fits(long)).toBe(true)
    expect(long.steps).toBeLessThan(20)
  })
})

const bytes = (text: string) => new TextEncoder().encode(text)
const GOOD_JSON = '{"time":"2026-11-15T02:10:00.123Z","level":"info","msg":"fine"}\n'
const GOOD_LINDB = '2026-11-15 02:10:00.123\tINFO\ta.go:1\t[A]: fine\t{"x":1}\n'

function records(text: string, sample = text): Record<string, unknown>[] {
  const all = bytes(text)
  const format = detectFormat(bytes(sample).subarray(0, 16 * 1024))
  return new TextDecoder()
    .decode(toNdjson(all, 0, all.length, format, UTC))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

describe.each([
  ['5,000 levels', nested(5000)],
  ['201 levels', nested(201)],
  ['5 million levels', nested(5_000_000)],
  ['300,000 keys', wide(300_000)],
  ['10,001 keys', wide(10_001)],
])('%s', (_name, json) => {
  it('as the context of a LinDB line stay text', () => {
    const got = records(
      `${GOOD_LINDB}2026-11-15 02:10:01.000\tERROR\tb.go:2\t[B]: bad\t${json}\n\tat x\n${GOOD_LINDB}`,
    )
    expect(got).toHaveLength(3)
    expect(got[1]).toEqual({
      time: '2026-11-15T02:10:01.000Z',
      level: 'error',
      source: { file: 'b.go', line: 2 },
      tags: ['B'],
      message: `bad\t${json}\n\tat x`,
      unparsed: true,
    })
    expect(got[0]).toEqual(got[2])
  })
  it('as a JSON line stay text', () => {
    const got = records(`${GOOD_JSON}${json}\n${GOOD_JSON}`, GOOD_JSON)
    expect(got).toHaveLength(3)
    expect(got[1]).toEqual({ message: json, unparsed: true })
    expect(got[2]).toMatchObject({ level: 'info', message: 'fine' })
  })
  it('keep a time and a level that come before them', () => {
    const line = `{"level":"error","time":"2026-11-15T02:10:01.000Z","rest":${json}}`
    const all = bytes(line)
    const format = detectFormat(bytes(GOOD_JSON))
    expect(format.level(all, 0, all.length)).toBe(3)
    expect(records(`${line}\n`)).toEqual([
      { time: '2026-11-15T02:10:01.000Z', level: 'error', message: line, unparsed: true },
    ])
  })
  it('cost a filter few steps', () => {
    const format = detectFormat(bytes(GOOD_JSON))
    let steps = 0
    const all = new Proxy(bytes(json), {
      get(target, key) {
        const value = Reflect.get(target, key, target)
        if (typeof key === 'string' && /^\d+$/.test(key)) steps++
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const length = bytes(json).length
    expect(format.time(all, 0, length, UTC)).toBeNaN()
    expect(format.level(all, 0, length)).toBe(-1)
    expect(steps).toBeLessThan(1_000_000)
  })
})

it('10,000 keys and 200 levels are parsed', () => {
  expect(records(`${GOOD_JSON}{"time":1794708600,"x":${wide(9_998)}}\n`)[1]).toMatchObject({
    context: { x: { k9997: 9997 } },
  })
  expect(records(`2026-11-15 02:10:00.123\tINFO\ta.go:1\t[A]: x\t${nested(200)}\n`)[0]).toHaveProperty(
    'context.a',
  )
  expect(records(`2026-11-15 02:10:00.123\tINFO\ta.go:1\t[A]: x\t${wide(10_000)}\n`)[0]).toHaveProperty(
    'context.k9999',
  )
})

it('a JSON line longer than the sample is known by its beginning', () => {
  const line = `{"time":"2026-11-15T02:10:00.123Z","level":"warn","msg":"${'x'.repeat(100_000)}","n":1}\n`
  expect(records(line)[0]).toMatchObject({ level: 'warn', context: { n: 1 } })
})

it('a key called __proto__ is a key like any other', () => {
  expect(records(`{"level":"info","time":1794708600,"__proto__":{"a":1}}\n`)[0]!.context).toEqual(
    JSON.parse('{"__proto__":{"a":1}}'),
  )
})
