import { type IncomingMessage, ServerResponse } from 'node:http'
import type { RequestId } from '../../observe/request-id.ts'

/**
 * A response that adds the id of its request when the head is written. Touching the headers of a Response ends one fast
 * path, `setHeader` another, and a `writeHead` per response a third: each costs as much as the read of a short tail.
 */
export class NamedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  requestId: RequestId | null = null

  override writeHead(status: number, ...rest: unknown[]): this {
    const head = super.writeHead as (status: number, ...rest: unknown[]) => this
    if (this.requestId === null || rest.length !== 1) return head.call(this, status, ...rest)
    const { id, traceparent } = this.requestId
    const headers: Record<string, unknown> = { ...(rest[0] as object), 'X-Request-Id': id }
    if (traceparent !== null) headers.traceparent = traceparent
    return head.call(this, status, headers)
  }
}
