import { type Client, type LogQuery, ProblemError } from '../../../client.ts'
import type { Item } from '../record/record.ts'

interface Following {
  /** The cursor to begin after. */
  after: string
  signal: AbortSignal
  /** Records arrived, up to a cursor. */
  arrived(items: Item[], cursor: string): void
  /** The connection stands, or is lost for this reason. */
  connected(lost: string | null): void
}

/** What arrives within so many milliseconds is shown together. */
const GATHER_MS = 60

/** Follows a log until the signal. */
export async function followLog(client: Client, query: LogQuery, following: Following): Promise<void> {
  const { signal, arrived, connected } = following
  let cursor = following.after
  let batch: Item[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (batch.length > 0 && !signal.aborted) arrived(batch, cursor)
    batch = []
  }
  try {
    for await (const event of client.follow(query, { lastId: cursor, json: true, signal })) {
      if (event.type === 'open') connected(null)
      else if (event.type === 'lost') {
        const { error } = event
        connected(error instanceof ProblemError ? error.message : 'connection lost, trying again')
      } else {
        cursor = event.id ?? cursor
        batch.push(event.type === 'record' ? event.data : { kind: event.type, text: event.data })
        timer ??= setTimeout(flush, GATHER_MS)
      }
    }
  } finally {
    flush()
  }
}
