import type { NodeInfo } from '../../kit/answers.ts'
import { parseShallow } from '../../kit/limits/shallow-json.ts'

/** What the machine and the process report. Missing fields have defaults. */
export interface NodeFacts {
  hostIp?: string | undefined
  hostName?: string | undefined
  /** The port this service listens on. */
  port?: number | undefined
  version: string
  onlineTime: number
}

/** Each field as it was set, otherwise as in the configuration, whose ports may be at any depth, or the system. */
export function describeNode(set: Partial<NodeInfo>, facts: NodeFacts, config: object): NodeInfo {
  return {
    hostIp: set.hostIp ?? facts.hostIp ?? '127.0.0.1',
    hostName: set.hostName ?? facts.hostName ?? 'localhost',
    grpcPort: set.grpcPort ?? findPort(config, 'grpc') ?? 0,
    httpPort: set.httpPort ?? findPort(config, 'http') ?? facts.port ?? 0,
    version: set.version ?? facts.version,
    onlineTime: set.onlineTime ?? facts.onlineTime,
  }
}

/** The fields that were set or are in the configuration; the others describe nodestate and its machine. */
export function knownFields(set: Partial<NodeInfo>, config: object): (keyof NodeInfo)[] {
  const read = { grpcPort: findPort(config, 'grpc'), httpPort: findPort(config, 'http') }
  return FIELDS.filter((field) => (set[field] ?? (read as Partial<NodeInfo>)[field] ?? null) !== null)
}

const FIELDS = ['hostIp', 'hostName', 'grpcPort', 'httpPort', 'version', 'onlineTime'] as const

/** Parses a node stored as JSON. An error names the field and shows nothing of the text. */
export function parseNode(json: string): NodeInfo {
  let value: unknown
  try {
    value = parseShallow(json.startsWith('\ufeff') ? json.slice(1) : json)
  } catch {
    // No cause: the parser's message quotes the text.
    throw new Error('Cannot read the node: it is not valid JSON.')
  }
  return nodeFrom(value)
}

/** The longest text of a field: a host name has 253 characters at most. */
const LONGEST_TEXT = 1000

/** The same for JSON that was parsed. */
export function nodeFrom(value: unknown): NodeInfo {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('Cannot read the node: it is not a JSON object.')
  }
  const fields = value as Record<string, unknown>
  return {
    hostIp: text(fields, 'hostIp'),
    hostName: text(fields, 'hostName'),
    grpcPort: integer(fields, 'grpcPort', 65_535),
    httpPort: integer(fields, 'httpPort', 65_535),
    version: text(fields, 'version'),
    onlineTime: integer(fields, 'onlineTime', Number.MAX_SAFE_INTEGER),
  }
}

/** The shape that Node's `os.networkInterfaces()` returns, and Bun's and Deno's with it. */
export type NetworkInterfaces = Record<
  string,
  readonly { address: string; family: string | number; internal: boolean }[] | undefined
>

/**
 * The address at which others most likely reach this machine: the first that is not internal, IPv4 before IPv6, and a
 * link-local one (169.254.0.0/16, fe80::/10) only as a last resort. Null when there is none.
 */
export function pickAddress(interfaces: NetworkInterfaces): string | null {
  const ranked = Object.values(interfaces).flatMap((addresses = []) =>
    addresses.map(({ address, family, internal }) => {
      const isLocal = /^(?:169\.254\.|fe[89ab][\da-f]:)/i.test(address)
      const isSix = family === 'IPv6' || family === 6
      return { address, internal, rank: (isLocal ? 2 : 0) + (isSix ? 1 : 0) }
    }),
  )
  const usable = ranked.filter(({ internal }) => !internal).sort((a, b) => a.rank - b.rank)
  return usable[0]?.address ?? null
}

/** The port of the first table of that name: the shallowest one, and of these the first in the document. */
function findPort(config: object, name: 'http' | 'grpc'): number | null {
  // Level by level and without recursion: keys may nest as deep as the file is long.
  let level: Tree[] = [config as Tree]
  while (level.length > 0) {
    for (const tree of level) {
      for (const table of Object.hasOwn(tree, name) ? [tree[name]].flat() : []) {
        const port = isTree(table) && Object.hasOwn(table, 'port') ? asPort(table.port) : null
        if (port !== null) return port
      }
    }
    // A list is not a level: its tables count as being at the list's own level.
    level = level.flatMap((tree) => Object.values(tree).flat(9).filter(isTree))
  }
  return null
}

type Tree = Record<string, unknown>

/** Whether a value of a configuration is a table or a list. */
export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !(value instanceof Date)
}

/** Some configurations write their ports as strings; `":9000"` and `"h:9000"` are addresses, not ports. */
function asPort(value: unknown): number | null {
  const port = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value
  return typeof port === 'number' && Number.isInteger(port) && port >= 0 && port <= 65_535 ? port : null
}

function text(fields: Record<string, unknown>, name: keyof NodeInfo): string {
  const value = fields[name]
  if (typeof value !== 'string') throw new Error(`Cannot read the node: "${name}" must be a string.`)
  if (value.length <= LONGEST_TEXT) return value
  throw new Error(`Cannot read the node: "${name}" has more than ${LONGEST_TEXT} characters.`)
}

function integer(fields: Record<string, unknown>, name: keyof NodeInfo, max: number): number {
  const value = fields[name]
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return value
  throw new Error(`Cannot read the node: "${name}" must be an integer from 0 to ${max}.`)
}
