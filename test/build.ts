import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Builds dist once per run, for the tests that start the real program. Incremental: well under a second when fresh. */
export default function build(): void {
  const page = spawnSync(process.execPath, ['src/page/build.mjs'], { encoding: 'utf8' })
  if (page.status !== 0) throw new Error(`Cannot build the page:\n${page.stderr}`)
  // Declarations keep the comments, programs do not need them. tsc writes its output even when types are wrong; the type
  // check is a separate step.
  const made = ['tsconfig.json', 'tsconfig.js.json'].map((config) =>
    spawnSync('npx', ['tsc', '-p', config], { encoding: 'utf8' }),
  )
  const stdout = made.map((each) => each.stdout).join('')
  if (!existsSync('dist/cli.js')) throw new Error(`Cannot build dist/cli.js:\n${stdout}`)
  for (const script of ['scripts/types.mjs', 'scripts/openapi.mjs']) {
    const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`${script} failed:\n${stderr}`)
  }
}
