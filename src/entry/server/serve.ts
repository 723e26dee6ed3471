import type { IncomingMessage } from 'node:http'
import { any, type Check, calling, checkOptions, type OptionsOf, text, whole } from '../../kit/checked.ts'

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
const SERVE = {
  /** The port to listen on; 0 picks a free one. @default 9000 */
  port: whole(0, 65_535),
  /** The address to listen on. @default '127.0.0.1' */
  hostname: text,
  /** Certificate chain and private key as PEM texts. @default plain HTTP */
  tls: any<Tls | null>(),
  /** Seconds after which an answer is cut that its client does not read. @default 60 */
  stallSeconds: seconds(),
  /**
   * Clients at once: requests on further connections are answered with 503, and beyond twice as many are refused (Node
   * only). @default no limit
   */
  connections: whole(1),
  /** Called when a request fails before it is answered, and when the server itself fails. @default console.error */
  onError: calling<(error: unknown) => void>('takes an error'),
  /** Called when an answer was cut because its body failed or its client stopped reading. @default nothing */
  onCut: calling<(reason: unknown, request?: Request) => void>('takes a reason and a request'),
  /** Called when a client takes this for a proxy (`CONNECT`) and is refused (Node only). @default nothing */
  onConnect: calling<(request: IncomingMessage) => void>('takes a request'),
}
export type ServeOptions = OptionsOf<typeof SERVE>

function seconds(): Check<number> {
  return (value) =>
    typeof value === 'number' && value > 0 && value <= 86_400
      ? null
      : 'a number of seconds above 0, at most 86400'
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

export function refuseNoApp(app: App): void {
  if (typeof app?.fetch !== 'function')
    throw new TypeError(
      'Cannot serve this: pass an app, or anything else with a fetch that answers requests.',
    )
}

/** The options with their defaults; throws a TypeError about one that cannot be used. A host may have brackets, as in a URL. */
export function resolveServeOptions(app: App, options: ServeOptions) {
  refuseNoApp(app)
  checkOptions(options, SERVE, { what: 'serve' })
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
