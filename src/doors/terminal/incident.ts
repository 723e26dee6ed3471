import { type CommandLine, UsageError } from '../../kit/usage.ts'
import { comparedLogs } from './nodes/compared.ts'
import { complain, SENTENCES } from './output/notes.ts'
import type { Style } from './output/records.ts'
import { clean } from './output/shown.ts'
import { withSpinner } from './output/spinner.ts'
import { FOUND, TROUBLE, type World } from './output/world.ts'

/** A node makes less than 500 KB; more is not an incident. */
const MOST_BYTES = 16 * 1024 * 1024

/** `nodestate incident`: a range of time as one HTML file, as the node writes it. */
export async function incident(given: CommandLine, style: Style, world: World): Promise<number> {
  if (style.terminal) throw new UsageError('Write it to a file: nodestate incident … > incident.html')
  const { targets, query, check } = await comparedLogs(given, world)
  const [target, other] = targets
  if (other) throw new UsageError('Give one URL: that of a node, or of a fleet for several nodes.')
  const { body, notes, missing } = await withSpinner(world, `asking ${target!.name}`, () =>
    target!.client.incident(query, { signal: world.signal }).then(check, check),
  )
  const decoder = new TextDecoder()
  let size = 0
  for await (const bytes of body) {
    size += bytes.length
    if (size > MOST_BYTES) throw new UsageError('The node sends more than an incident can be.')
    if (!(await world.stdout.write(clean(decoder.decode(bytes, { stream: true }), style)))) return TROUBLE
  }
  for (const note of notes) await complain(world, SENTENCES[note] ?? `note: ${note}`)
  for (const { name, reason } of missing) await complain(world, `${name} is not in the file: ${reason}.`)
  return missing.length > 0 ? TROUBLE : FOUND
}
