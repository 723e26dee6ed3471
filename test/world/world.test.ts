import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { Plan } from './plan.ts'

/** The same ones in every run: what fails here fails because of a change. */
const COUNT = 60

const folder = mkdtempSync(join(tmpdir(), 'nodestate-worlds-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs the simulator; what it prints, and its exit code. */
function simulate(...args: (string | number)[]): Promise<{ output: string; code: number }> {
  const program = fileURLToPath(new URL('simulate.mjs', import.meta.url))
  const options = { maxBuffer: 256 * 1024 * 1024 }
  return new Promise((resolve) =>
    execFile(process.execPath, [program, ...args.map(String)], options, (error, stdout, stderr) =>
      resolve({ output: stdout + stderr, code: error ? Number(error.code) : 0 }),
    ),
  )
}

describe('the worlds', () => {
  it(`of the first ${COUNT} seeds are right`, { timeout: 3_600_000 }, async () => {
    const { output, code } = await simulate('--seeds', COUNT)
    expect(code, output).toBe(0)
    expect(output).toContain(`${COUNT} of ${COUNT} worlds`)
  })

  it('that failed once are right', async () => {
    const { output, code } = await simulate('--mended')
    expect(code, output).toBe(0)
  })
})

describe('a broken world', () => {
  it('is found, shrunk to what breaks it, told, and repeated by its plan', async () => {
    const log = { format: 'lindb', rotation: 'none', compress: 'never' } as const
    const logs = [{ name: 'broker.log', ...log, keep: 2, crlf: false }]
    const disk = { tick: 1, reusesInodes: false, slice: 1000, isFast: true, isWatched: true, slowest: 1 }
    const write = { by: 'writer broker.log', does: 'write', pieces: 1, trace: 0, longest: 20 }
    const query = { rotated: false, level: null, q: null, since: null, until: null }
    const read = {
      by: 'reader 1',
      does: 'lines',
      log: 'broker.log',
      query,
      lines: 9,
      size: 0,
      back: false,
      pause: 0,
    }
    const plan = {
      seed: 1,
      settings: { length: 1000, size: 1, logs, ...disk, limits: { scans: 1 } },
      steps: [
        { id: 1, at: 10, ...write, count: 8 },
        { id: 2, at: 20, by: 'vandal broker.log', does: 'forge' },
        { id: 3, at: 30, ...write, count: 4 },
        { id: 4, at: 800, ...read },
        { id: 5, at: 900, ...read },
      ],
    } satisfies Plan
    const file = join(folder, 'plan.json')
    const shrunk = join(folder, 'shrunk.json')
    writeFileSync(file, JSON.stringify({ plan }))
    const { output, code } = await simulate('--plan', file, '--save', shrunk)
    expect(code, output).toBe(1)
    expect(output).toContain('Broken: only what was written: reader 1, step 4: ')
    const { plan: small } = JSON.parse(readFileSync(shrunk, 'utf8')) as { plan: Plan }
    expect(small.steps.map(({ does }) => does)).toEqual(['forge', 'lines'])
    expect((await simulate('--plan', shrunk)).code).toBe(1)
  })
})
