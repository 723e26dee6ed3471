import { type IncomingMessage, ServerResponse } from 'node:http'
import { SliceMemory } from '../../kit/limits/slice-memory.ts'
import type { RequestId } from '../../kit/observe/request-id.ts'

/** Shorter answers are not worth counting. */
const MOST_UNCOUNTED = 16 * 1024

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
    const given = rest[0] as Record<string, unknown>
    // A flat list: a copy of the object takes three times as long.
    const headers: unknown[] = []
    for (const name in given) headers.push(name, given[name])
    headers.push('X-Request-Id', id)
    if (traceparent !== null) headers.push('traceparent', traceparent)
    return head.call(this, status, headers)
  }

  /** Counts an answer that was sent whole and that the system did not take at once. */
  override end(...args: unknown[]): this {
    const end = super.end as (...args: unknown[]) => this
    end.apply(this, args)
    const left = this.writableLength
    if (left > MOST_UNCOUNTED) {
      const memory = new SliceMemory()
      memory.hold(left)
      this.once('close', () => memory.release())
    }
    return this
  }
}
