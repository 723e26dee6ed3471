// A bucket on this machine, in a separate process: it stores objects as files, knows If-None-Match, LIST, GET, HEAD and
// PUT, and checks no signature. Prints its port; ends when its input does.
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'

const root = process.argv[2]
mkdirSync(root, { recursive: true })
const pathOf = (key) => join(root, encodeURIComponent(key))
let writes = 0

const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://bucket')
  const key = url.pathname.split('/').slice(2).map(decodeURIComponent).join('/')
  if (request.method === 'PUT') put(key, request, response)
  else if (key === '') list(url.searchParams, response)
  else if (!existsSync(pathOf(key))) error(response, 404, 'NoSuchKey')
  else get(key, request, response)
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.on('end', () => process.exit()).resume()

function put(key, request, response) {
  const path = pathOf(key)
  const whole = `${root}/.${writes++}`
  request.pipe(createWriteStream(whole)).on('finish', () => {
    if (request.headers['if-none-match'] === '*' && existsSync(path))
      return error(response, 412, 'PreconditionFailed')
    renameSync(whole, path)
    response.writeHead(200, { ETag: '"stored"' }).end()
  })
}

function get(key, request, response) {
  const { size, mtime } = statSync(pathOf(key))
  response.writeHead(200, {
    ETag: '"stored"',
    'Content-Length': size,
    'Last-Modified': mtime.toUTCString(),
  })
  response.end(request.method === 'GET' ? readFileSync(pathOf(key)) : undefined)
}

function list(query, response) {
  const prefix = query.get('prefix') ?? ''
  const delimiter = query.get('delimiter')
  const after = query.get('continuation-token') ?? query.get('start-after') ?? ''
  const most = Number(query.get('max-keys') ?? 1000)
  const names = new Set()
  for (const file of readdirSync(root)) {
    const key = decodeURIComponent(file)
    if (file.startsWith('.') || !key.startsWith(prefix)) continue
    const slash = delimiter ? key.indexOf(delimiter, prefix.length) : -1
    names.add(slash < 0 ? key : key.slice(0, slash + 1))
  }
  const all = [...names].filter((name) => name > after).sort()
  const page = all.slice(0, most)
  const next = all.length > most ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
  const entries = page.map((name) => {
    if (name.endsWith('/')) return `<CommonPrefixes><Prefix>${name}</Prefix></CommonPrefixes>`
    const { size, mtime } = statSync(pathOf(name))
    return `<Contents><Key>${name}</Key><LastModified>${mtime.toISOString()}</LastModified><ETag>"stored"</ETag><Size>${size}</Size></Contents>`
  })
  response.end(
    `<ListBucketResult><IsTruncated>${next !== ''}</IsTruncated>${next}${entries.join('')}</ListBucketResult>`,
  )
}

function error(response, status, code) {
  response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`)
}
