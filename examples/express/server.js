// A node's logs under a path of an Express server, behind the middleware that it already has.
//   TOKEN=… node server.js
import express from 'express'
import { createApp } from 'nodestate'
import { full } from 'nodestate/full'
import { listener } from 'nodestate/node'
import { fsStore } from 'nodestate/store/fs'

const { TOKEN: token, LOGS = '/var/log/lindb', PORT = 9000 } = process.env
if (!token) throw new Error('Set TOKEN.')

const logs = createApp({ logs: fsStore(LOGS), config: '', auth: token, with: full() })
const server = express()
  .get('/', (_, response) => response.send('Your own pages'))
  .use('/db-4', listener(logs))
  .listen(Number(PORT), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/db-4`))
