import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findZipMember, unzip } from '../../../src/store/codec/zip.ts'
import { zipOf } from '../../support/zip.ts'

const TEXT = Buffer.from(Array.from({ length: 5000 }, (_, i) => `line ${i * i}\n`).join(''))

async function read(zip: Buffer): Promise<Buffer> {
  const readAt = async (from: number, to: number) => Uint8Array.from(zip.subarray(from, to))
  const member = await findZipMember(readAt, zip.length)
  const open = async function* () {
    yield Uint8Array.from(zip.subarray(member.offset, member.offset + member.length))
  }
  const parts: Uint8Array[] = []
  for await (const part of unzip(open, member)) parts.push(part)
  return Buffer.concat(parts)
}

describe('a zip of one member', () => {
  test.each([0, 8] as const)('is its text, with method %i', async (method) => {
    const text = await read(zipOf([{ name: 'system.log', text: TEXT, method }], 'PK\x05\x06 in a comment'))
    expect(text.equals(TEXT)).toBe(true)
  })
  test.each([
    [
      'several files',
      zipOf([
        { name: 'a', text: TEXT },
        { name: 'b', text: TEXT },
      ]),
      'not-viewable',
    ],
    ['an encrypted one', zipOf([{ name: 'a', text: TEXT, flags: 1 }]), 'not-viewable'],
    ['another method', zipOf([{ name: 'a', text: TEXT, method: 12 }]), 'not-viewable'],
    ['a cut end', zipOf([{ name: 'a', text: TEXT }]).subarray(0, -30), 'bad-archive'],
  ])('with %s is refused', async (_name, zip, code) => {
    await expect(read(zip)).rejects.toMatchObject({ code })
  })
  test('a damaged one is told', async () => {
    const zip = zipOf([{ name: 'a', text: TEXT, method: 0 }])
    zip[100]! ^= 1
    await expect(read(zip)).rejects.toMatchObject({ code: 'bad-archive' })
  })
})

const hasZip = (() => {
  try {
    execFileSync('zip', ['-v'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

test.skipIf(!hasZip)("a zip made by zip(1) (needs Debian's zip)", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nodestate-zip-'))
  writeFileSync(join(folder, 'system.log'), TEXT)
  // From a pipe, the sizes stand behind the data and in the directory only.
  execFileSync('sh', ['-c', 'zip -q a.zip system.log; cat system.log | zip -q b.zip -'], { cwd: folder })
  for (const name of ['a.zip', 'b.zip'])
    expect((await read(readFileSync(join(folder, name)))).equals(TEXT)).toBe(true)
  rmSync(folder, { recursive: true })
})
