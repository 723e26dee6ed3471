import { strict as assert } from 'node:assert'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expectedList } from '../data.mjs'
import { ask, interleave } from '../measure.mjs'
import { median, takeTurns } from '../turns.mjs'
import { contenders, rates } from './contenders.mjs'

/** This many lists make a turn long enough to judge whether the machine was calm. */
const PER_TURN = 4

function listTargets(directory) {
  const expected = expectedList(directory)
  const check = ({ status, body }, name) => {
    assert.equal(status, 200, name)
    const listed = JSON.parse(body).map(({ name, size }) => ({ name, size }))
    assert.deepEqual(listed, expected, `${name} lists other files`)
  }
  return [{ path: '/', check }, () => ({ path: '/api/v1/log/list', check })]
}

export async function listRow(bench, which, title) {
  const directory = bench.data[which]
  const all = await contenders(bench, directory, ...listTargets(directory))
  const figures = await interleave(bench, all)
  return { title: `${title}, 16 connections`, figures, ratios: rates(figures) }
}

/** One request at a time, each after a file came: nothing that was remembered holds. */
export async function listAnewRow(bench) {
  const directory = bench.data.many
  const all = await contenders(bench, directory, ...listTargets(directory))
  let count = 0
  const once = async ({ server, target }) => {
    const times = []
    const before = server.cpu()
    for (let i = 0; i < PER_TURN; i++) {
      const name = `new-${count++}.log`
      writeFileSync(join(directory, name), '')
      const start = performance.now()
      const { body, ended } = await ask(server, target.path)
      times.push(ended - start)
      assert.ok(body.includes(name), `${server.name} does not list a new file`)
      rmSync(join(directory, name))
    }
    const ms = median(times)
    const cpu = (server.cpu() - before) / PER_TURN
    return { rps: 1000 / ms, p50: ms * 1000, cpu, rss: server.rss() }
  }
  for (const each of all) {
    each.target.check(await ask(each.server, each.target.path), each.server.name)
    for (let i = 0; i < 3; i++) await once(each)
  }
  const results = await takeTurns(all, once, { rounds: 6, seconds: 0.2, spare: bench.spare })
  const figures = Object.fromEntries(all.map(({ server }, i) => [server.name, results[i]]))
  return { title: 'list, 10,000 files, after a change, one at a time', figures, ratios: rates(figures) }
}
