import { describe, expect, it } from 'vitest'
import { renderedBody } from '../../src/log/body.ts'
import { LogError } from '../../src/log/error.ts'
import { toNdjson } from '../../src/log/ndjson.ts'
import { detectFormat, PLAIN } from '../../src/log/record.ts'
import { UTC } from '../../src/log/time.ts'

const line = (i: number) =>
  `2026-11-15 02:10:00.${String(i % 1000).padStart(3, '0')}\tINFO\tx.go:1\t[A]: line ${i}\n`
const record = (i: number) => line(i) + '\tat a()\n'.repeat(i % 7 === 0 ? 5 : 0)
const bytes = (text: string) => new TextEncoder().encode(text)

describe('rendered records', () => {
  it.each([1, 10, 2000])('are the same whether they come at once or in turns (%i records)', async (count) => {
    const all = Array.from({ length: count }, (_, i) => record(i)).join('')
    const long = `${line(1)}${'\tat a trace that does not end\n'.repeat(3000)}`
    const pieces = [all, long, record(3)].map(bytes)
    const format = detectFormat(pieces[0]!)
    const render = (one: Uint8Array) => toNdjson(one, 0, one.length, format, UTC)
    const got = await new Response(renderedBody(pieces, null, format, render)).text()
    const once = pieces.map((piece) => new TextDecoder().decode(render(piece))).join('')
    expect(got === once).toBe(true)
    expect(got.split('\n').length - 1).toBe(count + 2)
  })

  it('let timers go on, however many there are', async () => {
    const piece = bytes('a\n'.repeat(500_000))
    const render = (one: Uint8Array) => toNdjson(one, 0, one.length, PLAIN, UTC)
    let ticks = 0
    const timer = setInterval(() => ticks++, 1)
    const got = await new Response(renderedBody([piece], null, PLAIN, render)).text()
    clearInterval(timer)
    expect(got.split('\n').length - 1).toBe(500_000)
    expect(ticks).toBeGreaterThan(5)
  })

  it('end with an error where the archive is broken, behind all that is readable', async () => {
    const broken = new LogError('bad-archive', 'It is broken.')
    const body = renderedBody([bytes('a\n')], broken, PLAIN, (one) => one as Uint8Array<ArrayBuffer>)
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('a\n')
    await expect(reader.read()).rejects.toBe(broken)
  })
})
