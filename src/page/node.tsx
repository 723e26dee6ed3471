import type { NodeInfo } from '../client.ts'
import { ago, moment } from './ui/format.ts'

/** Who the node is, as a list of facts. */
export function NodeFacts({ node, now }: { node: NodeInfo; now: number }) {
  return (
    <dl class="node-facts">
      <Fact name="Host" value={node.hostName} />
      <Fact name="Address" value={node.hostIp} />
      <Fact name="HTTP port" value={String(node.httpPort)} />
      <Fact name="gRPC port" value={node.grpcPort === 0 ? 'none' : String(node.grpcPort)} />
      <Fact name="Version" value={node.version} />
      <div>
        <dt>Online since</dt>
        <dd>
          <time dateTime={safeIso(node.onlineTime)}>{moment(node.onlineTime)}</time>
          <span class="dim"> {ago(node.onlineTime, now)}</span>
        </dd>
      </div>
    </dl>
  )
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value === '' ? <span class="dim">unknown</span> : value}</dd>
    </div>
  )
}

function safeIso(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
