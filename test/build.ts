import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Written after each build; everything that is older has been built. */
const MARK = 'node_modules/.built'
/** What a build reads, besides package.json and the settings of TypeScript. */
const SOURCES = ['src', 'scripts']
const MADE = join('src', 'doors', 'page', 'assets.js')

/** Builds dist once per run, for the tests that start the real program, unless nothing has changed since the last one. */
export default function build(): void {
  if (isFresh()) return
  const begun = new Date()
  const page = spawnSync(process.execPath, ['src/doors/page/build.mjs'], { encoding: 'utf8' })
  if (page.status !== 0) throw new Error(`Cannot build the page:\n${page.stderr}`)
  // Declarations keep the comments, programs do not need them. tsc writes its output even when types are wrong; the type
  // check is a separate step.
  const made = ['tsconfig.json', 'tsconfig.js.json'].map((config) =>
    spawnSync('npx', ['tsc', '-p', config], { encoding: 'utf8' }),
  )
  const stdout = made.map((each) => each.stdout).join('')
  if (!existsSync('dist/entry/cli.js')) throw new Error(`Cannot build dist/entry/cli.js:\n${stdout}`)
  for (const script of ['scripts/types.mjs', 'scripts/openapi.mjs']) {
    const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`${script} failed:\n${stderr}`)
  }
  writeFileSync(MARK, '')
  // A file that was saved while the build ran belongs to the next one.
  utimesSync(MARK, begun, begun)
}

function isFresh(): boolean {
  const mark = statSync(MARK, { throwIfNoEntry: false })
  if (!mark || !existsSync(MADE) || !existsSync('dist/entry/cli.js')) return false
  const settings = readdirSync('.').filter((name) => /^(package|tsconfig.*)\.json$/.test(name))
  const sources = SOURCES.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  return [...settings, ...sources].every((path) => path === MADE || statSync(path).mtimeMs < mark.mtimeMs)
}
