import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { partsFolder } from '../parts/parts.mjs'
import { cleanUp, launch, temporaryDirectory } from '../program.ts'
import { part } from '../support/parts.ts'

/** The query as docs/shipping.md gives it. */
const query = /^ {4}(SELECT [\s\S]*?;)$/m.exec(readFileSync('docs/shipping.md', 'utf8'))![1]!

const { missing } = part('duckdb')
describe.skipIf(missing)(`DuckDB${missing ? ` (${missing})` : ''}`, () => {
  afterEach(cleanUp)

  it('finds lines in shipped segments with the documented query', async () => {
    const root = temporaryDirectory()
    const logs = join(root, 'logs')
    const home = join(root, 'home')
    mkdirSync(logs)
    const hostile = [
      'ERROR tab\there, "a quote, a comma',
      '# ERROR not a comment',
      "  ERROR leading; spaces | 'pipes'",
      'ERROR back\\slash \\x01 \\" {"json": ["x"]}',
      'ERROR Übergröße 日志 😀',
      `ERROR ${'long '.repeat(500_000)}`,
      '',
      'no mistake here',
    ]
    const filler = (name: string) =>
      Array.from({ length: 150_000 }, (_, i) => `2026-11-14 02:10:00.000\tINFO\t${name} ${i}`)
    const lives = [[...filler('a'), ...hostile], ['ERROR second life', ...filler('b')], ['ERROR third life']]
    const names = ['broker.log.2', 'broker.log.1', 'broker.log']
    for (const [i, name] of names.entries()) writeFileSync(join(logs, name), `${lives[i]!.join('\n')}\n`)
    const ship = launch(['ship', '--once', '--segment-bytes', '4MiB', '--logs', logs, home])
    expect(await ship.exited).toBe(0)

    const run = promisify(execFile)
    const options = { cwd: home, maxBuffer: 2 ** 26 }
    const { stdout } = await run(process.execPath, [join(partsFolder, 'duckdb.mjs'), query], options)
    const found = (JSON.parse(stdout) as [string][]).map(([line]) => line)
    // The third life still grows, and is a part.
    const wanted = lives.slice(0, 2).flat()
    expect(found.sort()).toEqual(wanted.filter((line) => line.includes('ERROR')).sort())
  })
})
