import { Problem, problemResponse } from '../http/problem.ts'
import { type R2BucketLike, r2Store } from '../store/r2.ts'
import type { App } from './server/serve.ts'
import { type Answer, composeRemote } from './service/remote.ts'

/** What a deployment binds: variables and secrets by their names, and an R2 bucket as BUCKET. */
export interface WorkerEnv {
  BUCKET?: R2BucketLike
  [name: string]: unknown
}

/** A Worker, in the form of Cloudflare's default export. */
export interface Worker<Env = WorkerEnv> {
  fetch(request: Request, env: Env, context?: unknown): Promise<Response>
}

const HINTS = {
  token:
    'Nobody may read this service yet: set a token with `wrangler secret put NODESTATE_TOKEN`, or set the variable NODESTATE_INSECURE to 1 to let everybody read it.',
  home: 'The service has nothing to show: bind an R2 bucket as BUCKET, or set NODESTATE_HOME to s3://bucket/prefix.',
}

/** One app for each environment: an isolate has one, made at the first request. */
const answers = new WeakMap<WorkerEnv, Promise<Answer>>()

/** The service as a Cloudflare Worker, with its settings from the environment. */
const worker: Worker = {
  async fetch(request, env) {
    let answer = answers.get(env)
    if (!answer) {
      answer = compose(env)
      answers.set(env, answer)
    }
    return (await answer)(request)
  },
}
export default worker

/**
 * A Worker around an app of your own. Bindings exist only while a request runs, so the app is made from the first
 * request's environment: `export default handle((env) => createApp({ logs: r2Store(env.BUCKET), … }))`. While it cannot
 * be made, such as without its secret, every request gets a 503.
 */
// biome-ignore lint/suspicious/noExplicitAny: bindings have no types in JavaScript
export function handle<Env extends object = Record<string, any>>(
  app: App | ((env: Env) => App),
): Worker<Env> {
  let made: App | null = typeof app === 'function' ? null : app
  return {
    async fetch(request, env, context) {
      try {
        made ??= (app as (env: Env) => App)(env)
      } catch (error) {
        console.error('nodestate:', error)
        return notConfigured(request)
      }
      return made.fetch(request, env, context)
    },
  }
}

function notConfigured(request: Request): Response {
  const detail =
    'The service cannot start with these bindings and variables; its log says why. Set what is missing and deploy again.'
  return problemResponse(new Problem('not-configured', detail), request.headers.get('Accept'))
}

function compose(env: WorkerEnv): Promise<Answer> {
  const { BUCKET: bucket } = env
  const texts = Object.entries(env).filter((pair): pair is [string, string] => typeof pair[1] === 'string')
  return composeRemote({
    env: Object.fromEntries(texts),
    bound: bucket && ((prefix, nested) => r2Store(bucket, { prefix, nested })),
    hints: HINTS,
    // A request may call its bucket 1,000 times, and a busy log is checked four times a second.
    followMillis: 120_000,
    log: (line) => console.error(`nodestate: ${line}`),
  })
}
