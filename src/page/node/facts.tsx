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

/** What is known of the node, as a list of facts, and what is not. */
export function NodeFacts({ config: { node, known }, now }: { config: NodeConfig; now: number }) {
  const has = (field: keyof NodeInfo) => known === undefined || known.includes(field)
  const missing = NAMES.filter(([field]) => !has(field)).map(([, name]) => name)
  return (
    <>
      <dl class="node-facts">
        {NAMES.map(([field, name]) => (
          <div key={field}>
            <dt>{name}</dt>
            <dd>
              {has(field) ? <Fact node={node} field={field} now={now} /> : <span class="dim">not known</span>}
            </dd>
          </div>
        ))}
      </dl>
      {missing.length > 0 && (
        <p class="hint missing">
          {list(missing)} {missing.length === 1 ? 'is' : 'are'} not in the configuration, and nobody has told
          nodestate. This page is served by nodestate
          {has('version') ? '' : ` ${node.version}`}
          {has('onlineTime') ? '' : `, running since ${moment(node.onlineTime)}`}.
        </p>
      )}
    </>
  )
}

function Fact({ node, field, now }: { node: NodeInfo; field: keyof NodeInfo; now: number }) {
  if (field === 'onlineTime') {
    return (
      <>
        <time dateTime={safeIso(node.onlineTime)}>{moment(node.onlineTime)}</time>
        <span class="dim"> {ago(node.onlineTime, now)}</span>
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
