// Runs worlds on all cores. See README.md in this folder.
//   npm run simulate -- --seeds 1000000 [--from S]   many worlds, from seed S on; `--from today` has others each day
//   npm run simulate -- --seed S [--keep 3,7,9]      one world, with its history and a digest of it
//   npm run simulate -- --plan FILE                  a world that was saved
//   npm run simulate -- --mended                     worlds that failed once, in mended/; with --alike, those in alike/ too
//   npm run simulate -- --faults [NAME…]             undoes fixes, looks for worlds that notice it, and writes the table
//   … --workers N                                    threads; as many as there are cores unless told
//   … --save FILE                                    saves the shrunk plan of the first failure
//   … --digests                                      prints the digest of each history
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundle } from './bundle.mjs'
import { undoFixes } from './faults/faults.mjs'
import { eachWorld } from './workers.mjs'

/** How many seeds a day has, which is what a night runs. */
const SEEDS_A_DAY = 20_000
/** How many failures of a run are shrunk and told in full; of the others, the seed and the rule. */
const MOST_TOLD = 3

process.exitCode = (await main()) ? 0 : 1

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seeds: { type: 'string' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      keep: { type: 'string' },
      plan: { type: 'string' },
      save: { type: 'string' },
      mended: { type: 'boolean', default: false },
      alike: { type: 'boolean', default: false },
      faults: { type: 'boolean', default: false },
      digests: { type: 'boolean', default: false },
      workers: { type: 'string', default: String(availableParallelism()) },
    },
  })
  const workers = number('workers', values.workers)
  if (positionals.length > 0 && !values.faults) {
    console.error(`${positionals[0]} is not an option.`)
    process.exit(2)
  }
  if (values.faults) {
    const most = number('seeds', values.seeds ?? '2000')
    return undoFixes(positionals, { from: number('from', values.from), most, workers })
  }
  const built = await bundle()
  try {
    if (values.seed !== undefined || values.plan !== undefined) return await one(built.url, values)
    if (values.mended) return await mended(built.url, values.alike)
    const range = {
      from: values.from === 'today' ? today() : number('from', values.from),
      count: number('seeds', values.seeds ?? '1000'),
    }
    const { save, digests } = values
    return await many(built.url, range, { workers, save, digests })
  } finally {
    built.remove()
  }
}

/** The first seed of today. */
function today() {
  return Math.floor(Date.now() / 86_400_000) * SEEDS_A_DAY
}

function number(name, text) {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  console.error(`--${name} must be a whole number, not ${JSON.stringify(text)}.`)
  process.exit(2)
}

/** One world, told in full. */
async function one(url, { seed, keep, plan: file, save }) {
  const world = await import(url)
  let plan =
    file === undefined ? world.planOf(number('seed', seed)) : JSON.parse(readFileSync(file, 'utf8')).plan
  if (keep !== undefined) plan = world.keepSteps(plan, new Set(keep.split(',').map(Number)))
  const { broken, history, events } = await world.runWorld(plan, true)
  console.log(history.join('\n'))
  console.log(
    `\nSeed ${plan.seed}: ${plan.steps.length} steps, ${events} events, digest ${world.digestOf(history)}`,
  )
  for (const what of broken) console.log(`Broken: ${what}`)
  if (save !== undefined && broken.length > 0)
    savePlan(save, { broken, plan: await world.shrink(plan, broken[0]) })
  return broken.length === 0
}

/** The worlds that failed once. */
async function mended(url, withAlike) {
  const world = await import(url)
  const folder = new URL('mended/', import.meta.url)
  const files = readdirSync(folder, { recursive: withAlike }).filter((name) => name.endsWith('.json'))
  let isRight = true
  for (const file of files) {
    const { plan } = JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
    const { broken } = await world.runWorld(plan)
    if (broken.length === 0) continue
    isRight = false
    console.log(`${file} is broken again: ${broken[0]}`)
  }
  console.log(`${files.length} mended worlds`)
  return isRight
}

function savePlan(file, { broken, plan }) {
  writeFileSync(file, `${JSON.stringify({ why: broken[0], plan }, null, 1)}\n`)
  console.log(`Saved the plan as ${file}.`)
}

/** Many worlds, each worker every n-th of them. */
async function many(url, { from, count }, { workers, save, digests }) {
  const begun = Date.now()
  const failures = []
  let done = 0
  const progress = () => {
    const rate = (done / ((Date.now() - begun) / 1000)).toFixed(0)
    const failed = failures.length === 0 ? 'none failed' : `${failures.length} failed`
    return `${done} of ${count} worlds from seed ${from}, ${rate}/s, ${failed}`
  }
  const isTerminal = process.stdout.isTTY
  const ticker = setInterval(
    () => (isTerminal ? process.stdout.write(`\r${progress()} `) : console.log(progress())),
    isTerminal ? 500 : 10_000,
  )
  await eachWorld(url, { from, count }, { workers, digests }, (world) => {
    if (!world.isSilent) done++
    if (digests && !world.isSilent) console.log(`${world.seed} ${world.digest}`)
    if (world.broken.length === 0) return
    failures.push(world)
    console.log(`${isTerminal ? '\r' : ''}Seed ${world.seed}: ${world.broken[0]}`)
  })
  clearInterval(ticker)
  console.log(`${isTerminal ? '\r' : ''}${progress()}`)
  if (failures.length > 0) await tell(url, failures, save)
  return failures.length === 0 && done === count
}

/** The rule that a failure names before its colon. */
function ruleOf(failure) {
  return failure.split(':')[0]
}

/** Shrinks the first failures, one of each rule, and prints them. */
async function tell(url, failures, save) {
  const world = await import(url)
  const byRule = new Map()
  for (const failure of failures.sort((a, b) => a.seed - b.seed)) {
    const rule = ruleOf(failure.broken[0])
    byRule.set(rule, [...(byRule.get(rule) ?? []), failure])
  }
  for (const [rule, all] of byRule)
    console.log(
      `\n"${rule}" is broken by ${all.length}: ${all
        .slice(0, 20)
        .map(({ seed }) => seed)
        .join(', ')}`,
    )
  for (const [first] of [...byRule.values()].slice(0, MOST_TOLD)) {
    if (first.broken[0].includes('real time')) continue
    const whole = world.planOf(first.seed)
    const plan = await world.shrink(whole, first.broken[0])
    const { broken, history } = await world.runWorld(plan, true)
    console.log(`\nSeed ${first.seed}, shrunk from ${whole.steps.length} steps to ${plan.steps.length}:\n`)
    console.log(JSON.stringify(plan.settings))
    for (const step of plan.steps) console.log(JSON.stringify(step))
    console.log(`\n${history.join('\n')}\n`)
    for (const what of broken) console.log(`Broken: ${what}`)
    console.log(`Repeat it: npm run simulate -- ${await commandFor(world, plan)}`)
    if (save !== undefined) savePlan(save, { broken: first.broken, plan })
    save = undefined
  }
}

/** How to repeat a shrunk plan: by its steps or, where smaller numbers matter, by a file. */
async function commandFor(world, plan) {
  const ids = plan.steps.map(({ id }) => id)
  const { broken } = await world.runWorld(world.keepSteps(world.planOf(plan.seed), new Set(ids)))
  if (broken.length > 0) return `--seed ${plan.seed} --keep ${ids.join(',')}`
  const file = join(tmpdir(), `world-${plan.seed}.json`)
  savePlan(file, { broken, plan })
  return `--plan ${file}`
}
