/** The two eras of the protocol that are served: 2026-07-28 without a handshake, and clients of 2025-11-25. */
export type Era = 'modern' | 'legacy'
export const ERAS: Era[] = ['modern', 'legacy']

interface Answered {
  result?: { content?: { text: string }[]; isError?: boolean; tools?: ListedTool[] }
  error?: { code: number; message: string }
}
export interface ListedTool {
  name: string
  description: string
  inputSchema: { properties: Record<string, object>; required?: string[] }
  annotations: Record<string, unknown>
}

type Fetch = (request: Request) => Response | Promise<Response>

/** A message of the protocol as a request. */
export function messageOf(
  url: string,
  method: string,
  params: object = {},
  { era = 'modern', headers = {} }: { era?: Era; headers?: Record<string, string> } = {},
): Request {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const { name } = params as { name?: string }
  const own: Record<string, string> =
    era === 'legacy'
      ? { 'MCP-Protocol-Version': '2025-11-25' }
      : { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method, ...(name && { 'Mcp-Name': name }) }
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method,
    params: era === 'legacy' ? params : { ...params, _meta: meta },
  }
  return new Request(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      Host: new URL(url).host,
      ...own,
      ...headers,
    },
    body: JSON.stringify(body),
  })
}

/** The answer to a message, from JSON or from an event. */
export async function answered(response: Response): Promise<Answered> {
  const text = await response.text()
  const data = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? 'null')
  return JSON.parse(data) as Answered
}

/** Calls tools of an app. */
export function toolsOf(
  fetch: Fetch,
  options: { url?: string; era?: Era; headers?: Record<string, string> } = {},
) {
  const { url = 'http://localhost/mcp', ...rest } = options
  const send = async (method: string, params?: object) =>
    answered(await fetch(messageOf(url, method, params, rest)))
  return {
    send,
    list: async () => (await send('tools/list')).result!.tools!,
    /** The text of an answer; throws the sentence of a problem. */
    async call(name: string, args: object = {}): Promise<string> {
      const { result, error } = await send('tools/call', { name, arguments: args })
      if (error) throw new Error(error.message)
      const text = result!.content!.map((part) => part.text).join('\n')
      if (result!.isError) throw new Error(text)
      return text
    },
  }
}
