import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Flare, startMiniflare } from './support/miniflare.ts'
import { part } from './support/parts.ts'

/** The commands of docs/shipping.md, block by block, as a reader would paste them. */
const blocks = [...readFileSync('docs/shipping.md', 'utf8').matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(
  ([, block]) => block!,
)

const needs = (['miniflare', 'node', 'workerd'] as const).map((name) => part(name).missing).find(Boolean)
describe.skipIf(needs)(`docs/shipping.md${needs ? ` (${needs})` : ''}`, () => {
  let flare: Flare
  let root: string
  beforeAll(async () => {
    flare = await startMiniflare()
    root = mkdtempSync(join(tmpdir(), 'nodestate-docs-'))
    mkdirSync(join(root, 'logs'))
    mkdirSync(join(root, 'bin'))
    const lines = (from: number) =>
      Array.from(
        { length: 100 },
        (_, i) => `2026-11-14 02:10:00.000\tINFO\ta.go:1\t[A] [B]: line ${from + i}\n`,
      ).join('')
    writeFileSync(join(root, 'logs/broker.log.1'), lines(0))
    writeFileSync(join(root, 'logs/broker.log'), lines(100))
    writeFileSync(join(root, 'broker.toml'), '[http]\nport = 9000\npassword = "secret"\n')
    writeFileSync(
      join(root, 'bin/nodestate'),
      `#!/bin/sh\nexec '${process.execPath}' '${resolve('dist/entry/cli.js')}' "$@"\n`,
    )
    chmodSync(join(root, 'bin/nodestate'), 0o755)
  })
  afterAll(async () => {
    await flare?.stop()
    rmSync(root, { recursive: true, force: true })
  })

  const run = (script: string) =>
    new Promise<{ code: unknown; out: string }>((done) => {
      const clean = Object.entries(process.env).filter(([name]) => !name.startsWith('NODESTATE_'))
      const env = {
        ...Object.fromEntries(clean),
        PATH: `${join(root, 'bin')}:${process.env.PATH}`,
        AWS_ENDPOINT_URL: flare.s3,
        AWS_ACCESS_KEY_ID: flare.accessKeyId,
        AWS_SECRET_ACCESS_KEY: flare.secretAccessKey,
        AWS_REGION: 'us-east-1',
      }
      const text = script
        .replaceAll('/var/log/lindb', join(root, 'logs'))
        .replaceAll('/etc/lindb/broker.toml', join(root, 'broker.toml'))
        .replaceAll('s3://logs/', `s3://${flare.bucket}/`)
      const options = { env, cwd: root, timeout: 60_000 }
      execFile('bash', ['-emc', text], options, (error, stdout, stderr) =>
        done({ code: error ? (error.code ?? error.signal) : 0, out: stdout + stderr }),
      )
    })

  it('has commands that work as they are written', { timeout: 200_000 }, async () => {
    expect(blocks.length).toBe(3)
    const outputs: string[] = []
    for (const block of blocks) {
      const { code, out } = await run(block)
      expect(code, `${block}\n${out}`).toBe(0)
      outputs.push(out)
    }
    expect(outputs[1]).toContain('"broker.log@000001"')
    expect(outputs[1]).toContain('line 199')
    expect(outputs[2]).toContain('"id":"db-4"')
  })
})
