// A name and a password in front of a node's logs; the browser prompts for them.
//   USERNAME=ops PASSWORD=… node server.js
import { Hono } from 'hono'
import { basicAuth } from 'hono/basic-auth'
import { createApp } from 'nodestate'
import { full } from 'nodestate/full'
import { serve } from 'nodestate/node'
import { fsStore } from 'nodestate/store/fs'

const { USERNAME: username, PASSWORD: password, LOGS = '/var/log/lindb', PORT = 9000 } = process.env
if (!username || !password) throw new Error('Set USERNAME and PASSWORD.')

const app = new Hono()
app.use(basicAuth({ username, password, realm: 'nodestate' }))
app.route('/', createApp({ logs: fsStore(LOGS), config: '', with: full() }))
console.log((await serve(app, { port: Number(PORT) })).url)
