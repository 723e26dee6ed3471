import { agree, KINDS } from '../agree/agree.ts'
import { ask, drawQuery, linkOf, type Query } from '../ask.ts'
import type { Random } from '../kernel/random.ts'
import type { Step } from '../plan.ts'
import { Reference } from '../reference.ts'
import type { Service, World } from '../world.ts'
import type { Actor } from './actor.ts'

interface Coordinate extends Step {
  log: string
  query: Query
  lines: number
  /** How many of a hundred requests to a peer fail. */
  failing: number
}

/** The text of a timeline has the names of nodes; Loki's labels, too. */
const OF_NODE = Object.keys(KINDS).filter((kind) => !/^(merged-whole|loki)/.test(kind))
const OF_FLEET = OF_NODE.filter((kind) => kind.startsWith('merged'))

/** Rule 4 over peers: a coordinator says what the reference says; what it cannot say, it names. */
export const coordinator: Actor = {
  plan({ random, settings, add, moment }) {
    for (let i = settings.isCrowded ? random.small(0, 5) : 1; i > 0; i--) {
      const own = random.split(i)
      const log = own.pick(settings.logs).name
      const at = own.chance(0.5) ? settings.length : moment(own)
      const more = { log, query: drawQuery(own), lines: own.small(1, 40) }
      if (own.chance(0.4)) add(String(i), 'fails', at, { ...more, failing: own.pick([5, 20, 60]) })
      else if (own.chance(0.3)) add(String(i), `node ${own.pick(OF_NODE)}`, at, more)
      else add(String(i), `fleet ${own.pick(OF_FLEET)}`, at, more)
    }
  },
  async act(world, step) {
    await world.stillWhile(async () => {
      await world.kernel.sleep(1_500)
      await (step.does === 'fails' ? readOnce : compare)(world, step as Coordinate)
    })
  },
}

async function compare(world: World, { by, id, does, log, query, lines }: Coordinate): Promise<void> {
  const [where, kind = ''] = does.split(' ')
  const random = world.random.split(`${by} ${id}`)
  const app = world.coordinator((_, answer) => reached(world, random, answer))
  const at = where === 'node' ? { root: '/nodes/db-1' } : { root: '', node: 'db-1' }
  const service: Service = { ...world.node, app, ...at }
  await agree(world, service, { who: `${by}, step ${id}`, kind, log: world.log(log), query, lines })
}

/** A request takes its time, on its way there and back. */
async function reached(world: World, random: Random, answer: () => Promise<Response>): Promise<Response> {
  await world.kernel.sleep(random.small(1, 20))
  const response = await answer()
  await world.kernel.sleep(random.small(1, 20))
  return response
}

/** Pages of a timeline of two nodes that fail now and then: each record comes once, or its node is named. */
async function readOnce(world: World, step: Coordinate): Promise<void> {
  const { by, id, log: name, lines, failing } = step
  const log = world.log(name)
  const random = world.random.split(`${by} ${id}`)
  const expected = new Reference(world.node.filesOf(log)).chosen(true, EVERYTHING)
  if (expected.length === 0 || expected.some(({ time }) => time === null)) return
  let isWell = false
  const app = world.coordinator(async (_, answer) => {
    if (random.fraction() * 100 < (isWell ? 0 : failing)) throw new TypeError('connection refused')
    const response = await reached(world, random, answer)
    return random.fraction() * 200 < (isWell ? 0 : failing) ? cutShort(response) : response
  })
  /** A client that is told of a failure waits; at last, the peers are well again, and left alone no more. */
  const recover = async (failed: number) => {
    isWell ||= failed > 6
    await world.kernel.sleep(isWell ? 16_000 : 2_000)
  }
  const service: Service = { ...world.node, app }
  const who = `${by}, step ${id}`
  const isBack = random.chance(0.5)
  const seen = new Map<string, number>()
  const named = new Set<string>()
  const count = Math.max(lines, Math.ceil(expected.length / 10))
  const part = isBack ? `lines=${count}` : `first=${count}`
  let link: string | null = `?node=*&file=${name}&format=ndjson&${part}`
  for (let page = 0, failed = 0; link !== null && page < 80; page++) {
    const answer = await ask(world, who, `/api/v1/log/view${link}`, { service })
    if (answer.status !== 200 || answer.cut !== null) {
      if (answer.status !== 200 && answer.status !== 503 && answer.status !== 504)
        return world.break('peers fail with a word', `${who} got ${answer.status} ${answer.text}`)
      await recover(++failed)
      continue
    }
    for (const node of answer.headers.get('X-Nodestate-Missing')?.split(', ') ?? [])
      named.add(node.slice(0, 4))
    const found = answer.text.split('\n').filter(Boolean)
    for (const line of found) {
      const { node, message } = JSON.parse(line) as { node: string; message: string }
      const [, number] = /<(\d+-\d+)>/.exec(message) ?? []
      if (number === undefined) continue
      const record = `${node} ${number}`
      seen.set(record, (seen.get(record) ?? 0) + 1)
    }
    // Forward, a page without a record may only lack a node.
    const isEnd = !isBack && found.length === 0 && !answer.headers.has('X-Nodestate-Missing')
    link = isEnd ? null : linkOf(answer, isBack ? 'prev' : 'next')
    if (answer.headers.has('X-Nodestate-Missing')) await recover(++failed)
  }
  const twice = [...seen].find(([, times]) => times > 1)
  if (twice) world.break('a record of a peer comes once', `${who} got ${twice[0]} ${twice[1]} times`)
  for (const node of ['db-1', 'db-2']) {
    const lost = expected.find((record) => !seen.has(`${node} ${record.id}`))
    if (lost && !named.has(node))
      world.break('a peer that lacks records is named', `${who} lacks ${node} ${lost.id}`)
  }
}

const EVERYTHING = { level: null, q: null, filters: [], since: null, until: null }

/** A body that ends in the middle with an error. */
async function cutShort(response: Response): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (bytes.length === 0) return new Response(null, response)
  const pieces = [bytes.subarray(0, bytes.length >> 1)]
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift()
      if (piece) controller.enqueue(piece)
      else controller.error(new TypeError('connection lost'))
    },
  })
  return new Response(body, response)
}
