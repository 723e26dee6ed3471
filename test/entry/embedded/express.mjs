// The service under a path of an Express server; embedding.parts.test.ts starts it with a log directory.
import { getRequestListener } from '@hono/node-server'
import { full } from '../../../dist/full.js'
import { createApp } from '../../../dist/index.js'
import { fsStore } from '../../../dist/store/fs.js'
import express from '../../parts/node_modules/express/index.js'

const app = createApp({ logs: fsStore(process.argv[2]), config: '', with: full(), onError() {} })
const server = express()
  .use('/db-4', getRequestListener(app.fetch))
  .listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`))
