import { useCallback, useEffect, useReducer, useRef, useState } from 'preact/hooks'
import type { Client } from '../../client.ts'
import type { ListedFile } from '../files.tsx'
import { put } from '../ui/clipboard.ts'
import { Failure } from '../ui/failure.tsx'
import { count } from '../ui/format.ts'
import { Icon } from '../ui/icons.tsx'
import { remembered, useSlow } from '../ui/store.ts'
import { type Look, NOTHING } from '../url.ts'
import { Bar } from './bar.tsx'
import { Finder, type Totals } from './finder.tsx'
import { HistogramView } from './histogram.tsx'
import { useLogKeys } from './keys.ts'
import { isNarrowed, queryOf, wallRange } from './query.ts'
import { Reader } from './reader.ts'
import { wall } from './record.ts'
import { Status } from './status.tsx'

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
  const reader = useRef<Reader | null>(null)
  const target = useRef<{ line: string; cursor: string | null } | null>(null)
  const current = useRef(look)
  current.current = look
  const [, redraw] = useReducer((n: number) => n + 1, 0)
  const [wrap, setWrap] = useState(wrapChoice.get() === 'on')
  const [totals, setTotals] = useState<Totals | null>(null)
  const [attempt, setAttempt] = useState(0)

  const { file: name, regex, level, since, until, rotated, all } = look
  const key = JSON.stringify([name, look.find, regex, level, since, until, rotated, all])

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

  useLogKeys(reader, box, { toggleFollow, toggleWrap, copyText, showAround, first: file?.first ?? null })

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
      <Bar
        client={client}
        name={name ?? ''}
        file={file}
        live={live}
        wrap={wrap}
        home={() => go(NOTHING)}
        toggleFollow={toggleFollow}
        toggleWrap={toggleWrap}
        copyText={copyText}
        say={say}
      />
      <Finder
        look={look}
        totals={totals}
        apply={apply}
        go={go}
        again={() => void reader.current?.hit(-1)}
        leave={() => box.current?.focus()}
      />
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
        counted={setTotals}
      />
      <div class="stage">
        {slow && (
          <div class="progress" role="progressbar" aria-label="Loading records">
            <span>{loaded?.scanned ? 'Searching more of the log…' : ''}</span>
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
      <Status reader={made} hits={filtered && !all} />
    </section>
  )
}

/** Where the log's records are, for whoever looks at a time that has none. */
function reach({ since, until }: Look, file: ListedFile | null): string {
  if ((since === '' && until === '') || !file?.first || !file.last) return ''
  return ` This log has records from ${wall(file.first)} to ${wall(file.last)}.`
}
