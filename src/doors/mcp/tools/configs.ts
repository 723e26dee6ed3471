import { bad } from '../../../core/http/params.ts'
import { cut } from '../../../log/render/visible.ts'
import type { ConfigVersion, DifferentKey } from '../../client.ts'
import type { Arguments } from '../arguments.ts'
import { counted, part, rowsThatFit } from '../text/answer.ts'
import { type Call, CURSOR, MAX_CHARS, NODES, own, rows, shownTime, type Tool } from '../tool.ts'
import { offsetOf } from './summaries.ts'

const LONGEST_LINE = 600
const LONGEST_VALUE = 200

export const getConfig: Tool = {
  name: 'get_config',
  title: 'Configuration',
  description:
    'The configuration of a node as TOML, secrets masked: as it is now, as it was at a time, or with history=true what changed in it and when.',
  scopes: ['config'],
  parameters: [
    ...NODES,
    ...rows('config', 'at'),
    { ...own.text('history', 'What changed, newest first, instead of the text.', 'true'), type: 'flag' },
    CURSOR,
    MAX_CHARS,
  ],
  async run(args, call) {
    const { client, name } = configOf(args, call)
    if (args.history === true && args.at !== undefined)
      throw bad('history', 'was given together with at; give one of the two')
    const most = args.max_chars as number
    if (args.history === true) {
      const { entries, notes, missing } = await client.history(call)
      const head = [`${counted(entries.length, 'version')} of the configuration${name}, newest first`]
      const lines = entries.map((version, i) => versionRow(version, i === entries.length - 1, call))
      return rowsThatFit({ head, notes, missing, lines }, offsetOf(args), most)
    }
    const { config, node, time } = await client.config({ at: args.at as string, signal: call.signal })
    const version = time === undefined ? '' : `, the version of ${shownTime(time, call)}`
    const online = shownTime(node.onlineTime, call)
    const head = [`configuration${name}, secrets masked${version}`]
    const about = `# nodestate: ${part(node.hostName)}, version ${part(node.version)}, online since ${online}`
    const lines = config
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => cut(line, LONGEST_LINE))
    return rowsThatFit({ head, lines: [about, ...lines] }, offsetOf(args), most)
  },
}

/** Of a fleet, one node must be named. */
function configOf({ node }: Arguments, call: Call) {
  const named = (node ?? []) as string[]
  if (!call.isFleet) return { client: call.client, name: '' }
  if (named.length !== 1 || /[*?]/.test(named[0]!))
    throw bad(
      'node',
      'must be the id of one node; list_nodes has the ids, and compare_config compares several',
    )
  return { client: call.nodeClient(named[0]!), name: ` of ${part(named[0]!)}` }
}

function versionRow({ time, changes, error }: ConfigVersion, isFirst: boolean, call: Call): string {
  const why = error
    ? `not compared: ${part(error)}`
    : isFirst
      ? 'first known version'
      : 'only comments or layout'
  const lines = changes.map(({ key, before, after }) => `  ${part(key)}: ${value(before)} -> ${value(after)}`)
  return [`${shownTime(time, call)}${changes.length === 0 ? `  ${why}` : ''}`, ...lines].join('\n')
}

const value = (text: string | undefined) => (text === undefined ? '(not set)' : cut(text, LONGEST_VALUE))

export const compareConfig: Tool = {
  name: 'compare_config',
  title: 'Compare configurations',
  description:
    'Which settings differ between nodes of the fleet, those where few nodes differ from the others first. Finds the one node that is set wrongly.',
  scopes: ['config'],
  isFleets: true,
  parameters: [...NODES, CURSOR, MAX_CHARS],
  async run(args, call) {
    const wanted = (args.node as string[] | undefined) ?? ['*']
    const { nodes, keys, notes, missing } = await call.client.compareConfig(wanted, call)
    const odd = keys.filter(({ expected }) => !expected)
    const head = [
      `${counted(odd.length, 'setting')} with different values on ${counted(nodes.length, 'node')}; ${keys.length - odd.length} that differ on purpose (ids, addresses, ports) are left out`,
    ]
    return rowsThatFit(
      { head, notes, missing, lines: [`nodes: ${part(nodes.join(', '))}`, ...odd.map(keyRow)] },
      offsetOf(args),
      args.max_chars as number,
    )
  },
}

function keyRow({ key, values }: DifferentKey): string {
  const lines = values.map(({ value: text, nodes }) => `  ${value(text)}  on ${part(nodes.join(', '))}`)
  return [part(key), ...lines].join('\n')
}
