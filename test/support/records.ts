import { memoryStore } from '../../src/store/memory.ts'
import { createApp } from './app.ts'

/** A record as JSON, as a client gets it. */
export interface ShownRecord {
  time?: string
  level?: string
  tags?: string[]
  source?: { file: string; line: number }
  message: string
  context?: Record<string, unknown>
  raw?: string
}

/** A service with one log, `a.log`, which was written at a moment. */
export function nodeWith(text: string | Uint8Array, { timezone = 'UTC', modified = Date.now() } = {}) {
  const logs = memoryStore({ 'a.log': text }, { now: () => modified } as Parameters<typeof memoryStore>[1])
  return createApp({ logs, config: '', timezone })
}

/** The records of a text. */
export async function recordsOf(
  text: string | Uint8Array,
  options: Parameters<typeof nodeWith>[1] = {},
): Promise<ShownRecord[]> {
  const answer = await nodeWith(text, options).request(
    '/api/v1/log/view?file=a.log&format=ndjson&size=100000000',
  )
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`)
  const lines = (await answer.text()).split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line))
}
