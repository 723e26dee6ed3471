import { describe, expect, it } from 'vitest'
import { detectFormat } from '../../../src/log/format/detect.ts'
import { toJson } from '../../../src/log/render/ndjson.ts'
import { UTC } from '../../../src/log/time.ts'
import { toNdjson } from '../render/whole.ts'

const HEAD = '2026-11-15 02:10:00.123 INFO [main] org.example.App - '

/** A line with `é` in two halves, and what is between them. */
const divided = (between: string) =>
  Uint8Array.from([...Buffer.from(`${HEAD}a `), 0xc3, ...Buffer.from(between), 0xa9, 0x0a])

describe('a character that is divided', () => {
  const format = detectFormat(Buffer.from(`${HEAD}started\n`.repeat(3)))
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

  it.each([
    ['by nothing', '', 'a é'],
    ['by a colour', '\x1b[31m', 'a \ufffd\ufffd'],
    ['by two colours', '\x1b[31m\x1b[0m', 'a \ufffd\ufffd'],
    ['by three colours', '\x1b[31m\x1b[1m\x1b[0m', 'a \ufffd\ufffd'],
  ])('%s is written as its fields are', (_, between, message) => {
    const bytes = divided(between)
    const written = decode(toNdjson(bytes, 0, bytes.length, format, UTC))
    expect(written).toBe(`${toJson(decode(bytes), format, UTC)}\n`)
    expect(JSON.parse(written).message).toBe(message)
  })
})
