import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { partsFolder } from '../parts/parts.mjs'
import { BREAKING, brokenArchive, expectCut, expectWhole } from '../support/broken-archive.ts'
import { type Running, start } from '../support/child.ts'
import { lacking, part } from '../support/parts.ts'

const logs = brokenArchive()
afterAll(() => logs.remove())

const bun = part('bun')
const deno = part('deno')
const express = existsSync(join(partsFolder, 'node_modules/express'))
  ? null
  : lacking('express is not installed: run npm run test:all')

const WAYS = [
  {
    name: 'Bun.serve(app)',
    missing: bun.missing,
    base: '',
    command: [bun.path!, 'test/entry/embedded/bun.mjs'],
  },
  {
    name: 'Deno.serve(app.fetch)',
    missing: deno.missing,
    base: '',
    command: [deno.path!, 'run', '--allow-all', 'test/entry/embedded/deno.mjs'],
  },
  {
    name: 'Express with getRequestListener',
    missing: express,
    base: '/db-4',
    command: [process.execPath, 'test/entry/embedded/express.mjs'],
  },
]

for (const { name, missing, base, command } of WAYS) {
  describe.skipIf(missing)(`an app behind ${name}${missing ? ` (${missing})` : ''}`, () => {
    let server: Running
    let port: number
    beforeAll(async () => {
      server = await start(command[0]!, [...command.slice(1), logs.directory], {
        isReady: (line) => line.startsWith('port '),
      })
      port = Number(server.line.slice(5))
    })
    afterAll(() => server.stop())

    it.each(BREAKING)('cuts a broken answer (%s)', (query) => expectCut(port, base, query))
    it('sends a good answer whole', () => expectWhole(port, base))
  })
}

describe.skipIf(deno.missing)(`nodestate/deno${deno.missing ? ` (${deno.missing})` : ''}`, () => {
  it('closes with clients that are still connected, and its process lives on', async () => {
    const args = ['run', '--allow-all', 'test/entry/embedded/deno-close.mjs']
    const { stdout } = await promisify(execFile)(deno.path!, args)
    const told = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const seen = { again: expect.any(Boolean), refused: true, errors: [] }
    expect(told).toEqual([
      { ...seen, name: 'none', closed: false, left: null },
      { ...seen, name: 'followers', closed: true, left: [true, true, true] },
      { ...seen, name: 'unread', closed: true, left: null },
      { ...seen, name: 'unfinished', closed: expect.any(Boolean), left: null },
    ])
  })
})
