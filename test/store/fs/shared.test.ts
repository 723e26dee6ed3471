import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Tails } from '../../../src/store/fs/tails.ts'
import { wholes } from '../../support/random.mjs'

const KIB = 1024
let directory: string
let tails: Tails

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'nodestate-shared-'))
  tails = new Tails()
  // Each look is a second after the one before: every state of a file counts as settled when it is seen again.
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 1000
    return now
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(directory, { recursive: true, force: true })
})

/** Reads the tail and asks for it again, as one who sends it. */
const sent = (name: string, suffix: number) => {
  const path = join(directory, name)
  const fd = openSync(path, 'r')
  tails.read(fd, name, suffix, () => {})
  closeSync(fd)
  return tails.get(name, statSync(path), suffix, true)
}

describe('a tail that is sent', () => {
  it('is one Blob for all who ask the same, and bytes where it is short', () => {
    writeFileSync(join(directory, 'a.log'), Buffer.alloc(2000 * KIB, 'line\n'))
    const first = sent('a.log', 1024 * KIB)!
    expect(first.body).toBeInstanceOf(Blob)
    expect(sent('a.log', 1024 * KIB)!.body).toBe(first.body)
    expect(sent('a.log', 100 * KIB)!.body).toBeInstanceOf(Uint8Array)
    expect(tails.get('a.log', statSync(join(directory, 'a.log')), 1024 * KIB)!.body).toBeInstanceOf(
      Uint8Array,
    )
  })

  it('has the bytes of the file, whatever happened to it', { timeout: 60_000 }, async () => {
    const path = join(directory, 'a.log')
    const random = wholes(99)
    const fill = () => Buffer.alloc(random(1500 * KIB) + 400 * KIB, `${random(1e9)}\n`)
    const operations = [
      () => appendFileSync(path, `${random(1e9)}\n`.repeat(1 + random(3000))),
      () => truncateSync(path, random(statSync(path).size)),
      () => writeFileSync(path, fill()),
      () => writeFileSync(path, Buffer.alloc(statSync(path).size, `${random(1e9)}\n`)),
      () => {
        writeFileSync(`${path}.new`, fill())
        renameSync(`${path}.new`, path)
      },
      () => {},
    ]
    writeFileSync(path, fill())
    let blobs = 0
    for (let i = 0; i < 400; i++) {
      operations[random(operations.length)]!()
      const suffix = 500 * KIB + random(524 * KIB)
      const read = sent('a.log', suffix)
      if (!(read?.body instanceof Blob)) continue
      blobs++
      const now = readFileSync(path).subarray(-suffix)
      expect(Buffer.from(await read.body.arrayBuffer()).equals(now), `step ${i}`).toBe(true)
      expect(now.equals(read.head!), `step ${i}`).toBe(true)
      expect([read.length, read.offset + read.length]).toEqual([now.length, statSync(path).size])
    }
    expect(blobs).toBeGreaterThan(150)
  })

  it('counts in the memory that all tails may take', () => {
    const block = Buffer.alloc(1024 * KIB, 'line\n')
    for (let i = 0; i < 20; i++) writeFileSync(join(directory, `${i}.log`), block)
    for (let i = 0; i < 20; i++) expect(sent(`${i}.log`, 1024 * KIB)!.body).toBeInstanceOf(Blob)
    const kept = Array.from({ length: 20 }, (_, i) =>
      tails.get(`${i}.log`, statSync(join(directory, `${i}.log`)), 1024 * KIB),
    ).filter((read) => read !== null)
    // A megabyte and its copy each, in 16 MiB.
    expect(kept.length).toBeGreaterThan(4)
    expect(kept.length).toBeLessThanOrEqual(8)
  })
})
