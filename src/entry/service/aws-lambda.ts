import process from 'node:process'
import { once } from '../../kit/limits/once.ts'
import { answerEvents, type LambdaHandler } from '../aws-lambda.ts'
import { composeRemote, type Platform } from './remote.ts'

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

/** The service as a Lambda function, with its settings from an environment of your own. */
export function lambdaHandler(platform: Platform): LambdaHandler {
  return answerEvents(
    once(() => composeRemote(platform)),
    platform.log,
  )
}
