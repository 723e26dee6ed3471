import { spawnSync } from 'node:child_process'
import { afterAll, describe, expect, it } from 'vitest'
import { part } from '../support/parts.ts'
import { CELLS, prepareGround } from './cells.ts'
import { readMatrix, writeMatrix } from './matrix.ts'
import { conformance } from './suite.ts'

const missing = (['miniflare', 'workerd', 'node'] as const).map((name) => part(name).missing).find(Boolean)
const passed = new Map<string, number>()

describe.skipIf(missing)(`The matrix${missing ? ` (${missing})` : ''}`, () => {
  const prepare = async () => {
    const built = spawnSync('npm', ['run', '--silent', 'build:worker'], { encoding: 'utf8' })
    if (built.status !== 0) throw new Error(`Cannot build the worker:\n${built.stderr}`)
    return prepareGround()
  }
  conformance(CELLS, prepare, (key) => passed.set(key, (passed.get(key) ?? 0) + 1))
  afterAll(() => {
    if (process.env.NODESTATE_WRITE_MATRIX) writeMatrix(passed)
  })

  it('docs/matrix.md tells of every cell', () => {
    if (process.env.NODESTATE_WRITE_MATRIX) return
    const text = readMatrix()
    for (const cell of CELLS) expect(text).toContain(`| ${cell.runtime} |`)
    expect(text).not.toContain('| 0 passed |')
  })
})
