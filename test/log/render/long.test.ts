import { describe, expect, it } from 'vitest'
import { detectFormat, type LineFormat } from '../../../src/log/format/detect.ts'
import { LONG, MANY_LINES } from '../../../src/log/render/long.ts'
import { NdjsonWriter, toJson } from '../../../src/log/render/ndjson.ts'
import { UTC } from '../../../src/log/time.ts'
import { toNdjson } from './whole.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const GOOD_LINDB = '2026-11-15 02:10:00.123\tINFO\ta.go:1\t[A]: fine\t{"x":1}\n'
const GOOD_JSON = '{"time":"2026-11-15T02:10:00.123Z","level":"info","msg":"fine"}\n'

function render(text: string, format: LineFormat) {
  const all = bytes(text)
  const out = new TextDecoder().decode(toNdjson(all, 0, all.length, format, UTC))
  return out.trimEnd().split('\n')
}
const parse = (lines: string[]): Record<string, unknown>[] => lines.map((line) => JSON.parse(line))

/** Long text with characters of every length, escapes and line ends that a cut could tear apart. */
const mixed = (length: number) => 'aé€😀\x1b[31mred\x1b[0m"\\\t'.repeat(Math.ceil(length / 20))
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const plain = (text: string) => text.replaceAll(/\x1b\[\d+m/g, '')

describe('a long record', () => {
  const format = detectFormat(bytes(GOOD_LINDB))

  it('of one line keeps its time, level, source and tags, and its text is whole', () => {
    const message = mixed(LONG + 100_000)
    const line = `2026-11-15 02:10:01.000\tERROR\tb.go:2\t[B]: ${message}end`
    const lines = render(`${GOOD_LINDB}${line}\n${GOOD_LINDB}`, format)
    const [first, long, last] = parse(lines)
    expect(lines).toHaveLength(3)
    expect(first).toEqual(last)
    expect({ ...long, message: '' }).toEqual({
      time: '2026-11-15T02:10:01.000Z',
      level: 'error',
      source: { file: 'b.go', line: 2 },
      tags: ['B'],
      message: '',
      unparsed: true,
    })
    expect(long!.message === `${plain(message)}end`).toBe(true)
    expect(toJson(`${line}\n`, format, UTC)).toBe(lines[1])
  })

  it('is written in steps with its raw text, too', () => {
    const message = mixed(LONG + 100_000)
    const line = `2026-11-15 02:10:01.000\tERROR\tb.go:2\t[B]: ${message}end`
    const all = bytes(`${GOOD_LINDB}${line}\r\n\tat x.y\r\n${GOOD_LINDB}`)
    const writer = new NdjsonWriter(format, UTC, { raw: true })
    writer.read(all, 0, all.length)
    let out = ''
    let longest = 0
    while (writer.left > 0) {
      writer.into(new Uint8Array(400_000))
      writer.write(16 * 1024, 256 * 1024)
      const slice = writer.take()
      longest = Math.max(longest, slice.buffer.byteLength)
      out += new TextDecoder().decode(slice, { stream: true })
    }
    expect(longest).toBeLessThan(1_000_000)
    const [first, long, last] = parse(out.trimEnd().split('\n'))
    expect(first!.raw).toBe(GOOD_LINDB.trimEnd())
    expect(last).toEqual(first)
    expect(long!.raw === `${line}\r\n\tat x.y`).toBe(true)
    expect(long!.message === `${plain(message)}end\n\tat x.y`).toBe(true)
    expect(Object.keys(long!)).toEqual(['time', 'level', 'source', 'tags', 'message', 'raw', 'unparsed'])
    expect(toJson(`${line}\r\n\tat x.y\r\n`, format, UTC, { raw: true })).toBe(out.split('\n')[1])
  })

  it('of many lines is taken apart like a short one', () => {
    const trace = '\tat x.y(Z.java:1)\r\n'.repeat(MANY_LINES + 500)
    const lines = render(`${GOOD_LINDB.trimEnd()}\r\n${trace}${GOOD_LINDB}`, format)
    expect(lines).toHaveLength(2)
    const [long] = parse(lines)
    expect(long).toEqual({
      ...parse([lines[1]!])[0],
      message: `fine\n${trace.replaceAll('\r\n', '\n').trimEnd()}`,
    })
  })

  it('of JSON is its text, with a time and level that come first', () => {
    const json = detectFormat(bytes(GOOD_JSON))
    const line = GOOD_JSON.trimEnd().replace('fine', 'x'.repeat(LONG))
    const [long, next] = parse(render(`${line}\n${GOOD_JSON}`, json))
    expect({ ...long, message: '' }).toEqual({
      time: '2026-11-15T02:10:00.123Z',
      level: 'info',
      message: '',
      unparsed: true,
    })
    expect(long!.message === line).toBe(true)
    expect(next).toMatchObject({ message: 'fine' })
  })

  it('is written in steps', () => {
    const all = bytes(`2026-11-15 02:10:01.000\tERROR\tb.go:2\t[B]: ${'é'.repeat(LONG)}\n${GOOD_LINDB}`)
    const writer = new NdjsonWriter(format, UTC)
    writer.into(new Uint8Array(0))
    writer.read(all, 0, all.length)
    let steps = 0
    while (writer.left > 0) {
      const before = writer.written
      writer.write(16 * 1024, Number.POSITIVE_INFINITY)
      expect(writer.written - before).toBeLessThan(256 * 1024)
      steps++
    }
    expect(steps).toBeGreaterThan(100)
    expect(parse(new TextDecoder().decode(writer.take()).trimEnd().split('\n'))).toHaveLength(2)
  })

  it('in a plain file is whole, too', () => {
    const text = 'x'.repeat(LONG + 1)
    const [long, next] = parse(render(`${text}\nshort\n`, detectFormat(bytes('short\n'))))
    expect(long!.message === text).toBe(true)
    expect(next).toEqual({ message: 'short', raw: 'short' })
  })
})
