import { type Entry, type Store, StoreError, type StoreErrorCode } from '../../src/store/store.ts'

/** A store that runs elsewhere, inside workerd, seen through the HTTP of `r2-worker.ts`. */
export function remoteStore(base: string) {
  async function ask(
    path: string,
    query: Record<string, unknown>,
    init: RequestInit = {},
  ): Promise<Response> {
    const search = encodeURIComponent(JSON.stringify(query, numbers))
    const answer = await fetch(new URL(`${path}?q=${search}`, base), init)
    if (answer.status !== 599) return answer
    const { code, message } = (await answer.json()) as { code: StoreErrorCode | null; message: string }
    throw code === null ? new Error(message) : new StoreError(code, message)
  }
  const store: Store = {
    async *list(prefix, options) {
      const { signal, ...rest } = options ?? {}
      signal?.throwIfAborted()
      const answer = await ask('list', { prefix, ...rest })
      yield* (await answer.json()) as Entry[]
    },
    stat: async (key) => (await ask('stat', { key })).json() as Promise<Entry | null>,
    async read(key, range, options) {
      const { ifMatch, ifNoneMatch, signal } = options ?? {}
      const init = signal ? { signal } : {}
      const answer = await ask('read', { key, range, ifMatch, ifNoneMatch }, init)
      if (answer.status === 204) return null
      const { whole, ...read } = JSON.parse(decodeURIComponent(answer.headers.get('x-read')!))
      return { ...read, body: whole ? new Uint8Array(await answer.arrayBuffer()) : answer.body }
    },
  }
  return {
    store,
    put: (key: string, bytes: Uint8Array | string) =>
      ask('put', { key }, { method: 'PUT', body: bytes as BodyInit }).then((answer) => answer.text()),
    remove: (key: string) => ask('remove', { key }).then((answer) => answer.text()),
  }
}

/** JSON has no infinity: it is spelled out. */
function numbers(_: string, value: unknown): unknown {
  return value === Number.POSITIVE_INFINITY ? 'Infinity' : value
}
