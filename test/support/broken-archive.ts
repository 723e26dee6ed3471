import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { rawAnswer } from './raw.ts'

const text = Buffer.from(
  Array.from({ length: 40_000 }, (_, i) => `line ${i} of a log that is longer than a slice\n`).join(''),
)

/** A log directory with `cut.log.gz`, which lacks its second half, and the whole `good.log`. */
export function brokenArchive(): { directory: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'nodestate-broken-'))
  const archive = gzipSync(text)
  writeFileSync(join(directory, 'cut.log.gz'), archive.subarray(0, archive.length / 2))
  writeFileSync(join(directory, 'good.log'), text)
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

/** The queries whose answers break off, from a long body to one that fails in its first read. */
export const BREAKING = ['size=9000000', 'size=100', 'lines=2']

/** Asks for the broken archive: what is readable must arrive, nothing else, and it must not look whole. */
export async function expectCut(port: number, base: string, query: string): Promise<void> {
  const answer = await rawAnswer(port, `${base}/api/v1/log/view?file=cut.log.gz&${query}`)
  expect(answer.status).toBe(200)
  expect(answer.complete, 'looks complete').toBe(false)
  expect(answer.body.length).toBeGreaterThan(0)
  expect(text.includes(answer.body), 'nothing but bytes of the log').toBe(true)
}

/** An answer that does not break is whole. */
export async function expectWhole(port: number, base: string): Promise<void> {
  const answer = await rawAnswer(port, `${base}/api/v1/log/view?file=good.log&size=9000000`)
  expect(answer.complete).toBe(true)
  expect(answer.body.equals(text)).toBe(true)
}
