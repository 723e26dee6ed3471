// A node's home in S3 (node.json, config.toml, logs/) as a Lambda function, whose role may read the bucket.
import { createApp } from 'nodestate'
import { handle } from 'nodestate/aws-lambda'
import { full } from 'nodestate/full'
import { openHome } from 'nodestate/home'
import { fromEnv, s3Store } from 'nodestate/store/s3'

const { BUCKET: bucket, NODE: node = 'db-4', TOKEN: token } = process.env
if (!bucket || !token) throw new Error('Set BUCKET and TOKEN.')

const store = (prefix) => s3Store({ bucket, prefix, ...fromEnv(process.env) })
export const handler = handle(
  createApp({ logs: store(`${node}/logs`), ...openHome(store(node)), auth: token, with: full() }),
)
