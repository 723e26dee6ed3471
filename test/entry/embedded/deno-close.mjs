// Closes nodestate/deno while clients are connected in several ways; embedding.parts.test.ts reads what it prints.

import { serve } from '../../../dist/entry/deno.js'
import { full } from '../../../dist/full.js'
import { createApp } from '../../../dist/index.js'
import { memoryStore } from '../../../dist/store/memory.js'

const LINE = '2026-11-15 02:10:00.123\tINFO\ta.go:1\t[A]: one\n'
const logs = memoryStore({ 'a.log': LINE, 'large.log': LINE.repeat(1_000_000) })
const errors = []
const onError = (error) => errors.push(String(error))
const app = createApp({ logs, config: '', with: full(), onError })

/** A request as bytes; nothing of its answer is read. */
async function send(port, text) {
  const connection = await Deno.connect({ hostname: '127.0.0.1', port })
  await connection.write(new TextEncoder().encode(text))
  return connection
}

const CLIENTS = {
  none: async () => {},
  followers: async ({ url }) => {
    const follow = `${url}/api/v1/log/view?file=a.log&follow=true`
    const readers = await Promise.all([1, 2, 3].map(async () => (await fetch(follow)).body.getReader()))
    await Promise.all(readers.map((reader) => reader.read()))
    return async () => Promise.all(readers.map(rest))
  },
  unread: async ({ port }) => {
    const connection = await send(
      port,
      'GET /api/v1/log/view?file=large.log&size=99999999 HTTP/1.1\r\nHost: x\r\n\r\n',
    )
    await connection.read(new Uint8Array(10))
    return async () => connection.close()
  },
  unfinished: async ({ port }) => {
    const connection = await send(port, 'GET /api/v1/log/list HTTP/1.1\r\nHos')
    return async () => connection.close()
  },
}

/** Whether a follow ended; true if it was cut, false if it looked complete. */
async function rest(reader) {
  try {
    for (;;) if ((await reader.read()).done) return false
  } catch {
    return true
  }
}

for (const [name, connect] of Object.entries(CLIENTS)) {
  const server = await serve(app, { port: 0, onError })
  const leave = await connect(server)
  const [closed, again] = await Promise.all([server.close(100), server.close(100)])
  const refused = await fetch(`${server.url}/healthz`).then(
    () => false,
    () => true,
  )
  console.log(JSON.stringify({ name, closed, again, refused, left: (await leave?.()) ?? null, errors }))
}
