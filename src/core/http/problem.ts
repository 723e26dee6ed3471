import { LogError, type LogErrorCode } from '../../log/error.ts'
import { MissingBytes, StoreError } from '../../store/store.ts'
import { HomeError } from '../node/home.ts'
import { acceptedTypes } from './accept.ts'
import { respond } from './sliced.ts'

/** Every problem. The code is the last part of its `type`; its status and title never vary. */
export const PROBLEMS = {
  'bad-request': [400, 'The request is not valid HTTP'],
  'bad-parameter': [400, 'A parameter is not valid'],
  'bad-cursor': [400, 'The cursor is not valid'],
  'bad-pattern': [400, 'The pattern is not valid'],
  'too-many-sources': [400, 'Too many logs to merge'],
  'no-time': [400, 'The log has no times'],
  'no-level': [400, 'The log has no levels'],
  unauthorized: [401, 'A valid token is required'],
  'foreign-origin': [403, 'Pages of this origin may not do this'],
  forbidden: [403, 'The token does not allow this'],
  'unknown-path': [404, 'No such resource'],
  'unknown-node': [404, 'No such node'],
  'unknown-file': [404, 'No such log file'],
  'no-version': [404, 'No such version of the configuration'],
  'method-not-allowed': [405, 'The method is not allowed'],
  'cursor-gone': [410, 'The position that the cursor points to is gone'],
  'answer-too-large': [413, 'The answer is too large for this platform'],
  'precondition-failed': [412, 'The file has changed'],
  'request-too-large': [413, 'The request is too large'],
  'config-too-large': [413, 'The configuration is too large to be shown'],
  'archive-budget': [413, 'The archive is too large to view'],
  'not-viewable': [415, 'The file cannot be shown as text'],
  'range-not-satisfiable': [416, 'The range is not satisfiable'],
  'unknown-host': [421, 'The host is not served here'],
  'too-many-failures': [429, 'Too many sign-ins failed'],
  'bad-config': [500, 'The configuration cannot be shown'],
  'bad-object': [500, 'A file of the home is not valid'],
  internal: [500, 'The request could not be answered'],
  'bad-archive': [502, 'The archive cannot be read'],
  'bad-segment': [502, 'A segment of the log is damaged'],
  'missing-segment': [502, 'A part of the log is missing'],
  'not-included': [501, 'Not included in this service'],
  unsupported: [501, 'Not supported by this runtime'],
  loop: [508, 'The coordinators name each other'],
  'storage-unavailable': [503, 'The storage does not answer'],
  'storage-denied': [503, 'The storage denies access'],
  'storage-throttled': [503, 'The storage is throttling requests'],
  'storage-timeout': [503, 'The storage took too long'],
  'storage-changed': [503, 'The file changed while it was being read'],
  'too-busy': [503, 'Too many requests of this kind'],
  'not-configured': [503, 'The service is not configured'],
  'missing-object': [503, 'A file of the home is missing'],
} as const satisfies Record<string, readonly [number, string]>

export type ProblemCode = keyof typeof PROBLEMS

/** An error answer as in RFC 9457. `detail` is one sentence that tells the client what to do. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly headers: Record<string, string>

  constructor(
    code: ProblemCode,
    detail: string,
    options: { headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(detail, { cause: options.cause })
    this.name = 'Problem'
    this.code = code
    this.headers = options.headers ?? {}
  }

  get status(): number {
    return PROBLEMS[this.code][0]
  }
}

/** Maps storage errors to problems. The store's own message goes only to the log. */
const STORE_PROBLEMS = {
  unavailable: [
    'storage-unavailable',
    'The storage does not answer; try again, and check that the log directory or bucket exists.',
  ],
  denied: [
    'storage-denied',
    'The service is not allowed to read its data; check its permissions and credentials.',
  ],
  throttled: ['storage-throttled', 'The storage is throttling requests; try again later.'],
  timeout: ['storage-timeout', 'The storage did not answer in time; try again.'],
  changed: ['storage-changed', 'The file was replaced while it was being read; try again.'],
  unchanged: ['storage-changed', 'The storage gave an unexpected answer; try again.'],
  'bad-segment': [
    'bad-segment',
    'A segment of this log does not match its name, or another version of nodestate shipped it; check the bucket, or request another part of the log.',
  ],
  'missing-segment': [
    'missing-segment',
    'A part of this log is missing; request what comes before or after it.',
  ],
} as const satisfies Record<StoreError['code'], readonly [ProblemCode, string]>

/** Errors that a retry is not expected to fix. */
const LASTING = new Set<StoreError['code']>(['denied', 'unavailable', 'bad-segment', 'missing-segment'])

function missingDetail({ missing: { from, to } }: MissingBytes): string {
  return `The bytes ${from} to ${to - 1} of this log are missing from its bucket; request what comes before or after them.`
}

/** Converts any thrown value to a problem. An unknown one becomes `internal` and reveals nothing about the machine. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof LogError) {
    const headers: Record<string, string> = error.code === 'too-busy' ? { 'Retry-After': '5' } : {}
    return new Problem(error.code satisfies LogErrorCode & ProblemCode, error.message, {
      cause: error,
      headers,
    })
  }
  if (error instanceof HomeError) return new Problem(error.code, error.message, { cause: error })
  if (error instanceof StoreError) {
    const [code, general] = STORE_PROBLEMS[error.code]
    const isNode = error.who !== undefined && (error.code === 'unavailable' || error.code === 'timeout')
    const detail = isNode
      ? `${error.who} does not answer; check that nodestate runs there and can be reached, or leave the node out.`
      : error instanceof MissingBytes
        ? missingDetail(error)
        : general
    // A node that failed is probed every second.
    const seconds = error.retryAfter ?? (isNode ? 2 : LASTING.has(error.code) ? undefined : 1)
    const headers: Record<string, string> = seconds === undefined ? {} : { 'Retry-After': String(seconds) }
    return new Problem(code, detail, { cause: error, headers })
  }
  return new Problem('internal', 'The service failed to answer; its log says why.', { cause: error })
}

/** The response for a problem: `application/problem+json`, or its detail as text for a client that prefers text. */
export function problemResponse(problem: Problem, accept: string | null | undefined): Response {
  const [status, title] = PROBLEMS[problem.code]
  const text = prefersText(accept)
  const body = text
    ? `${problem.message}\n`
    : `${JSON.stringify({ type: `/problems/${problem.code}`, title, status, detail: problem.message })}\n`
  const headers = {
    'Content-Type': text ? 'text/plain; charset=utf-8' : 'application/problem+json',
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept',
    'X-Content-Type-Options': 'nosniff',
    ...problem.headers,
  }
  return respond(body, headers, status)
}

/**
 * LinDB's console sends `application/json, text/plain, *\/*`. It goes blank on an error object but shows text, so a
 * client that names `text/plain` and not `application/problem+json` gets text.
 */
function prefersText(accept: string | null | undefined): boolean {
  const types = acceptedTypes(accept)
  return types.has('text/plain') && !types.has('application/problem+json')
}

/** Refuses any method but GET and HEAD. */
export function methodNotAllowed(): never {
  throw new Problem('method-not-allowed', 'This service is read-only; use GET or HEAD.', {
    headers: { Allow: 'GET, HEAD' },
  })
}
