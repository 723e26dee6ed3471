import type { NodeConfig, NodeInfo } from '../../client.ts'
import { ago, moment } from '../ui/format.ts'

const NAMES: [keyof NodeInfo, string][] = [
  ['hostName', 'Host'],
  ['hostIp', 'Address'],
  ['httpPort', 'HTTP port'],
  ['grpcPort', 'gRPC port'],
  ['version', 'Version'],
  ['onlineTime', 'Online since'],
]

/** What is known about the node, and what is not. */
export function NodeFacts({ config: { node, known } }: { config: NodeConfig }) {
  const has = (field: keyof NodeInfo) => known === undefined || known.includes(field)
  // If the host is not set, it is the machine that nodestate runs on: most likely the node's own.
  const machine = (field: keyof NodeInfo) => !has(field) && (field === 'hostName' || field === 'hostIp')
  return (
    <dl class="node-facts">
      {NAMES.map(([field, name]) => (
        <div key={field}>
          <dt>{name}</dt>
          <dd>
            {has(field) || machine(field) ? (
              <Fact node={node} field={field} />
            ) : (
              <span class="dim">not known</span>
            )}
            {machine(field) && <span class="dim"> (this machine)</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Fact({ node, field }: { node: NodeInfo; field: keyof NodeInfo }) {
  if (field === 'onlineTime') {
    return (
      <>
        <time dateTime={safeIso(node.onlineTime)}>{moment(node.onlineTime)}</time>
        <span class="dim"> {ago(node.onlineTime)}</span>
      </>
    )
  }
  if (field === 'grpcPort' && node.grpcPort === 0) return 'none'
  return node[field] === '' ? <span class="dim">not known</span> : node[field]
}

function safeIso(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
