import type { Missing } from '../../client.ts'
import { Button } from '../ui/controls.tsx'
import { explain, reasonText } from '../ui/failure.tsx'
import { count } from '../ui/format.ts'
import type { Look } from '../url.ts'
import { type Totals, totalAt } from './chart/totals.ts'
import { ZONES, type ZoneChoice, zoneLabel } from './find/clock.ts'
import { chartQueryOf, ENCODINGS, isFiltered } from './find/query.ts'
import type { Reader } from './reader/reader.ts'
import type { LogWindow } from './reader/window.ts'
import type { Log } from './use-log.ts'

/** What is loaded, what fails, the time zone, and the keys that help most. */
export function Status({ log }: { log: Log }) {
  const { made: reader, look, totals, clock } = log
  const window = reader?.window
  const failure = window !== undefined && window.items.length > 0 ? window.failure : null
  const moment = reader?.seen?.[1] ?? Date.now()
  return (
    <footer class="status">
      {/* Read aloud when something was loaded, but not with every record of a log that is followed. */}
      <span role={window?.live === 'live' ? undefined : 'status'}>{statusLine(reader, look, totals)}</span>
      {failure !== null && (
        <span class="bad" role="alert">
          {explain(failure).title}. {explain(failure).advice}{' '}
          {explain(failure).remedy === 'retry' && (
            <Button class="small" onClick={() => retry(reader!)}>
              Try again
            </Button>
          )}
        </span>
      )}
      {window !== undefined && window.missing.length > 0 && (
        <span class="lacks" role="status" title={window.missing.map(missingText).join(', ')}>
          Without {window.missing.map(missingText).join(', ')}
        </span>
      )}
      {window?.settled != null && <span>Complete up to {clock.wall(window.settled).slice(5, 19)}</span>}
      <span class="keys">
        <kbd>/</kbd> find <kbd>n</kbd>
        <kbd>N</kbd> {isFiltered(look) ? 'matches' : 'errors'} <kbd>f</kbd> follow <kbd>?</kbd> keys
      </span>
      {(look.encoding !== '' || log.file?.binary || window?.notes.includes('encoding')) && (
        <select
          class={`zone${look.encoding === '' ? ' lacking' : ''}`}
          aria-label="Encoding"
          title="How the log is written: some of its bytes are not UTF-8"
          value={look.encoding}
          onChange={(event) => log.acts.apply({ encoding: event.currentTarget.value, follow: false }, null)}
        >
          <option value="">{look.encoding === '' ? 'Not all is UTF-8' : 'UTF-8'}</option>
          {ENCODINGS.map((name) => (
            <option key={name} value={name}>
              {name === 'latin1' ? 'Latin-1' : name.toUpperCase()}
            </option>
          ))}
        </select>
      )}
      {reader?.seen != null && (
        <time class="today" title="The day at the top of the list">
          {clock.wall(reader.seen[0]).slice(0, 10)}
        </time>
      )}
      {reader?.columns.filled.has('t') && (
        <select
          class="zone"
          aria-label="Time zone"
          title="The zone in which times are shown and read"
          value={clock.choice}
          onChange={(event) => log.setZone(event.currentTarget.value as ZoneChoice)}
        >
          {ZONES.map((choice) => (
            <option key={choice} value={choice}>
              {zoneLabel(choice, clock.log, moment)}
            </option>
          ))}
        </select>
      )}
    </footer>
  )
}

/** A source that is not in the list, and why: `notes.txt (this log has no times)`. */
function missingText({ name, reason }: Missing): string {
  return name.startsWith('+') ? `${name.slice(1)} more` : `${name} (${reasonText(reason)})`
}

function retry(reader: Reader): void {
  const { window } = reader
  window.failure = null
  if (reader.list.beyond.above <= 4) void window.loadOlder()
  else void window.loadNewer()
}

function statusLine(reader: Reader | null, look: Look, totals: Totals | null): string {
  const window = reader?.window
  if (window === undefined || (window.loading === 'open' && window.items.length === 0)) return 'Loading'
  const size = window.items.length
  const parts = [loadedText(window, look, totals)]
  if (window.older === null && size > 0) parts.push('from the beginning')
  if (window.live === 'lost') parts.push(window.lost)
  else if (window.live === 'live') parts.push('live')
  const chosen = reader!.selected
  if (chosen !== null && chosen.from !== chosen.to) {
    parts.push(`${count(Math.abs(chosen.to - chosen.from) + 1)} selected`)
  }
  return parts.join(' · ')
}

/** `899 of 13,000 matches`, where they were counted; otherwise `899 matches loaded`. */
function loadedText({ older, newer, atEnd, items }: LogWindow, look: Look, totals: Totals | null): string {
  const size = items.length
  const matches = isFiltered(look) && !look.all
  const things = matches ? (size === 1 ? 'match' : 'matches') : size === 1 ? 'record' : 'records'
  // Nothing is left to be loaded.
  if (older === null && (atEnd || newer === null)) return `${count(size)} ${things}`
  // The chart counts what matches, or even less; until it has counted again, its numbers are those of the last question.
  const isSame = totals !== null && totals.key === JSON.stringify(chartQueryOf(look))
  const isCounted = isSame && (matches || !isFiltered(look))
  const total = isCounted ? totalAt(totals, look.level) : 0
  if (total <= size) return `${count(size)} ${things} loaded`
  return `${count(size)} of ${totals!.complete ? '' : 'more than '}${count(total)} ${matches ? 'matches' : 'records'}`
}
