import { agree, KINDS } from '../agree/agree.ts'
import { ask, drawQuery, PAGE_SIZE } from '../ask.ts'
import type { Log } from '../logs.ts'
import { inHome, Reference } from '../reference.ts'
import { livesIn } from '../ship/lives.ts'
import { HOME, shippingOf } from '../ship/shipping.ts'
import type { Service, World } from '../world.ts'
import type { Rule } from './rule.ts'

/** How many resources are compared in one world: to ship costs more than to ask. */
const COMPARED = 3

/** Rule 4 for what was shipped: a home, as a node of a fleet, says what its segments say; and what has expired shows. */
export const home: Rule = {
  name: 'home',
  async calm(world) {
    const shipping = shippingOf(world)
    if (shipping === null || shipping.runs.length === 0) return
    if (world.logs.some((log) => isGuessed(world, log))) return
    const random = world.random.split('home')
    const node = serviceOf(world)
    for (let i = 1; i <= COMPARED; i++) {
      const kind = random.pick(Object.keys(KINDS))
      const asked = { kind, query: drawQuery(random.split(i)), lines: random.small(1, 40) }
      await agree(world, node, { who: `home ${i}`, log: random.pick(world.logs), ...asked })
    }
    await expire(world)
  },
}

/**
 * Where a life belongs that was found late, and what stands for bytes that were lost, is a guess. So is what a line is
 * that lost its end, by itself or with the next one behind it.
 */
export function isGuessed({ bucket }: World, log: Log): boolean {
  const lives = livesIn(bucket, HOME, log.name)
  const lines = lives
    .map(({ text }) => text)
    .join('')
    .split('\n')
  return (
    lives.some(({ number, fault, hasHole }) => number < 0 || fault !== null || hasHole) ||
    lines.some((line) => line !== '' && log.lineOf(line) === undefined && !log.isHeader(line))
  )
}

function serviceOf(world: World): Service {
  // Nothing in the bucket changes while this service is asked: its segments are read once.
  const files = new Map(world.logs.map(({ name }) => [name, inHome(livesIn(world.bucket, HOME, name))]))
  const filesOf: Service['filesOf'] = ({ name }) => files.get(name)!
  // What a killed shipper had begun may have ended as lost.
  return { app: world.fleet(), root: `/nodes/${HOME}`, filesOf, mayNote: ['gap'] }
}

/** The beginning of a log has expired: every resource answers with what is left, and says that something is missing. */
async function expire(world: World): Promise<void> {
  const log = world.random.split('expiry').pick(world.logs)
  const { objects } = world.bucket
  const folder = `${HOME}/segments/${log.name}/`
  const keys = [...objects.keys()].filter((key) => key.startsWith(folder) && key.endsWith('.gz')).sort()
  const [, oldest] = /^(.*\/\d{8}\/\d{15})-/.exec(keys.at(-1) ?? '') ?? []
  const expired = keys.filter((key) => oldest !== undefined && key.startsWith(oldest))
  // All of its segments begin there: then nothing of the life is left to say that it was longer.
  const life = keys.filter((key) => key.startsWith(oldest?.slice(0, -15) ?? '-'))
  if (expired.length === 0 || expired.length === life.length) return
  for (const key of expired) objects.delete(key)
  const node = serviceOf(world)
  const files = node.filesOf(log)
  const expected = files
    .names()
    .map((name) => files.textOf(name))
    .join('')
  const file = `file=${log.name}&rotated=true`
  const get = (path: string) => ask(world, 'expiry', path, { service: node })
  const whole = await get(`/api/v1/log/view?${file}&download=true`)
  if (whole.status !== 200 || whole.text !== expected || !whole.notes.includes('begins-late'))
    world.break(
      'what has expired is said',
      `the export is ${whole.status} with ${whole.text.length} characters of ${expected.length}, notes ${whole.notes}`,
    )
  const chart = await get(`/api/v1/log/histogram?${file}`)
  // What is left may be the end of one long line, without a time.
  const isTimed = new Reference(files).records(true).some(({ time }) => time !== null)
  if (chart.status !== 200 && (isTimed || !chart.text.includes('no-time')))
    world.break('what has expired is said', `the chart is ${chart.status} ${chart.text}`)
  const view = await get(`/api/v1/log/view?${file}&lines=100000&size=${PAGE_SIZE}`)
  if (view.status !== 200 || view.text !== expected || !view.notes.includes('begins-late'))
    world.break(
      'what has expired is said',
      `the view is ${view.status} with ${view.text.length} characters of ${expected.length}, notes ${view.notes}`,
    )
}
