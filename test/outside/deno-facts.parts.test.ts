import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { part } from '../support/parts.ts'

const { path: deno, missing } = part('deno')

describe.skipIf(missing)(`an app on Deno${missing ? ` (${missing})` : ''}`, () => {
  const folder = mkdtempSync(resolve('dist/.deno-facts-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  writeFileSync(
    join(folder, 'app.js'),
    `import { createApp } from '../index.js'
     import { memoryStore } from '../store/memory.js'
     createApp({ logs: memoryStore(), config: '', ...JSON.parse(Deno.args[0]) })
     console.error('made')`,
  )
  const said = (flags: string[], options: object) => {
    const args = [
      'run',
      '--no-prompt',
      '--allow-env',
      '--allow-read',
      ...flags,
      'app.js',
      JSON.stringify(options),
    ]
    return spawnSync(deno!, args, { encoding: 'utf8', cwd: folder, timeout: 60_000 }).stderr
  }

  it('warns at the start that it may not know its host, unless it is told', () => {
    const warning = /--allow-sys=hostname,networkInterfaces/
    expect(said([], {})).toMatch(warning)
    for (const told of [said(['--allow-sys'], {}), said([], { node: { hostName: 'db-4' } })]) {
      expect(told).toContain('made')
      expect(told).not.toMatch(warning)
    }
  }, 120_000)
})
