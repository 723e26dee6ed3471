import { useCallback, useEffect, useReducer, useRef, useState } from 'preact/hooks'
import { type Client, LEVELS } from '../../client.ts'
import type { ListedFile } from '../files.tsx'
import { put } from '../ui/clipboard.ts'
import { Failure } from '../ui/failure.tsx'
import { bytes, count } from '../ui/format.ts'
import { Icon } from '../ui/icons.tsx'
import { remembered, useSlow } from '../ui/store.ts'
import { HOME, type Look, NOTHING } from '../url.ts'
import { HistogramView } from './histogram.tsx'
import { Range } from './range.tsx'
import { isNarrowed, queryOf, Reader, wallRange } from './reader.ts'
import { wall } from './record.ts'
import { save } from './save.ts'

interface Props {
  client: Client
  look: Look
  file: ListedFile | null
  theme: string
  /** Another look, as a step that the back button undoes. */
  go: (look: Look) => void
  /** The same look at another place: no step. */
  note: (look: Look) => void
  say: (message: string) => void
  failed: (error: Error) => void
}

const wrapChoice = remembered('wrap', 'off')

/** A log: find, chart, list. */
export function LogView(props: Props) {
  const { client, look, file, theme, go, note, say } = props
  const box = useRef<HTMLElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const reader = useRef<Reader | null>(null)
  const target = useRef<{ line: string; cursor: string | null } | null>(null)
  const current = useRef(look)
  current.current = look
  const [, redraw] = useReducer((n: number) => n + 1, 0)
  const [wrap, setWrap] = useState(wrapChoice.get() === 'on')
  const [find, setFind] = useState(look.find)
  const [totals, setTotals] = useState<Record<string, number> | null>(null)
  const [whole, setWhole] = useState(true)
  const [saving, setSaving] = useState<{ done: number; size: number | null; stop: () => void } | null>(null)
  const [attempt, setAttempt] = useState(0)

  const { file: name, regex, level, since, until, rotated, all } = look
  const key = JSON.stringify([name, look.find, regex, level, since, until, rotated, all])

  useEffect(() => setFind(look.find), [look.find])

  // A new reader for every question; the place inside it is the reader's own business.
  useEffect(() => {
    let pending = 0
    const made = new Reader(box.current!, client, current.current, wrap, {
      changed() {
        cancelAnimationFrame(pending)
        pending = requestAnimationFrame(() => redraw(0))
      },
      moved(at, offset) {
        if (current.current.at !== at || current.current.offset !== offset) {
          note({ ...current.current, at, offset })
        }
      },
      say,
    })
    reader.current = made
    const goal = target.current
    target.current = null
    const open = async () => {
      if (goal !== null && (await made.goToRecord(goal.line, goal.cursor))) return
      if (goal !== null) say('The record could not be found again: the log may have changed')
      await made.start()
    }
    void open()
    return () => {
      cancelAnimationFrame(pending)
      made.close()
      reader.current = null
    }
  }, [client, key, attempt])

  const apply = (change: Partial<Look>) => go({ ...current.current, at: '', offset: 0, ...change })
  const showAround = useCallback(
    (seq: number) => {
      const made = reader.current
      const item = made?.window.item(seq)
      if (made === null || made === undefined || typeof item !== 'string') return
      if (!isNarrowed(look) || look.all) {
        made.list.show(seq, 'center')
        return
      }
      target.current = { line: item, cursor: made.cursorBefore(seq) }
      go({ ...current.current, all: true, at: '', offset: 0, follow: false })
    },
    [look, go],
  )
  const copyText = useCallback(
    async (columns: boolean) => {
      const made = reader.current
      if (made === null || made.window.items.length === 0) return
      const copied = made.text(columns)
      if (copied.text.length > 64 * 1024 * 1024) {
        say('That is too much for the clipboard: download the log instead')
        return
      }
      await put(
        copied.text,
        say,
        `${count(copied.records)} ${copied.records === 1 ? 'record' : 'records'} copied`,
      )
    },
    [say],
  )
  const toggleFollow = useCallback(() => {
    const made = reader.current
    if (made === null) return
    const on = !made.following
    note({ ...current.current, follow: on, ...(on ? { at: '', offset: 0 } : {}) })
    void made.follow(on)
  }, [note])
  const toggleWrap = useCallback(() => {
    const on = wrapChoice.get() !== 'on'
    wrapChoice.set(on ? 'on' : 'off')
    setWrap(on)
  }, [])
  useEffect(() => reader.current?.setWrap(wrap), [wrap])

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const made = reader.current
      const from = event.target as HTMLElement
      if (made === null || event.ctrlKey || event.metaKey || event.altKey) return
      if (from.closest('dialog, [role=dialog]') !== null) return
      if (from.matches('input, textarea, select')) {
        if (event.key === 'Escape') box.current?.focus()
        return
      }
      const act = keyAct(event.key, made)
      if (act === null) return
      // Enter and Space on a button are the button's own.
      if ((event.key === 'Enter' || event.key === ' ') && from.matches('button, a, summary')) return
      event.preventDefault()
      act()
    }
    const keyAct = (pressed: string, made: Reader): (() => void) | null => {
      const acts: Record<string, () => void> = {
        f: toggleFollow,
        w: toggleWrap,
        g: () => void made.begin(file?.first ?? null),
        Home: () => void made.begin(file?.first ?? null),
        G: () => void made.end(),
        End: () => void made.end(),
        n: () => void made.hit(1),
        N: () => void made.hit(-1),
        j: () => made.step(1),
        ArrowDown: () => made.step(1),
        k: () => made.step(-1),
        ArrowUp: () => made.step(-1),
        PageDown: () => made.list.scrollBy(box.current!.clientHeight - 40),
        ' ': () => made.list.scrollBy(box.current!.clientHeight - 40),
        PageUp: () => made.list.scrollBy(40 - box.current!.clientHeight),
        c: () => void copyText(true),
        C: () => void copyText(false),
        Enter: () => made.selected !== null && made.toggle(made.selected.to),
        a: () => made.selected !== null && showAround(made.selected.to),
        Escape: () => made.unselect(),
      }
      return acts[pressed] ?? null
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [toggleFollow, toggleWrap, copyText, showAround, file?.first])

  const onClick = (event: MouseEvent) => {
    const made = reader.current
    const from = event.target as HTMLElement
    const row = from.closest<HTMLElement>('.row')
    if (made === null || row === null || row.classList.contains('note')) return
    const seq = Number(row.dataset.seq)
    const act = from.closest<HTMLElement>('[data-act]')?.dataset.act
    if (act === 'whole') return made.whole(seq)
    if (act === 'around') return showAround(seq)
    if (act === 'copy-line') return void put(made.textOf(seq, true), say, 'Line copied')
    if (act === 'copy-message') return void put(made.textOf(seq, false), say, 'Message copied')
    if (act === 'copy-link') {
      const place = made.window.place(seq)
      const linked = {
        ...current.current,
        at: place?.cursor ?? '',
        offset: place?.offset ?? 0,
        follow: false,
      }
      note(linked)
      return void put(location.href, say, 'Link copied')
    }
    if (from.closest('.details') !== null) return
    // Whoever selects text with the mouse does not want the row to fold under it.
    if (!(getSelection()?.isCollapsed ?? true)) return
    made.select(seq, event.shiftKey)
    if (!event.shiftKey) made.toggle(seq)
  }

  /** What was selected with the mouse over several cells is copied as whole lines, tabs between the columns. */
  const onCopy = (event: ClipboardEvent) => {
    const made = reader.current
    const selection = getSelection()
    if (made === null || selection === null || selection.isCollapsed) return
    const touched = (part: Element) => selection.containsNode(part, true)
    const rows = [...box.current!.querySelectorAll<HTMLElement>('.row:not(.note)')].filter(touched)
    const cells = rows.length === 1 ? [...rows[0]!.querySelectorAll('.line > span')].filter(touched) : []
    if (rows.length === 0 || (rows.length === 1 && cells.length < 2)) return
    const lines = rows.map((row) => made.textOf(Number(row.dataset.seq), true))
    event.clipboardData?.setData('text/plain', `${lines.join('\n')}\n`)
    event.preventDefault()
  }

  const download = async () => {
    if (name === null || saving !== null) return
    const abort = new AbortController()
    const stop = () => abort.abort()
    setSaving({ done: 0, size: file?.size ?? null, stop })
    try {
      await save(client, name, abort.signal, (done, size) => setSaving({ done, size, stop }))
      say('Download complete')
    } catch (error) {
      if (!abort.signal.aborted) say(`The download failed: ${(error as Error).message}`)
    } finally {
      setSaving(null)
    }
  }

  const made = reader.current
  const loaded = made?.window
  const filtered = isNarrowed(look)
  const busy = loaded?.loading ?? null
  const slow = useSlow(busy !== null || (made?.searching ?? 0) > 0)
  const empty = loaded !== undefined && loaded.items.length === 0 && busy === null && loaded.failure === null
  const live = loaded?.live ?? 'off'
  const failure = loaded?.failure ?? null
  const ready = loaded !== undefined && busy !== 'open'
  useEffect(() => {
    if (failure !== null) props.failed(failure)
  }, [failure])
  return (
    <section class={`log${wrap ? ' wrap' : ''}`} aria-labelledby="log-title">
      <header class="bar">
        <a
          class="back"
          href={HOME}
          aria-label="All logs"
          onClick={(event) => {
            event.preventDefault()
            go(NOTHING)
          }}
        >
          <Icon name="back" />
        </a>
        <h2 id="log-title" title={name ?? ''}>
          {name}
        </h2>
        {file !== null && <span class="dim size">{bytes(file.size)}</span>}
        <span class="space" />
        <button
          type="button"
          class={`follow ${live}`}
          aria-pressed={live !== 'off'}
          title="Follow what is appended (f)"
          onClick={toggleFollow}
        >
          <span class="dot" aria-hidden="true" />
          {live === 'lost' ? 'Reconnecting' : live === 'off' ? 'Follow' : 'Following'}
        </button>
        <button type="button" aria-pressed={wrap} title="Wrap long lines (w)" onClick={toggleWrap}>
          <Icon name="wrap" /> <span class="label">Wrap</span>
        </button>
        <details class="menu">
          <summary title="Copy the selected records, or all that are loaded (c)">
            <Icon name="copy" /> <span class="label">Copy</span>
          </summary>
          <div class="panel">
            <button type="button" onClick={(event) => closeMenu(event, () => copyText(true))}>
              Lines with all columns
            </button>
            <button type="button" onClick={(event) => closeMenu(event, () => copyText(false))}>
              Messages only
            </button>
            <button
              type="button"
              onClick={(event) => closeMenu(event, () => put(location.href, say, 'Link copied'))}
            >
              Link to this view
            </button>
          </div>
        </details>
        {saving === null ? (
          <button type="button" title="Download the whole file" onClick={download}>
            <Icon name="save" /> <span class="label">Download</span>
          </button>
        ) : (
          <button type="button" title="Stop the download" onClick={saving.stop}>
            <progress max={saving.size ?? undefined} value={saving.size === null ? undefined : saving.done} />
            {bytes(saving.done)} <Icon name="close" />
          </button>
        )}
      </header>
      <form
        class="finder"
        aria-label="Find in this log"
        onSubmit={(event) => {
          event.preventDefault()
          if (find === look.find && find !== '') void reader.current?.hit(-1)
          else apply({ find })
          box.current?.focus()
        }}
      >
        <label class="find">
          <Icon name="search" />
          <input
            ref={input}
            type="search"
            data-find
            placeholder={regex ? 'Find by regular expression' : 'Find text'}
            aria-label="Find in the log"
            value={find}
            spellcheck={false}
            onInput={(event) => setFind(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Escape') return
              event.currentTarget.value = look.find
              setFind(look.find)
            }}
            onBlur={(event) => {
              if (event.currentTarget.value !== look.find) apply({ find: event.currentTarget.value })
            }}
          />
          <button
            type="button"
            class="in"
            aria-pressed={regex}
            aria-label="Regular expression"
            title="Regular expression"
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => apply({ regex: !regex, find })}
          >
            .*
          </button>
        </label>
        <fieldset class="levels">
          <legend class="hidden">Level</legend>
          {['', ...LEVELS.slice(1)].map((each) => (
            <button
              type="button"
              key={each}
              class={each === '' ? 'lv-all' : `lv-${each}`}
              aria-pressed={level === each}
              title={each === '' ? 'Records of every level' : `Records of level ${each} and above`}
              onClick={() => apply({ level: level === each ? '' : each })}
            >
              {each === '' ? 'All' : each}
              {each !== '' && totals !== null && <Tally totals={totals} from={each} whole={whole} />}
            </button>
          ))}
        </fieldset>
        <Range since={since} until={until} choose={(from, to) => apply({ since: from, until: to })} />
        <button
          type="button"
          aria-pressed={rotated}
          title="Read the log together with its rotated predecessors"
          onClick={() => apply({ rotated: !rotated })}
        >
          Include rotated
        </button>
        {filtered && (
          <fieldset class="mode">
            <legend class="hidden">What to show</legend>
            <button type="button" aria-pressed={!all} onClick={() => apply({ all: false })}>
              Only hits
            </button>
            <button type="button" aria-pressed={all} onClick={() => apply({ all: true })}>
              All lines
            </button>
          </fieldset>
        )}
        {filtered && (
          <button type="button" class="quiet" onClick={() => go({ ...NOTHING, file: name, rotated })}>
            Clear
          </button>
        )}
      </form>
      <HistogramView
        client={client}
        query={{ ...queryOf({ ...look, all: false }), level: undefined, ansi: undefined }}
        ready={ready}
        live={live === 'live'}
        level={level}
        zone={made?.zone ?? 0}
        seen={made?.seen ?? null}
        theme={theme}
        range={(from, to) => apply({ ...wallRange(from, to, made?.zone ?? 0), all: false })}
        jump={(moment) => void reader.current?.goToTime(moment)}
        counted={(found, complete) => {
          setTotals(found)
          setWhole(complete)
        }}
      />
      <div class="stage">
        {slow && (
          <div class="progress" role="progressbar" aria-label="Loading records">
            <span>{busy === 'older' && loaded?.scanned ? 'Searching older parts of the log…' : ''}</span>
          </div>
        )}
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the whole page listens for the keys that do the same */}
        <section
          ref={box}
          class="list"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by key
          tabIndex={0}
          aria-label={`Records of ${name}`}
          aria-busy={busy === 'open'}
          onClick={onClick}
          onCopy={onCopy}
        />
        {loaded?.failure != null && loaded.items.length === 0 && (
          <div class="over">
            <Failure error={loaded.failure} retry={() => setAttempt(attempt + 1)} />
          </div>
        )}
        {empty && (
          <div class="over" role="status">
            <p class="title">{filtered ? 'No record matches' : 'This log is empty'}</p>
            <p>
              {filtered
                ? `Look for less, or look everywhere.${reach(look, file)}`
                : 'Nothing has been written yet. Follow it to see the first line as it comes.'}
            </p>
            {filtered && (
              <button type="button" onClick={() => go({ ...NOTHING, file: name, rotated })}>
                Clear all filters
              </button>
            )}
          </div>
        )}
        {(made?.unseen ?? 0) > 0 && (
          <button type="button" class="unseen" onClick={() => void reader.current?.end()}>
            <Icon name="down" /> {count(made!.unseen)} new {made!.unseen === 1 ? 'record' : 'records'}
          </button>
        )}
      </div>
      <footer class="status">
        {/* Read aloud when something was loaded, but not with every record of a log that is followed. */}
        <span role={live === 'live' ? undefined : 'status'}>{statusLine(made, filtered && !all)}</span>
        {loaded?.failure != null && loaded.items.length > 0 && (
          <span class="bad" role="alert">
            {loaded.failure.message}{' '}
            <button type="button" class="small" onClick={() => retry(reader.current)}>
              Try again
            </button>
          </span>
        )}
        <span class="keys">
          <kbd>/</kbd> find <kbd>n</kbd>
          <kbd>N</kbd> hits <kbd>f</kbd> follow <kbd>?</kbd> keys
        </span>
      </footer>
    </section>
  )
}

/** Where the log's records are, for whoever looks at a time that has none. */
function reach({ since, until }: Look, file: ListedFile | null): string {
  if ((since === '' && until === '') || !file?.first || !file.last) return ''
  return ` This log has records from ${wall(file.first)} to ${wall(file.last)}.`
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

/** How many records a level button would show, as far as they were counted. */
function Tally({ totals, from, whole }: { totals: Record<string, number>; from: string; whole: boolean }) {
  const sum = LEVELS.slice(LEVELS.indexOf(from as (typeof LEVELS)[number])).reduce(
    (all, each) => all + (totals[each] ?? 0),
    0,
  )
  return (
    <span class="tally">
      {short(sum)}
      {whole || sum === 0 ? '' : '+'}
    </span>
  )
}

function short(value: number): string {
  if (value < 10_000) return count(value)
  if (value < 1_000_000) return `${Math.round(value / 1000)}k`
  return `${(value / 1_000_000).toFixed(1)}M`
}

function closeMenu(event: MouseEvent, act: () => void): void {
  const menu = (event.currentTarget as HTMLElement).closest('details')
  if (menu !== null) menu.open = false
  act()
}
