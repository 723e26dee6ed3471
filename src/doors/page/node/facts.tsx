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
  const missing = NAMES.filter(([field]) => !has(field) && !machine(field)).map(([, name]) => name)
  return (
    <>
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
      {missing.length > 0 && (
        <p class="hint missing">
          Neither set nor found in the configuration: {list(missing)}. This page is served by nodestate
          {has('version') ? '' : ` ${node.version}`}
          {has('onlineTime') ? '' : `, up since ${moment(node.onlineTime)}`}.
        </p>
      )}
    </>
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

function list(words: string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

function safeIso(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
