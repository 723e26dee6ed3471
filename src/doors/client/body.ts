/** The most that is taken of an answer, or of one event of a follow: a node may never stop sending. */
export const LARGEST = 256 * 1024 * 1024

/** What was taken had no end. */
export class EndlessError extends Error {
  constructor() {
    super(`The node sends more than ${LARGEST / 1024 / 1024} MiB in one piece.`)
    this.name = 'EndlessError'
  }
}

/** How many pieces of a text are joined at a time: a node may send it byte by byte, and each piece takes memory. */
const JOINED = 4096

/** A text that comes in pieces. */
export class Pieces {
  #blocks: string[] = []
  #last: string[] = []

  push(piece: string): void {
    if (this.#last.push(piece) < JOINED) return
    this.#blocks.push(this.#last.join(''))
    this.#last = []
  }

  /** The text so far. What comes next is another one. */
  take(): string {
    const text = this.#blocks.join('') + this.#last.join('')
    this.#blocks = []
    this.#last = []
    return text
  }
}

/** The whole body of an answer as text, up to `most` bytes. */
export async function textOf(response: Response, most = LARGEST): Promise<string> {
  const { body } = response
  // A given fetch may return less than a Response.
  if (typeof body?.getReader !== 'function') return response.text()
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const pieces = new Pieces()
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.length
    if (size > most) {
      reader.cancel().catch(() => {})
      throw new EndlessError()
    }
    pieces.push(decoder.decode(value, { stream: true }))
  }
  return pieces.take() + decoder.decode()
}
