import { strict as assert } from 'node:assert'
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask } from '../measure.mjs'
import { startNodestate } from '../servers.mjs'
import { takeTurns } from '../turns.mjs'

const FILES = 400
const FIXTURES = join(import.meta.dirname, '../../test/log/format/fixtures')

/** 400 logs in all formats, each opened to find its format and its first and last time, none of them remembered. */
export async function openRow(bench) {
  const directory = join(bench.data.root, 'formats')
  mkdirSync(directory, { recursive: true })
  const samples = readdirSync(FIXTURES).filter((name) => name.endsWith('.log'))
  const names = Array.from({ length: FILES }, (_, i) => `${i}-${samples[i % samples.length]}`)
  for (const [i, name] of names.entries())
    writeFileSync(
      join(directory, name),
      readFileSync(join(FIXTURES, samples[i % samples.length]), 'utf8').repeat(50),
    )
  const server = await bench.start('nodestate', directory, () => startNodestate(directory))
  let clock = Date.now() / 1000 - 100_000
  const once = async () => {
    clock++
    for (const name of names) utimesSync(join(directory, name), clock, clock)
    const before = server.cpu()
    const start = performance.now()
    const { status, body, ended } = await ask(server, '/api/v1/log/list?detail=true')
    assert.equal(status, 200)
    const known = JSON.parse(body).filter(({ first }) => first !== null)
    assert.ok(known.length > FILES * 0.9, `only ${known.length} files were understood`)
    return { rps: FILES / ((ended - start) / 1000), cpu: (server.cpu() - before) / FILES, rss: server.rss() }
  }
  await once()
  const [result] = await takeTurns([server], once, { rounds: 5, spare: bench.spare })
  const ratios = [['files/s', result.rps]]
  return { title: 'opening 400 files of all formats', figures: { nodestate: result }, ratios }
}
