/** The most that is taken of an answer, or of one event of a follow: a node may never stop sending. */
export const LARGEST = 256 * 1024 * 1024

/** What was taken had no end. */
export class EndlessError extends Error {
  constructor() {
    super(`The node sends more than ${LARGEST / 1024 / 1024} MiB in one piece.`)
    this.name = 'EndlessError'
  }
}

/** The whole body of an answer as text, up to `most` bytes. */
export async function textOf(response: Response, most = LARGEST): Promise<string> {
  const { body } = response
  // A given fetch may return less than a Response.
  if (typeof body?.getReader !== 'function') return response.text()
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const parts: string[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.length
    if (size > most) {
      reader.cancel().catch(() => {})
      throw new EndlessError()
    }
    parts.push(decoder.decode(value, { stream: true }))
  }
  return parts.join('') + decoder.decode()
}
