import { any, calling, checkOptions } from '../../kit/checked.ts'
import { problemOf, reach } from './problem.ts'
import type { ClientOptions } from './types.ts'
import type { Fetch } from './web.ts'

export interface Call {
  /** Below `api/v1/`. */
  path: string
  /** Parameters; empty and absent ones are left out, lists are repeated. @default none */
  query?: object | undefined
  /** @default 'application/json' */
  accept?: string | undefined
  signal?: AbortSignal | undefined
  headers?: Record<string, string> | undefined
}

const CLIENT = {
  base: any(),
  token: any(),
  fetch: calling<Fetch>('answers requests'),
}

/** Sends a request; throws a problem if the response is not a success. */
export type Send = (call: Call) => Promise<Response>

/** Connects to the node at `base`. */
export function connect(options: ClientOptions): Send {
  checkOptions(options, CLIENT, { what: 'createClient', needed: ['base'] })
  const base = new URL(options.base)
  base.search = ''
  base.hash = ''
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  const send: Fetch = options.fetch ?? ((url, init) => fetch(url, init))

  return async ({ path, query = {}, accept = 'application/json', signal, headers: extra = {} }) => {
    const url = new URL(`api/v1/${path}`, base)
    for (const [name, value] of Object.entries(query)) {
      for (const each of Array.isArray(value) ? value : [value])
        if (each !== undefined && each !== null && each !== '') url.searchParams.append(name, String(each))
    }
    const token = typeof options.token === 'function' ? options.token() : options.token
    const headers: Record<string, string> = { Accept: `${accept}, application/problem+json`, ...extra }
    if (token) headers.Authorization = `Bearer ${token}`
    const response = await reach(send(url, { headers, signal: signal ?? null }), signal)
    if (!response.ok) throw await problemOf(response)
    return response
  }
}
