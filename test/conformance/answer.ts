import { createHash } from 'node:crypto'
import { request } from 'node:http'
import type { Asked } from './requests.ts'

/** An answer as it came over the wire. */
export interface Answer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** Headers that belong to a runtime: framing, encoding, and the time. */
const OWN = new Set([
  'date',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'content-encoding',
  // Every request has another.
  'x-request-id',
])

/** Sends a request to one server, without anything that a client would add. */
export function ask(base: string, { path, method = 'GET', headers = {}, body }: Asked): Promise<Answer> {
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  const { hostname, port, pathname } = new URL(base)
  const options = {
    hostname,
    port,
    path: pathname.replace(/\/$/, '') + path,
    method,
    headers: { Host: 'localhost', ...headers, ...length },
    agent: false,
  }
  return new Promise((resolve, reject) => {
    const sent = request(options, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () => {
        const all = incoming.rawHeaders
        const headers: Record<string, string> = {}
        for (let i = 0; i < all.length; i += 2) {
          const name = all[i]!.toLowerCase()
          if (!OWN.has(name)) headers[name] = headers[name] ? `${headers[name]}, ${all[i + 1]}` : all[i + 1]!
        }
        if (!incoming.complete) reject(new Error('the answer was cut'))
        else
          resolve({ status: incoming.statusCode ?? 0, headers: sorted(headers), body: Buffer.concat(chunks) })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/**
 * What must be the same everywhere. Some values tell of the store and not of the answer: the tag of a file's version,
 * the cursors that hold it and when the file was written, of which only the presence is compared, and the identity of a
 * file, which few stores have.
 */
export function comparable({ status, headers, body }: Answer): unknown {
  const { etag, link, 'last-modified': modified, 'x-nodestate-file': _, ...rest } = headers
  return {
    status,
    headers: {
      ...rest,
      etag: etag === undefined ? null : /^"[!-~]+"$/.test(etag) ? 'a strong tag' : etag,
      modified: modified !== undefined,
      link: link?.replace(/(before|after)=[\w-]+/g, '$1=CURSOR') ?? null,
    },
    body:
      body.length > 4096
        ? `${body.length} bytes, ${hash(body)}`
        : body
            .toString('latin1')
            .replace(/"modified":"[^"]+"/g, '"modified":"TIME"')
            // Marks around the data of tools are random, and cursors hold the tag of a version.
            .replace(/log-data-[0-9a-f]{16}/g, 'log-data-MARK')
            .replace(/(older|newer):[\w-]+/g, '$1:CURSOR'),
  }
}

function hash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function sorted(record: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
}
