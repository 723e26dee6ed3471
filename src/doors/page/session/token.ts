import { hand } from '../ui/store.ts'

/**
 * The token, in the memory of this tab. Open tabs of the same page share it, so that it is typed once.
 * It is never in a URL and never kept in storage, except that during a reload it passes through sessionStorage and
 * is removed at once.
 */
const ANSWER = 250

let held: string | null = takeOver()
let channel: BroadcastChannel | null = null

export const token = {
  get: (): string | null => held,

  /** A token that was typed here; it is shared with the other tabs. */
  set(value: string | null): void {
    held = value
    channel?.postMessage(value === null ? { out: true } : { token: value })
  },

  /** Forget the token here, without signing out the other tabs: it may be right for them. */
  drop(): void {
    held = null
  },

  /** Listens to the other tabs of the page at `path`; `changed` is called with what they share. */
  join(path: string, changed: (value: string | null) => void): () => void {
    channel = new BroadcastChannel(`nodestate ${path}`)
    channel.onmessage = ({ data }: MessageEvent<{ ask?: true; out?: true; token?: string }>) => {
      if (data.ask && held !== null) channel?.postMessage({ token: held })
      else if (data.out && held !== null) {
        held = null
        changed(null)
      } else if (data.token !== undefined && held === null) {
        held = data.token
        changed(held)
      }
    }
    return () => {
      channel?.close()
      channel = null
    }
  },

  /** Asks the other tabs; resolves once one of them had time to answer. */
  async ask(): Promise<void> {
    if (channel === null) return
    channel.postMessage({ ask: true })
    for (let waited = 0; waited < ANSWER && held === null; waited += 25)
      await new Promise((resolve) => setTimeout(resolve, 25))
  },
}

function takeOver(): string | null {
  addEventListener('pagehide', () => {
    if (held !== null) hand.leave('token', held)
  })
  addEventListener('pageshow', () => hand.take('token'))
  return hand.take('token')
}
