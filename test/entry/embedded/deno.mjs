// The service as the README embeds it in Deno; embedding.parts.test.ts starts it with a log directory.
import { full } from '../../../dist/full.js'
import { createApp } from '../../../dist/index.js'
import { fsStore } from '../../../dist/store/fs.js'

const app = createApp({ logs: fsStore(Deno.args[0]), config: '', with: full(), onError() {} })
const onListen = ({ port }) => console.log(`port ${port}`)
Deno.serve({ hostname: '127.0.0.1', port: 0, onListen }, app.fetch)
