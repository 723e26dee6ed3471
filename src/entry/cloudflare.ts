import { type R2BucketLike, r2Store } from '../store/r2.ts'
import { type Answer, composeRemote } from './service/remote.ts'

/** What a deployment binds: variables and secrets by their names, and an R2 bucket as BUCKET. */
export interface WorkerEnv {
  BUCKET?: R2BucketLike
  [name: string]: unknown
}

const HINTS = {
  token:
    'Nobody may read this service yet: set a token with `wrangler secret put NODESTATE_TOKEN`, or the variable NODESTATE_INSECURE to 1 if everybody may.',
  home: 'The service has nothing to show: bind an R2 bucket as BUCKET, or set NODESTATE_HOME to s3://bucket/prefix.',
}

/** One app for each environment: in an isolate that is one, made at the first request. */
const answers = new WeakMap<WorkerEnv, Promise<Answer>>()

/** The service as a Cloudflare Worker. */
export default {
  async fetch(request: Request, env: WorkerEnv): Promise<Response> {
    let answer = answers.get(env)
    if (!answer) {
      answer = compose(env)
      answers.set(env, answer)
    }
    return (await answer)(request)
  },
}

function compose(env: WorkerEnv): Promise<Answer> {
  const { BUCKET: bucket } = env
  const texts = Object.entries(env).filter((pair): pair is [string, string] => typeof pair[1] === 'string')
  return composeRemote({
    env: Object.fromEntries(texts),
    bound: bucket && ((prefix) => r2Store(bucket, { prefix })),
    hints: HINTS,
    // A request may ask its bucket 1,000 times, and a lively log is looked at four times a second.
    followMillis: 120_000,
    log: (line) => console.error(`nodestate: ${line}`),
  })
}
