/**
 * The parts of `@modelcontextprotocol/server` 2.4 that are used here. Written down, so that the types of this package
 * need neither it nor zod, and so that checking them does not take twice as long.
 */
declare module '@modelcontextprotocol/server' {
  export interface CallContext {
    mcpReq: { signal: AbortSignal }
  }

  export class Server {
    constructor(
      info: { name: string; title?: string; version: string },
      options: { capabilities: { tools: object }; instructions?: string },
    )
    setRequestHandler(method: 'tools/list', handler: () => Promise<{ tools: object[] }>): void
    setRequestHandler(
      method: 'tools/call',
      handler: (
        request: { params: { name: string; arguments?: Record<string, unknown> } },
        context: CallContext,
      ) => Promise<{ content: { type: 'text'; text: string }[]; isError?: boolean }>,
    ): void
  }

  export class ProtocolError extends Error {
    constructor(code: number, message: string)
  }

  export const ProtocolErrorCode: { InvalidParams: number }

  export function createMcpHandler(
    factory: () => Server,
    options?: { onerror?: (error: Error) => void },
  ): { fetch(request: Request, options: { parsedBody: unknown }): Promise<Response> }
}

declare module '@modelcontextprotocol/server/stdio' {
  import type { Server } from '@modelcontextprotocol/server'

  export function serveStdio(
    factory: () => Promise<Server>,
    options?: { onerror?: (error: Error) => void },
  ): { close(): Promise<void> }
}
