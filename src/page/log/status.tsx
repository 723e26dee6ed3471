import { explain } from '../ui/failure.tsx'
import { count } from '../ui/format.ts'
import type { Reader } from './reader/reader.ts'

/** What is loaded, what fails, and the keys that help most. */
export function Status({ reader, hits }: { reader: Reader | null; hits: boolean }) {
  const window = reader?.window
  return (
    <footer class="status">
      {/* Read aloud when something was loaded, but not with every record of a log that is followed. */}
      <span role={window?.live === 'live' ? undefined : 'status'}>{statusLine(reader, hits)}</span>
      {window?.failure != null && window.items.length > 0 && (
        <span class="bad" role="alert">
          {explain(window.failure).title}. {explain(window.failure).advice}{' '}
          <button type="button" class="small" onClick={() => retry(reader)}>
            Try again
          </button>
        </span>
      )}
      <span class="keys">
        <kbd>/</kbd> find <kbd>n</kbd>
        <kbd>N</kbd> hits <kbd>f</kbd> follow <kbd>?</kbd> keys
      </span>
    </footer>
  )
}

function retry(reader: Reader | null): void {
  if (reader === null) return
  const { window } = reader
  window.failure = null
  if (reader.list.atStart) void window.loadOlder()
  else void window.loadNewer()
}

function statusLine(reader: Reader | null, hits: boolean): string {
  const window = reader?.window
  if (window === undefined || (window.loading === 'open' && window.items.length === 0)) return 'Loading'
  const size = window.items.length
  const what = hits ? (size === 1 ? 'hit' : 'hits') : size === 1 ? 'record' : 'records'
  const parts = [`${count(size)} ${what} loaded`]
  if (window.older === null && size > 0) parts.push('from the beginning')
  if (window.live === 'lost') parts.push(window.lost)
  else if (window.live === 'live') parts.push('live')
  const chosen = reader!.selected
  if (chosen !== null && chosen.from !== chosen.to) {
    parts.push(`${count(Math.abs(chosen.to - chosen.from) + 1)} selected`)
  }
  return parts.join(' · ')
}
