import type { NodeInfo } from '../../kit/answers.ts'
import * as is from './kinds.ts'
import type { Row, SettingsOf } from './row.ts'

/** The settings that describe the node, which `serve` and `ship` share. */
export const NODE_SETTINGS = [
  { name: 'host-ip', kind: is.address, otherwise: 'derived', help: "The node's hostIp." },
  { name: 'host-name', kind: is.text, value: 'NAME', otherwise: 'derived', help: "The node's hostName." },
  { name: 'grpc-port', kind: is.port, otherwise: 'derived', help: "The node's grpcPort." },
  { name: 'http-port', kind: is.port, otherwise: 'derived', help: "The node's httpPort." },
  { name: 'node-version', kind: is.text, otherwise: 'derived', help: "The node's version." },
] as const satisfies readonly Row[]

export function nodeFields(settings: SettingsOf<(typeof NODE_SETTINGS)[number]>): Partial<NodeInfo> {
  return {
    ...(settings.hostIp !== null && { hostIp: settings.hostIp }),
    ...(settings.hostName !== null && { hostName: settings.hostName }),
    ...(settings.grpcPort !== null && { grpcPort: settings.grpcPort }),
    ...(settings.httpPort !== null && { httpPort: settings.httpPort }),
    ...(settings.nodeVersion !== null && { version: settings.nodeVersion }),
  }
}
