import { Problem, problemResponse } from '../core/http/problem.ts'
import { isFromLoadBalancer, type LambdaEvent, type LambdaEventV1, toRequest } from './lambda/event.ts'
import { LAMBDA_BYTES, type LambdaResult, LOAD_BALANCER_BYTES, toResult } from './lambda/result.ts'
import type { App } from './server/serve.ts'

export type { App, LambdaEvent, LambdaResult }

/** A function as Lambda calls it. */
export type LambdaHandler = (event: LambdaEvent) => Promise<LambdaResult>

const log = (line: string) => console.error(`nodestate: ${line}`)

/** Your own app as a Lambda function behind a function URL, an API Gateway or a load balancer. */
export function handle(app: App): LambdaHandler {
  return answerEvents(async () => (request) => app.fetch(request), log)
}

/** Answers events by what `open` makes with the first of them. */
export function answerEvents(
  open: () => Promise<(request: Request) => Response | Promise<Response>>,
  log: (line: string) => void,
): LambdaHandler {
  return async (event) => {
    const answer = await open()
    let request: Request | null = null
    let response: Response | null = null
    let send = (response: Response) => toResult(response, LAMBDA_BYTES)
    try {
      if (isFromLoadBalancer(event)) send = (response) => toBalanced(response, event)
      request = toRequest(event)
      if (follows(request)) throw CANNOT_FOLLOW
      response = await answer(request)
      return await send(response)
    } catch (error) {
      // An app of your own that throws fails the invocation.
      if (request && !response && error !== CANNOT_FOLLOW) throw error
      const problem = error instanceof Problem ? error : request ? BROKEN_OFF : NOT_A_REQUEST
      if (problem !== error)
        log(`${request ? 'The answer broke off' : 'The event is not a request'}: ${String(error)}`)
      return send(problemResponse(problem, request?.headers.get('Accept')))
    }
  }
}

/** A load balancer that sends several values of a header ignores `headers` in the result. */
async function toBalanced(response: Response, { multiValueHeaders }: LambdaEventV1): Promise<LambdaResult> {
  const result = await toResult(response, LOAD_BALANCER_BYTES)
  if (!multiValueHeaders) return result
  const many = Object.entries(result.headers).map(([name, value]) => [name, [value]] as [string, string[]])
  return { ...result, multiValueHeaders: Object.fromEntries(many) }
}

const CANNOT_FOLLOW = new Problem(
  'unsupported',
  'This service cannot keep answers open; poll with the next cursor instead.',
)
const BROKEN_OFF = new Problem('storage-unavailable', 'The storage broke off; try again.')
/** An event of another kind, such as a test in the console, or a header that HTTP cannot carry. */
const NOT_A_REQUEST = new Problem(
  'bad-request',
  'The event is not a valid request; call the function through a function URL, an API Gateway or a load balancer.',
)

/** Whether the answer would stay open: a result is sent as a whole, and this one would never be. */
function follows({ url }: Request): boolean {
  const { pathname, searchParams } = new URL(url)
  return pathname.endsWith('/api/v1/log/view') && /^(true|1|)$/.test(searchParams.get('follow') ?? 'false')
}
