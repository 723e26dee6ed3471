import type { Hono } from 'hono'
import { ask } from '../ask.ts'
import { patternsOf } from '../logs.ts'
import { inHome, Reference } from '../reference.ts'
import { livesIn } from '../ship/lives.ts'
import { HOME, shippingOf } from '../ship/shipping.ts'
import type { World } from '../world.ts'
import { isGuessed } from './home.ts'
import type { Rule } from './rule.ts'

/** Another node of the fleet, with the same logs. */
const OTHER = 'db-2'
/** Which part of the worlds with a shipper has a fleet of two nodes. */
const FLEETS = 0.3
/** Longer than a list of nodes is remembered, and a node that failed is left alone. */
const FORGOTTEN = 30_000

/** A fleet has the records of every node; one that goes away is named, or is not there any more; and then it is back. */
export const fleet: Rule = {
  name: 'a fleet has all its nodes',
  async calm(world) {
    const random = world.random.split('fleet')
    const shipping = shippingOf(world)
    if (shipping === null || shipping.runs.length === 0) return
    if (!world.isDrawn('fleet', () => random.chance(FLEETS))) return
    if (world.logs.some((log) => isGuessed(world, log))) return
    const copied = [...world.bucket.objects].filter(([key]) => key.startsWith(`${HOME}/`))
    for (const [key, { bytes }] of copied) world.bucket.put(key.replace(HOME, OTHER), bytes)
    const app = world.fleet()
    await check(world, app, { nodes: [HOME, OTHER], when: 'with both' })
    if (random.chance(0.5)) {
      const trouble = { kinds: ['500'], part: 1, about: OTHER } as const
      world.bucket.troubles.add(trouble)
      await check(world, app, { nodes: [HOME], named: OTHER, when: `while ${OTHER} fails` })
      world.bucket.troubles.delete(trouble)
    } else {
      const gone = [...world.bucket.objects].filter(([key]) => key.startsWith(`${OTHER}/`))
      for (const [key] of gone) world.bucket.delete(key)
      await world.kernel.sleep(FORGOTTEN)
      await check(world, app, { nodes: [HOME], when: `without ${OTHER}` })
      for (const [key, { bytes }] of gone) world.bucket.put(key, bytes)
    }
    await world.kernel.sleep(FORGOTTEN)
    await check(world, app, { nodes: [HOME, OTHER], when: 'with both again' })
    for (const key of world.bucket.objects.keys()) if (key.startsWith(`${OTHER}/`)) world.bucket.delete(key)
  },
}

interface Expected {
  nodes: readonly string[]
  /** A node that the answer must say to be missing. */
  named?: string
  when: string
}

/** The timeline of all logs of all nodes: each record once for each node, in the order of its log. */
async function check(world: World, app: Hono, { nodes, named, when }: Expected): Promise<void> {
  const fail = (what: string) => world.break('a fleet has all its nodes', `${when}: ${what}`)
  const logs = world.logs
    .map(({ name }) => ({ name, reference: new Reference(inHome(livesIn(world.bucket, HOME, name))) }))
    .filter(({ reference }) => reference.text(false) !== null)
    .map(({ name, reference }) => ({ name, records: reference.records(true) }))
  // A log without a time has no place in a timeline.
  if (logs.length === 0 || logs.some(({ records }) => records.every(({ time }) => time === null))) return
  const files = patternsOf(logs).map((pattern) => `file=${pattern}`)
  const path = `/api/v1/log/view?node=*&${files.join('&')}&format=ndjson&download=true`
  const answer = await ask(world, 'fleet', path, { service: { ...world.node, app } })
  if (answer.status !== 200 || answer.cut !== null)
    return fail(`the export is ${answer.status} ${answer.cut ?? answer.text.slice(0, 200)}`)
  const missing = answer.headers.get('X-Nodestate-Missing')
  if (named !== undefined && !missing?.includes(named)) fail(`${named} is not named in ${missing}`)
  const lines = answer.text.split('\n').filter(Boolean)
  const records = lines.map((line) => JSON.parse(line) as { node: string; file: string; message: string })
  for (const node of [HOME, OTHER])
    for (const { name, records: written } of logs) {
      const own = records.filter((record) => record.node === node && record.file === name)
      const got = own.map(({ message }) => /<(\d+-\d+)>/.exec(message)?.[1] ?? '')
      const want = nodes.includes(node) ? written : []
      if (got.join() !== want.map(({ id }) => id).join())
        fail(`${name} of ${node} has ${got.length} records instead of ${want.length}`)
    }
}
