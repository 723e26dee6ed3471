import { addressOf } from '../../core/http/caller.ts'
import { callOf } from '../../doors/mcp/service.ts'
import { watchBody } from '../../kit/observe/observer.ts'
import { idFields } from '../../kit/observe/request-id.ts'
import { bearerOf, type Fetch, safeTarget } from './access.ts'
import type { KnownTokens } from './known-tokens.ts'
import type { LineWriter } from './line-file.ts'
import { neutral } from './log-line.ts'
import { inBatches } from './own-log.ts'

/** Probes read nothing, and come every few seconds. */
const PROBES = /^[^/]*\/\/[^/]*\/(healthz|readyz)(\?|$)/
/** As long as a request's head may be. */
const LONGEST = 16 * 1024

/** A request, as a line of the audit file has it. */
interface AuditEntry {
  /** When it came, ISO 8601. */
  time: string
  /** The name of its token, or of its client certificate. */
  token: string | null
  address: string | null
  method: string
  /** Path and query, without secrets. */
  url: string
  status: number
  /** Bytes of the body that were sent; null if they are not known. */
  bytes: number | null
  id: string | null
  /** The tool that an assistant called, and what it read: paths and queries, without secrets. */
  tool?: string | null
  reads?: string[]
}

export interface AuditOptions {
  /** The tokens that no line may show. */
  tokens: KnownTokens
  /** The name of the token that a request came with. */
  nameOf: (request: Request) => string | undefined
}

export type Audit = ReturnType<typeof openAudit>

/** Writes who read what: one line of JSON for each request, when its answer has ended. */
export function openAudit(writer: LineWriter, { tokens, nameOf }: AuditOptions) {
  const lines = inBatches(writer)
  /** Answers that are being sent; each has a connection, so there are not more of them. */
  const open = new Set<() => void>()
  const writeEntry = (entry: AuditEntry, own?: string) =>
    lines.write(`${tokens.mask(neutral(JSON.stringify(entry)), own)}\n`)

  const record = (request: Request, env: object) => {
    const time = new Date().toISOString()
    const address = addressOf(env)
    const write = (status: number, bytes: number | null) => {
      const call = callOf(request)
      const own = bearerOf(request)
      const target = { own, longest: LONGEST }
      const entry: AuditEntry = {
        time,
        token: nameOf(request) ?? null,
        address,
        method: request.method,
        url: safeTarget(request.url, tokens, target),
        status,
        bytes,
        id: idFields(request).requestId ?? null,
        ...(call && { tool: call.tool, reads: call.reads.map((url) => safeTarget(url, tokens, target)) }),
      }
      writeEntry(entry, own)
    }
    return write
  }

  return {
    /** The same answers, each with its line. */
    watch(fetch: Fetch): Fetch {
      return (request, env) => {
        if (PROBES.test(request.url)) return fetch(request, env)
        const write = record(request, env)
        const done = (response: Response) => {
          const { status } = response
          // The body of an answer to HEAD is never read, so it would never end.
          if (request.method === 'HEAD') {
            write(status, 0)
            return response
          }
          let sent = 0
          const end = (bytes: number | null = sent) => {
            if (open.delete(end)) write(status, bytes)
          }
          open.add(end)
          return watchBody(
            response,
            (bytes) => end(bytes),
            (bytes) => {
              sent = bytes
            },
          )
        }
        const failed = (error: unknown): never => {
          write(500, null)
          throw error
        }
        const answer = fetch(request, env)
        return answer instanceof Promise ? answer.then(done, failed) : done(answer)
      }
    },
    /** A request that the server refused by itself. */
    refused(method: string, url: string, address: string | null, status: number) {
      const time = new Date().toISOString()
      writeEntry({ time, token: null, address, method, url, status, bytes: null, id: null })
    },
    /** Writes what is still open, with what was sent of it, and closes. */
    close() {
      for (const end of [...open]) end()
      lines.close()
    },
  }
}
