import { EndlessError, LARGEST, Pieces } from './body.ts'

export interface ServerEvent {
  /** Empty for an unnamed event. */
  event: string
  /** Null when the event only moved the last id. */
  data: string | null
  /** The last id so far, or null before the first. */
  id: string | null
}

/**
 * The events of a stream, as the HTML standard (9.2.6) parses them; `awake` is called with every chunk, comments
 * included. An event cut off by the end of the stream is dropped; one of more than `most` characters is an error.
 */
export async function* serverEvents(
  body: ReadableStream<Uint8Array>,
  awake: () => void = () => {},
  most = LARGEST,
): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const rest = new Pieces()
  let data: string[] = []
  let event = ''
  let id: string | null = null
  let moved = false
  let afterReturn = false
  /** Of the event that is not complete yet. */
  let size = 0
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      awake()
      let text = decoder.decode(value, { stream: true })
      if (text === '') continue
      size += text.length
      if (size > most) throw new EndlessError()
      // CR, LF and CRLF all end a line; a CRLF may be cut between two chunks.
      if (afterReturn && text[0] === '\n') text = text.slice(1)
      afterReturn = text === '' ? false : text.at(-1) === '\r'
      if (!/[\r\n]/.test(text)) {
        // A record of many megabytes comes in many chunks: joined once, at its end.
        rest.push(text)
        continue
      }
      const lines = (rest.take() + text).split(/\r\n|\r|\n/)
      const last = lines.pop()!
      rest.push(last)
      if (lines.includes('')) size = last.length
      for (const line of lines) {
        if (line === '') {
          if (data.length > 0) yield { event, data: data.join('\n'), id }
          else if (moved) yield { event: '', data: null, id }
          data = []
          event = ''
          moved = false
          continue
        }
        const colon = line.indexOf(':')
        if (colon === 0) continue
        const field = colon < 0 ? line : line.slice(0, colon)
        const from = line[colon + 1] === ' ' ? colon + 2 : colon + 1
        const content = colon < 0 ? '' : line.slice(from)
        if (field === 'data') data.push(content)
        else if (field === 'event') event = content
        else if (field === 'id' && !content.includes('\0')) {
          id = content === '' ? null : content
          moved = true
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
