import type { IncomingMessage } from 'node:http'

/** An app, or anything else with a `fetch` that answers requests. */
export interface App {
  // biome-ignore lint/suspicious/noExplicitAny: what a runtime passes beside the request is the app's business
  fetch(request: Request, ...more: any[]): Response | Promise<Response>
}

/** PEM texts. Client certificates of `clientCa` are asked for, and trusted (Node only). */
export interface Tls {
  cert: string
  key: string
  clientCa?: string | undefined
}

/** How to listen. */
export interface ServeOptions {
  /** The port to listen on; 0 picks a free one. @default 9000 */
  port?: number | undefined
  /** The address to listen on. @default '127.0.0.1' */
  hostname?: string | undefined
  /** Certificate chain and private key as PEM texts. @default plain HTTP */
  tls?: Tls | null | undefined
  /** Seconds after which an answer is cut that its client does not read. @default 60 */
  stallSeconds?: number | undefined
  /**
   * Clients at once: requests on further connections are answered with 503, and beyond twice as many are refused (Node
   * only). @default no limit
   */
  connections?: number | undefined
  /** Called when a request fails before it is answered, and when the server itself fails. @default console.error */
  onError?: ((error: unknown) => void) | undefined
  /** Called when an answer was cut because its body failed or its client stopped reading. @default nothing */
  onCut?: ((reason: unknown, request?: Request) => void) | undefined
  /** Called when a client takes this for a proxy (`CONNECT`) and is refused (Node only). @default nothing */
  onConnect?: ((request: IncomingMessage) => void) | undefined
}

/** A server that listens. */
export interface Server {
  /** `http://127.0.0.1:9000`; a wildcard address becomes one that can be opened. */
  url: string
  port: number
  /** Uses another certificate from the next connection on; those that are open keep theirs (Node only). */
  setTls?(tls: Tls): void
  /**
   * Stops accepting, finishes running answers and cuts those that still run after `graceMs`.
   * Resolves to whether any had to be cut. @default 3000
   */
  close(graceMs?: number): Promise<boolean>
}

/** Makes an app listen on one runtime. */
export type Serve = (app: App, options?: ServeOptions) => Promise<Server>

/** The options with their defaults. A host may have brackets, as in a URL. */
export function resolveServeOptions(options: ServeOptions) {
  const { port = 9000, hostname = '127.0.0.1', tls = null, stallSeconds = 60 } = options
  return {
    port,
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    tls,
    stallMs: stallSeconds * 1000,
    most: options.connections ?? Number.POSITIVE_INFINITY,
    onError: options.onError ?? ((error: unknown) => console.error(error)),
    onCut: options.onCut ?? (() => {}),
    onConnect: options.onConnect ?? (() => {}),
  }
}

/** What listens at an address, and stops once. */
export function serverAt(
  { tls, hostname }: Pick<ReturnType<typeof resolveServeOptions>, 'tls' | 'hostname'>,
  port: number,
  stop: (graceMs: number) => Promise<boolean>,
): Server {
  let closing: Promise<boolean> | null = null
  return {
    url: `${tls ? 'https' : 'http'}://${reachable(hostname)}:${port}`,
    port,
    close(graceMs = 3000) {
      closing ??= stop(graceMs)
      return closing
    },
  }
}

export function reachable(hostname: string): string {
  const name = hostname.replace(/^\[(.*)\]$/, '$1')
  if (name === '0.0.0.0') return '127.0.0.1'
  if (name === '::') return '[::1]'
  return name.includes(':') ? `[${name}]` : name
}
