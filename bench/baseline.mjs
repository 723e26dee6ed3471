// The baseline: the same answers from node:http and fs promises, written the straightforward way.
// Usage: node bench/baseline.mjs DIRECTORY. Prints its URL.
import { open, readdir, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'

const directory = process.argv[2]
const COMMON = { 'Cache-Control': 'private, no-cache', 'X-Content-Type-Options': 'nosniff' }

const server = createServer(async (request, response) => {
  try {
    const url = new URL(request.url, 'http://localhost')
    if (url.pathname === '/api/v1/log/list') await list(request, response)
    else await view(request, response, url.searchParams)
  } catch (error) {
    response.writeHead(500, COMMON).end(String(error))
  }
})
server.listen(0, '127.0.0.1', () => console.log(`listens on http://127.0.0.1:${server.address().port}`))

async function view(request, response, parameters) {
  const name = parameters.get('file')
  if (!/^[\w.-]+$/.test(name)) return response.writeHead(404, COMMON).end('not found')
  const size = Number(parameters.get('size'))
  const file = await open(join(directory, name))
  try {
    const stats = await file.stat()
    const etag = `"${stats.ino}-${stats.size}-${stats.mtimeMs}"`
    if (request.headers['if-none-match'] === etag)
      return response.writeHead(304, { ...COMMON, ETag: etag }).end()
    const from = Math.max(0, stats.size - size - 1)
    const bytes = Buffer.allocUnsafe(stats.size - from)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, from)
    const start = stats.size > size ? bytes.indexOf(10) + 1 : 0
    const body = bytes.subarray(start, bytesRead)
    const headers = {
      'Content-Type': 'text/plain; charset=utf-8',
      ...COMMON,
      ETag: etag,
      'Content-Length': body.length,
    }
    response.writeHead(200, headers).end(body)
  } finally {
    await file.close()
  }
}

async function list(_request, response) {
  const entries = await readdir(directory, { withFileTypes: true })
  const files = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ name }) => ({ name, size: (await stat(join(directory, name))).size })),
  )
  files.sort((a, b) => (a.name < b.name ? -1 : 1))
  const body = JSON.stringify(files)
  response
    .writeHead(200, {
      'Content-Type': 'application/json',
      ...COMMON,
      'Content-Length': Buffer.byteLength(body),
    })
    .end(body)
}
