import { agree } from '../agree/agree.ts'
import { LOKI } from '../agree/loki.ts'
import { SINGLE } from '../agree/single.ts'
import { ask, drawQuery } from '../ask.ts'
import type { Log } from '../logs.ts'
import type { Service, World } from '../world.ts'
import type { Rule } from './rule.ts'

/** Which part of the worlds with several logs has a token that may read one of them only. */
const GUARDED = 0.3

/** A token with `files` sees its log as everybody does, and nothing of the others. */
export const tokens: Rule = {
  name: 'a token sees its files only',
  async calm(world) {
    const random = world.random.split('tokens')
    if (world.logs.length < 2 || !world.isDrawn('tokens', () => random.chance(GUARDED))) return
    const own = random.pick(world.logs)
    const others = world.logs.filter((log) => log !== own)
    const service = world.guarded(own)
    const kind = random.pick(Object.keys({ ...SINGLE, ...LOKI }))
    const asked = { kind, query: drawQuery(random.split('query')), lines: random.small(1, 40) }
    await agree(world, service, { who: 'token', log: own, ...asked })
    for (const path of EVERYTHING) {
      const { text } = await ask(world, 'token', path, { service })
      const seen = others.find((log) => text.includes(log.name) || hasRecordOf(log, text))
      if (seen) world.break(this.name, `${path} shows ${seen.name}`)
    }
    for (const log of others) await checkHidden(world, service, log)
  },
}

/** Questions about all logs. */
const EVERYTHING = [
  '/api/v1/log/list?detail=true',
  '/api/v1/log/view?file=*.log&lines=100000',
  '/api/v1/log/view?file=*.log&download=true&format=ndjson',
  '/api/v1/log/fields?file=*.log',
  '/loki/api/v1/label/file/values',
]

/** The log of somebody else does not exist for it. */
async function checkHidden(world: World, service: Service, log: Log): Promise<void> {
  for (const path of [
    `view?file=${log.name}`,
    `view?file=${log.name}&rotated=true`,
    `download?file=${log.name}`,
  ]) {
    const { status, text } = await ask(world, 'token', `/api/v1/log/${path}`, { service })
    if (status !== 404 || hasRecordOf(log, text))
      world.break('a token sees its files only', `${path} is ${status}: ${text.slice(0, 100)}`)
  }
}

function hasRecordOf({ index }: Log, text: string): boolean {
  return text.includes(`<${index}-`)
}
