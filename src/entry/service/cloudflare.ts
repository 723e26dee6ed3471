import { type R2BucketLike, r2Store } from '../../store/r2.ts'
import type { Worker } from '../cloudflare.ts'
import { type Answer, composeRemote } from './remote.ts'

/** What a deployment binds: variables and secrets by their names, and an R2 bucket as BUCKET. */
export interface WorkerEnv {
  BUCKET?: R2BucketLike
  [name: string]: unknown
}

const HINTS = {
  token:
    'Nobody may read this service yet: set a token with `wrangler secret put NODESTATE_TOKEN`, or set the variable NODESTATE_INSECURE to 1 to let everybody read it.',
  home: 'The service has nothing to show: bind an R2 bucket as BUCKET, or set NODESTATE_HOME to s3://bucket/prefix.',
}

/** One app for each environment: an isolate has one, made at the first request. */
const answers = new WeakMap<WorkerEnv, Promise<Answer>>()

/** The service as a Cloudflare Worker, with its settings from the environment. */
const worker: Worker<WorkerEnv> = {
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
