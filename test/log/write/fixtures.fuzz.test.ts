import fc from 'fast-check'
import { test } from 'vitest'
import { detectFormat } from '../../../src/log/format/detect.ts'
import { FIXTURES, linesOf } from '../format/fixtures.ts'
import { agrees, MESSAGES, often, REFERENCE } from './agree.ts'

/** Genuine lines, each whole or up to some place with another message behind it. */
const linesLike = (genuine: readonly string[]) =>
  fc
    .tuple(often(...genuine), fc.boolean(), fc.nat(), often(...MESSAGES))
    .map(([line, isWhole, at, message]) => (isWhole ? line : line.slice(0, at % (line.length + 1)) + message))

for (const fixture of FIXTURES) {
  const text = linesOf(fixture)
  const format = detectFormat(new TextEncoder().encode(text), undefined, { reference: REFERENCE })
  // LinDB's contexts may stay as they were written: render/ndjson.fuzz.test.ts.
  if (!format.plan || format.plan.by === 'lindb') continue
  test(`property: ${fixture.id}: bytes to bytes as by way of fields, whatever the bytes`, () => {
    agrees({ format, line: linesLike(text.trimEnd().split('\n')) }, 40)
  })
}
