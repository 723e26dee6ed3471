import { type R2BucketLike, r2Store } from '../../src/store/r2.ts'
import { type ByteRange, type Entry, StoreError } from '../../src/store/store.ts'

/** The R2 store inside workerd, on the real binding, spoken to over HTTP by `remote.ts`. */
export default {
  async fetch(request: Request, env: { BUCKET: R2BucketLike & Writer }): Promise<Response> {
    const store = r2Store(env.BUCKET, { prefix: 'home/logs' })
    const url = new URL(request.url)
    const q = JSON.parse(url.searchParams.get('q') ?? '{}')
    try {
      switch (url.pathname) {
        case '/put':
          await env.BUCKET.put(`home/logs/${q.key}`, await request.arrayBuffer())
          return new Response('ok')
        case '/remove':
          await env.BUCKET.delete(`home/logs/${q.key}`)
          return new Response('ok')
        case '/list': {
          const entries: Entry[] = []
          const { prefix, ...options } = q
          for await (const entry of store.list(prefix, options)) entries.push(entry)
          return Response.json(entries)
        }
        case '/stat':
          return Response.json(await store.stat(q.key))
        default: {
          const read = await store.read(q.key, rangeOf(q.range), {
            ...(q.ifMatch !== undefined ? { ifMatch: q.ifMatch } : {}),
            ...(q.ifNoneMatch !== undefined ? { ifNoneMatch: q.ifNoneMatch } : {}),
            signal: request.signal,
          })
          if (read === null) return new Response(null, { status: 204 })
          const { body, ...rest } = read
          const told = JSON.stringify({ ...rest, whole: body instanceof Uint8Array })
          return new Response(body as BodyInit, { headers: { 'x-read': encodeURIComponent(told) } })
        }
      }
    } catch (error) {
      const code = error instanceof StoreError ? error.code : null
      return Response.json({ code, message: String(error) }, { status: 599 })
    }
  },
}

interface Writer {
  put(key: string, body: ArrayBuffer): Promise<unknown>
  delete(key: string): Promise<void>
}

function rangeOf(range: Record<string, number | string> | undefined): ByteRange | undefined {
  if (range === undefined) return undefined
  return Object.fromEntries(Object.entries(range).map(([name, value]) => [name, Number(value)])) as ByteRange
}
