import process from 'node:process'
import { Problem, problemResponse } from '../http/problem.ts'
import { type Answer, composeRemote, type Platform } from './service/remote.ts'

/** An event of a function URL or of an API Gateway HTTP API, payload format 2.0, as far as it is used. */
export interface LambdaEvent {
  rawPath: string
  rawQueryString: string
  headers?: Record<string, string | undefined>
  requestContext: { domainName?: string; stage?: string; http: { method: string } }
}

/** What Lambda makes a response of. */
export interface LambdaResult {
  statusCode: number
  headers: Record<string, string>
  body: string
  isBase64Encoded: boolean
}

/** Lambda takes answers up to 6 MB, counted after JSON and base64; some room for the headers. */
const LARGEST = 6 * 1024 * 1024 - 64 * 1024

const HINTS = {
  token:
    'Nobody may read this service yet: set the variable NODESTATE_TOKEN of the function, or NODESTATE_INSECURE to 1 if everybody may.',
  home: 'The service has nothing to show: set the variable NODESTATE_HOME of the function to s3://bucket/prefix.',
}

/** The service as a Lambda function, behind a function URL or an API Gateway HTTP API. */
export const handler = lambdaHandler({
  env: process.env,
  hints: HINTS,
  followMillis: 0,
  log: (line) => console.error(`nodestate: ${line}`),
})

/** Makes a handler for an environment of your own. */
export function lambdaHandler(platform: Platform): (event: LambdaEvent) => Promise<LambdaResult> {
  let answer: Promise<Answer> | null = null
  return async (event) => {
    answer ??= composeRemote(platform)
    let request: Request
    try {
      request = toRequest(event)
    } catch (cause) {
      if (!(cause instanceof Problem)) platform.log(`The event is no request: ${String(cause)}`)
      return toResult(problemResponse(cause instanceof Problem ? cause : notARequest(), null))
    }
    const response = await (await answer)(request)
    try {
      return await toResult(response)
    } catch (error) {
      if (!(error instanceof Problem)) platform.log(`The answer broke off: ${String(error)}`)
      const problem =
        error instanceof Problem
          ? error
          : new Problem('storage-unavailable', 'The storage broke off; try again.')
      return toResult(problemResponse(problem, request.headers.get('Accept')))
    }
  }
}

function toRequest(event: LambdaEvent): Request {
  const { http, stage = '$default', domainName = 'localhost' } = event.requestContext
  // The Fetch standard knows no such requests.
  if (/^(CONNECT|TRACE|TRACK)$/i.test(http.method))
    throw new Problem('method-not-allowed', 'This service is read-only; use GET or HEAD.', {
      headers: { Allow: 'GET, HEAD' },
    })
  const headers = new Headers()
  for (const [name, value] of Object.entries(event.headers ?? {}))
    if (value !== undefined) headers.set(name, value)
  const inStage = event.rawPath === `/${stage}` || event.rawPath.startsWith(`/${stage}/`)
  // A gateway may have decoded the path: what starts a query or a fragment there is a character like any other.
  const path = (inStage ? event.rawPath.slice(stage.length + 1) || '/' : event.rawPath).replace(
    /[?#]/g,
    encodeURIComponent,
  )
  const query = event.rawQueryString ? `?${event.rawQueryString}` : ''
  return new Request(`https://${headers.get('Host') ?? domainName}${path}${query}`, {
    method: http.method,
    headers,
  })
}

async function toResult(response: Response): Promise<LambdaResult> {
  const headers = Object.fromEntries(response.headers)
  const bytes = await receive(response)
  return { statusCode: response.status, headers, ...encode(bytes) }
}

/** Text as text where it is UTF-8, for base64 makes it a third larger; anything else as base64. */
function encode(bytes: Uint8Array): Pick<LambdaResult, 'body' | 'isBase64Encoded'> {
  try {
    const body = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    if (JSON.stringify(body).length <= LARGEST && Buffer.byteLength(JSON.stringify(body)) <= LARGEST)
      return { body, isBase64Encoded: false }
  } catch {
    // Not UTF-8.
  }
  const body = Buffer.from(bytes).toString('base64')
  if (body.length > LARGEST) throw tooLarge()
  return { body, isBase64Encoded: true }
}

/** The body, unless it is larger than any answer can be: no more of it is read then. */
async function receive(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for (const reader = response.body?.getReader(); reader; ) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    size += value.length
    if (size > LARGEST) {
      await reader.cancel()
      throw tooLarge()
    }
  }
  return Buffer.concat(chunks)
}

function tooLarge(): Problem {
  return new Problem(
    'answer-too-large',
    'The answer is larger than the 6 MB that a Lambda can give; ask for less with size, 4000000 always fits.',
  )
}

/** An event of another kind, such as one of a REST API or a test in the console, or a header that HTTP cannot carry. */
function notARequest(): Problem {
  return new Problem(
    'bad-request',
    'The event is not a valid request of a function URL or an HTTP API with payload format 2.0; call the function through one.',
  )
}
