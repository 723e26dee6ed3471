import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { systemClock } from '../../kit/limits/clock.ts'
import { type CommandLine, UsageError } from '../../kit/usage.ts'
import { type Client, ProblemError } from '../client.ts'
import { loadProtocol, serverFor } from '../mcp/protocol.ts'
import { onlyTargetsOf } from './nodes/connect.ts'
import { complain, sentenceOf } from './output/notes.ts'
import type { Style } from './output/records.ts'
import { FOUND, INTERRUPTED, type World } from './output/world.ts'

/** `nodestate mcp`: the tools of a node or a fleet for an assistant that starts programs, until its input ends. */
export async function mcp(given: CommandLine, _: Style, world: World): Promise<number> {
  const [target, other] = await onlyTargetsOf(given, world)
  if (other) throw new UsageError('Give one URL: that of a node, or of a fleet for several nodes.')
  const { client, nodeClient } = target!
  const onError = (error: unknown) => void complain(world, sentenceOf(error))
  const caller = { client, nodeClient, clock: systemClock, zone: null, scopes: null, onCall() {}, onError }
  const protocol = await loadProtocol()
  const server = serveStdio(async () => serverFor({ ...caller, isFleet: await isFleet(client) }, protocol), {
    onerror: onError,
  })
  await world.inputEnd?.()
  await server.close()
  return world.signal.aborted ? INTERRUPTED : FOUND
}

/** Only a fleet compares configurations; it wants to know of which nodes, or a scope. Asked again while it fails. */
async function isFleet(client: Client): Promise<boolean> {
  try {
    await client.compareConfig([])
    return true
  } catch (error) {
    return error instanceof ProblemError && (error.code === 'bad-parameter' || error.code === 'forbidden')
  }
}
