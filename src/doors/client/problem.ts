import { EndlessError, textOf } from './body.ts'

/** What a problem says. */
export interface ProblemFields {
  status: number
  /** The end of its `type`, such as `unknown-file`. */
  code: string
  title: string
  /** One sentence that says what to do. */
  detail: string
  /** Seconds after which to try again. @default null */
  retryAfter?: number | null
}

/** An answer that is a problem (RFC 9457). Its message is the `detail`. */
export class ProblemError extends Error {
  readonly status: number
  readonly code: string
  readonly title: string
  /** Seconds after which to try again; null if waiting is not known to help. */
  readonly retryAfter: number | null

  constructor({ status, code, title, detail, retryAfter = null }: ProblemFields) {
    super(detail)
    this.name = 'ProblemError'
    this.status = status
    this.code = code
    this.title = title
    this.retryAfter = retryAfter
  }
}

/** The node did not answer at all, or its answer was cut. */
export class UnreachableError extends Error {
  constructor(cause: unknown) {
    super('The node does not answer; check that it is running and reachable from here.', { cause })
    this.name = 'UnreachableError'
  }
}

/** What a failed fetch throws differs by runtime: an abort stays an abort, anything else is an unreachable node. */
export async function reach<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await promise
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    throw cause instanceof EndlessError ? endless(cause) : new UnreachableError(cause)
  }
}

function endless({ message }: EndlessError): ProblemError {
  const detail = `${message} Narrow the request.`
  return new ProblemError({ status: 502, code: 'answer-too-large', title: 'The answer does not end', detail })
}

/** More than any problem has. */
const LARGEST_PROBLEM = 64 * 1024

/** Parses the problem in a response. */
export async function problemOf(response: Response): Promise<ProblemError> {
  const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN)
  const retryAfter = Number.isFinite(seconds) ? seconds : null
  const text = await textOf(response, LARGEST_PROBLEM).catch(() => '')
  try {
    const body = JSON.parse(text) as Partial<Record<'type' | 'title' | 'detail', unknown>>
    const code = String(body.type ?? '')
      .split('/')
      .at(-1)!
    if (body.detail !== undefined) {
      const [title, detail] = [String(body.title ?? code), String(body.detail)]
      return new ProblemError({ status: response.status, code, title, detail, retryAfter })
    }
  } catch {
    // A proxy's own error page: its text would not help.
  }
  const title = `The answer was ${response.status}${response.statusText ? ` ${response.statusText}` : ''}`
  const detail = 'Something between here and the node answered instead; check the proxy.'
  return new ProblemError({ status: response.status, code: 'foreign', title, detail, retryAfter })
}
