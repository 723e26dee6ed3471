import { namedBy } from '../../../log/merge/source.ts'
import type { FleetNode, LogFileDetail } from '../../client.ts'
import { counted, part, rowsThatFit } from '../text/answer.ts'
import { type Call, CURSOR, MAX_CHARS, NODES, own, shownTime, type Tool } from '../tool.ts'
import { offsetOf } from './summaries.ts'

export const listLogs: Tool = {
  name: 'list_logs',
  title: 'List logs',
  description: 'The log files: name, size, times of the first and the last record, how they are stored.',
  scopes: ['logs'],
  parameters: [
    own.text('name', 'A pattern of names, with * and ?; all logs by default.', 'broker*'),
    ...NODES,
    CURSOR,
    MAX_CHARS,
  ],
  async run(args, call) {
    const node = call.isFleet ? ((args.node as string[] | undefined) ?? ['*']) : undefined
    const { entries, notes, missing } = await call.client.list({ node, signal: call.signal, detail: true })
    const isWanted = args.name === undefined ? () => true : namedBy([args.name as string])
    const found = entries.filter(({ name }) => isWanted(name)).sort(byNodeThenNewest)
    const size = found.reduce((sum, entry) => sum + entry.size, 0)
    const pattern = args.name === undefined ? '' : ` match ${part(args.name as string)}`
    const head = [
      `${found.length} of ${counted(entries.length, 'log')}${pattern}, ${bytes(size)} in all; newest records first${zoneOf(call)}`,
      ...(found.length === 0 && entries.length > 0 ? ['hint: leave name out to see all names'] : []),
    ]
    return rowsThatFit(
      { head, notes, missing, lines: logRows(found) },
      offsetOf(args),
      args.max_chars as number,
    )
  },
}

const zoneOf = ({ zone }: Call) => (zone ? `, zone ${zone.name}` : '')

function byNodeThenNewest(a: LogFileDetail, b: LogFileDetail): number {
  const [one, other] = [a.node ?? '', b.node ?? '']
  if (one !== other) return one < other ? -1 : 1
  return Date.parse(b.last ?? b.modified) - Date.parse(a.last ?? a.modified) || (a.name < b.name ? -1 : 1)
}

/** The node stands only where it changes. */
function logRows(entries: readonly LogFileDetail[]): string[] {
  return entries.map(({ node, name, size, first, last, kind, binary }, i) => {
    const label = node !== undefined && node !== entries[i - 1]?.node ? `== ${part(node)}\n` : ''
    const range = last === null ? 'times unknown' : `${first ?? '?'} to ${last}`
    return `${label}${part(name)}  ${bytes(size)}  ${range}  ${part(kind)}${binary ? ', not text' : ''}`
  })
}

function bytes(size: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  let at = 0
  let value = size
  while (value >= 1000 && at < units.length - 1) {
    value /= 1000
    at++
  }
  return `${at === 0 ? value : value.toFixed(1)} ${units[at]}`
}

export const listNodes: Tool = {
  name: 'list_nodes',
  title: 'List nodes',
  description:
    'The nodes of the fleet, those with the most errors in the last hour first: errors, warnings, last record, version, what is not shipped yet.',
  scopes: ['logs', 'config'],
  isFleets: true,
  parameters: [...NODES, CURSOR, MAX_CHARS],
  async run(args, call) {
    const { entries, notes, missing } = await call.client.nodes(call)
    const isWanted = namedBy((args.node as string[] | undefined) ?? ['*'])
    const found = entries.filter(({ id }) => isWanted(id))
    found.sort((a, b) => (b.errors ?? -1) - (a.errors ?? -1) || (a.id < b.id ? -1 : 1))
    const head = [
      `${found.length} of ${counted(entries.length, 'node')}; errors and warnings are of the last hour`,
    ]
    const lines = found.map((node) => nodeRow(node, call))
    return rowsThatFit({ head, notes, missing, lines }, offsetOf(args), args.max_chars as number)
  },
}

function nodeRow({ id, node, errors, warnings, lastLine, age, lag, error }: FleetNode, call: Call): string {
  const parts = [
    part(id),
    errors === null ? null : `errors ${errors}, warnings ${warnings ?? '?'}`,
    lastLine === null ? null : `last record ${shownTime(lastLine, call)}`,
    age === null ? null : `shipped ${age} s ago`,
    lag ? `${bytes(lag)} not shipped yet` : null,
    node === null ? null : `${part(node.hostName)} ${part(node.version)}`,
    error === null ? null : `cannot be read: ${part(error)}`,
  ]
  return parts.filter((one) => one !== null).join('  ')
}
