import process from 'node:process'
import { Problem, problemResponse } from '../http/problem.ts'
import { isFromLoadBalancer, type LambdaEvent, toRequest } from './lambda/event.ts'
import { LAMBDA_BYTES, type LambdaResult, LOAD_BALANCER_BYTES, toResult } from './lambda/result.ts'
import type { App } from './server/serve.ts'
import { composeRemote, type Platform } from './service/remote.ts'

export type { App, LambdaEvent, LambdaResult }

/** A function as Lambda calls it. */
export type LambdaHandler = (event: LambdaEvent) => Promise<LambdaResult>

const HINTS = {
  token:
    'Nobody may read this service yet: set the variable NODESTATE_TOKEN of the function, or NODESTATE_INSECURE to 1 to let everybody read it.',
  home: 'The service has nothing to show: set the variable NODESTATE_HOME of the function to s3://bucket/prefix.',
}

const log = (line: string) => console.error(`nodestate: ${line}`)

/** The service as a Lambda function, with its settings from the environment. */
export const handler: LambdaHandler = lambdaHandler({
  env: process.env,
  hints: HINTS,
  followMillis: 0,
  log,
})

/** Your own app as a Lambda function behind a function URL, an API Gateway or a load balancer. */
export function handle(app: App): LambdaHandler {
  return answerEvents(async () => (request) => app.fetch(request), log)
}

/** The service as a Lambda function, with its settings from an environment of your own. */
export function lambdaHandler(platform: Platform): LambdaHandler {
  let answer: ReturnType<typeof composeRemote> | null = null
  return answerEvents(() => {
    answer ??= composeRemote(platform)
    return answer
  }, platform.log)
}

function answerEvents(
  open: () => Promise<(request: Request) => Response | Promise<Response>>,
  log: (line: string) => void,
): LambdaHandler {
  return async (event) => {
    const answer = await open()
    let request: Request
    try {
      request = toRequest(event)
    } catch (cause) {
      if (!(cause instanceof Problem)) log(`The event is not a request: ${String(cause)}`)
      return toResult(problemResponse(cause instanceof Problem ? cause : notARequest(), null), LAMBDA_BYTES)
    }
    const balanced = isFromLoadBalancer(event)
    if (follows(request))
      return toResult(problemResponse(CANNOT_FOLLOW, request.headers.get('Accept')), LAMBDA_BYTES)
    const most = balanced ? LOAD_BALANCER_BYTES : LAMBDA_BYTES
    const result = await resultOf(await answer(request), request, most, log)
    return balanced && event.multiValueHeaders ? withManyValues(result) : result
  }
}

const CANNOT_FOLLOW = new Problem(
  'unsupported',
  'This service cannot keep answers open; poll with the next cursor instead.',
)

/** Whether the answer would stay open: a result is sent as a whole, and this one would never be. */
function follows({ url }: Request): boolean {
  const { pathname, searchParams } = new URL(url)
  return pathname.endsWith('/api/v1/log/view') && /^(true|1|)$/.test(searchParams.get('follow') ?? 'false')
}

async function resultOf(response: Response, request: Request, most: number, log: (line: string) => void) {
  try {
    return await toResult(response, most)
  } catch (error) {
    if (!(error instanceof Problem)) log(`The answer broke off: ${String(error)}`)
    const problem =
      error instanceof Problem
        ? error
        : new Problem('storage-unavailable', 'The storage broke off; try again.')
    return toResult(problemResponse(problem, request.headers.get('Accept')), most)
  }
}

/** A load balancer that sends several values of a header ignores `headers` in the result. */
function withManyValues(result: LambdaResult): LambdaResult {
  const many = Object.entries(result.headers).map(([name, value]) => [name, [value]] as [string, string[]])
  return { ...result, multiValueHeaders: Object.fromEntries(many) }
}

/** An event of another kind, such as a test in the console, or a header that HTTP cannot carry. */
function notARequest(): Problem {
  return new Problem(
    'bad-request',
    'The event is not a valid request; call the function through a function URL, an API Gateway or a load balancer.',
  )
}
