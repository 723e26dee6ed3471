import { expect, it } from 'vitest'
import { LineOut } from '../../../../src/log/write/bytes/line-out.ts'

it('gives each part of some lines as it is decoded alone, also next to what is not ASCII', () => {
  const line = (i: number) => `${i} plain ${i % 3 === 0 ? 'größer 接続 \u{1f600}' : 'text'} end\n`
  const bytes = new TextEncoder().encode(Array.from({ length: 2000 }, (_, i) => line(i)).join(''))
  const lines = new LineOut()
  lines.from(bytes)
  for (let from = 0, i = 0; from < bytes.length; i++) {
    const to = bytes.indexOf(10, from)
    expect(`${lines.text(from, to)}\n`).toBe(line(i))
    expect(lines.text(to - 4, to)).toBe(' end')
    from = to + 1
  }
  expect(lines.text(0, bytes.length)).toBe(new TextDecoder().decode(bytes))
})

it('shows broken UTF-8 as a decoder does', () => {
  const bytes = Uint8Array.of(0x61, 0xff, 0x62, 0x0a, 0xef, 0xbb, 0xbf, 0x63)
  const lines = new LineOut()
  lines.from(bytes)
  expect([lines.text(0, 1), lines.text(0, 3), lines.text(2, 3), lines.text(4, 8)]).toEqual([
    'a',
    'a\ufffdb',
    'b',
    '\ufeffc',
  ])
})
