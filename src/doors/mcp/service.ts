import type { Grant } from '../../core/access/grant.ts'
import type { Clock } from '../../kit/limits/clock.ts'
import type { Registry } from '../../kit/observe/registry.ts'

/** What the protocol is given of the app that it belongs to. */
export interface McpService {
  /** Answers the request as a route: if its host and token are in order, and observed. */
  guarded(
    handler: (request: Request, grant: Grant) => Response | Promise<Response>,
  ): Response | Promise<Response>
  /** Sends a request to the app itself, from the same client. */
  fetch(request: Request): Response | Promise<Response>
  /** Whether it shows the nodes of a fleet. */
  isFleet: boolean
  /** The zone of log times that do not name one. @default UTC */
  timezone: string | undefined
  /** Origins whose pages may call tools, besides the service's own. */
  corsOrigins: readonly string[]
  registry: Registry | undefined
  clock: Clock
  /** Reports a failure of the service itself. */
  onError(error: unknown): void
}

/** What a request for a tool did, for the access log and the audit file. */
export interface ToolCall {
  /** The name of the tool; null for another message of the protocol. */
  tool: string | null
  /** The paths and queries that it read. */
  reads: string[]
}

/** Kept on the request itself, as its id is. */
const CALL = Symbol('call')

interface Noted {
  [CALL]?: ToolCall
}

/** Remembers that a request calls a tool. */
export function noteCall(request: Request & Noted, tool: string | null): ToolCall {
  const call = { tool, reads: [] }
  request[CALL] = call
  return call
}

/** The call of a tool that a request is, if it is one. */
export function callOf(request: Request & Noted): ToolCall | undefined {
  return request[CALL]
}
