// The service as the README embeds it in Bun; embedding.parts.test.ts starts it with a log directory.
import { full } from '../../../dist/full.js'
import { createApp } from '../../../dist/index.js'
import { fsStore } from '../../../dist/store/fs.js'

const app = createApp({ logs: fsStore(process.argv[2]), config: '', with: full(), onError() {} })
const server = Bun.serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 })
console.log(`port ${server.port}`)
