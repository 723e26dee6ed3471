/**
 * The web types used in the client's own types. Each is the platform's if that is declared (browser, Node, Bun, Deno);
 * otherwise it is the part that the client needs, and never `any`.
 */

type Platform<Name extends string, Needed> = typeof globalThis extends { [N in Name]: infer Found }
  ? Found
  : Needed
type Instance<Name extends string, Needed> = typeof globalThis extends {
  [N in Name]: { prototype: infer Found }
}
  ? Found
  : Needed

/** An AbortSignal. */
export type Signal = Instance<
  'AbortSignal',
  {
    readonly aborted: boolean
    readonly reason: unknown
    addEventListener(type: 'abort', listener: () => void): void
    removeEventListener(type: 'abort', listener: () => void): void
  }
>

/** A URL object. */
export type Url = Instance<'URL', { readonly href: string }>

/** A ReadableStream of bytes: the type of a response's body. */
export type ByteStream = typeof globalThis extends { Response: { prototype: { body: infer Body } } }
  ? NonNullable<Body>
  : AsyncIterable<Uint8Array>

/** The parts of a fetch response that the client uses. */
export interface FetchedAnswer {
  readonly ok: boolean
  readonly status: number
  readonly statusText: string
  readonly headers: { get(name: string): string | null; has(name: string): boolean }
  readonly body: unknown
  text(): Promise<string>
  json(): Promise<unknown>
}

/** The platform's `fetch`, or a function like it. */
export type Fetch = Platform<
  'fetch',
  (url: Url, init: { headers: Record<string, string>; signal: Signal | null }) => Promise<FetchedAnswer>
>
