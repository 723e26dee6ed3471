import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { compressionOf, looksCompressed, soundsCompressed } from '../../../src/store/codec/kind.ts'

test.each([
  ['1f8b0800', 'gzip'],
  ['1f8b0700', null],
  ['28b52ffd00', 'zstd'],
  ['502a4d18', 'zstd'],
  ['504b03041400', 'zip'],
  ['504b0506', 'zip'],
  ['425a6839314159265359', 'bzip2'],
  [Buffer.from('BZhang was here').toString('hex'), null],
  ['fd377a585a00', 'xz'],
  ['', null],
  [Buffer.from('PK is not a zip').toString('hex'), null],
  [Buffer.from('2026-11-15 02:10').toString('hex'), null],
])('the compression of %s is %s', (hex, expected) => {
  expect(compressionOf(Buffer.from(hex, 'hex'))).toBe(expected)
})

test('a name is a reason to look', () => {
  for (const name of ['a.gz', 'A.LOG.GZ', 'a.zst', 'a.zip', 'a.bz2', 'a.xz'])
    expect(soundsCompressed(name)).toBe(true)
  for (const name of ['a.log', 'gz', 'a.gz.log', 'a.log.1']) expect(soundsCompressed(name)).toBe(false)
})

test('bytes that are not UTF-8 are a reason to look', () => {
  const text = Buffer.from('grüße aus Köln: \u{1f600}\n'.repeat(20))
  for (let cut = 0; cut < 12; cut++) {
    expect(looksCompressed(text.subarray(cut))).toBe(false)
    expect(looksCompressed(text.subarray(0, text.length - cut))).toBe(false)
  }
  expect(looksCompressed(new Uint8Array(0))).toBe(false)
  const archive = gzipSync(Array.from({ length: 3000 }, (_, i) => `line ${i * i}`).join('\n'))
  for (let at = 0; at + 256 < archive.length; at += 97)
    expect(looksCompressed(archive.subarray(at, at + 256))).toBe(true)
})
