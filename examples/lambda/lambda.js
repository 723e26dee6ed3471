// A node's home in S3 (node.json, config.toml, logs/) as a Lambda function, whose role may read the bucket.
import { createApp } from 'nodestate'
import { handle } from 'nodestate/aws-lambda'
import { openHome } from 'nodestate/home'
import { s3Store } from 'nodestate/store/s3'

const { BUCKET: bucket, NODE: node = 'db-4', TOKEN: token, ...env } = process.env
if (!bucket || !token) throw new Error('Set BUCKET and TOKEN.')

const store = (prefix) =>
  s3Store({
    bucket,
    prefix,
    region: env.AWS_REGION,
    endpoint: env.AWS_ENDPOINT_URL,
    accessKeyId: env.AWS_ACCESS_KEY_ID,
    secretAccessKey: env.AWS_SECRET_ACCESS_KEY,
    sessionToken: env.AWS_SESSION_TOKEN,
  })
export const handler = handle(createApp({ logs: store(`${node}/logs`), ...openHome(store(node)), token }))
