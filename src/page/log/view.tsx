import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Client } from '../../client.ts'
import type { ListedFile } from '../files/order.ts'
import { put } from '../ui/clipboard.ts'
import { Failure } from '../ui/failure.tsx'
import { count } from '../ui/format.ts'
import { Icon } from '../ui/icons.tsx'
import { remembered, useSlow } from '../ui/store.ts'
import { type Look, NOTHING, NOWHERE } from '../url.ts'
import { Bar } from './bar.tsx'
import { HistogramView } from './chart/histogram.tsx'
import type { Totals } from './chart/totals.ts'
import { clickRow, copyRows, moveInDetails } from './clicks.ts'
import { ColumnsMenu, useColumns } from './columns.tsx'
import { Chips } from './find/chips.tsx'
import { Finder } from './find/finder.tsx'
import { absoluteRange } from './find/moment.ts'
import { chartQueryOf, chartTerm, isNarrowed, queryOf, wallRange } from './find/query.ts'
import { termOf, termText, type Value, withTerm, withValue } from './find/terms.ts'
import { useLogKeys } from './keys.ts'
import { type Chosen, chosenAt, chosenText, type MenuActs, ValueMenu } from './menu.tsx'
import { Panel } from './panel/panel.tsx'
import { wall, zoneOf } from './record/record.ts'
import { Status } from './status.tsx'
import { useReader } from './use-reader.ts'

interface Props {
  client: Client
  look: Look
  file: ListedFile | null
  /** The time of the first record of the log with its rotated files. */
  oldest: string | null
  theme: string
  /** Changes the look, as a step that the back button undoes. */
  go: (look: Look) => void
  /** Moves to another place in the same look, without a history step. */
  note: (look: Look) => void
  say: (message: string) => void
  failed: (error: Error) => void
}

const wrapChoice = remembered('wrap', 'off')
const panelChoice = remembered('panel', 'off')

/** A log: find, chart, list. */
export function LogView(props: Props) {
  const { client, look, file, theme, go, note, say } = props
  const box = useRef<HTMLElement>(null)
  const current = useRef(look)
  current.current = look
  const [wrap, setWrap] = useState(wrapChoice.get() === 'on')
  const [totals, setTotals] = useState<Totals | null>(null)
  const [attempt, setAttempt] = useState(0)
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const [panel, setPanel] = useState(panelChoice.get())
  const columns = useColumns()
  const { reader, goal } = useReader(box, {
    client,
    look,
    wrap,
    gaps: !columns.hidden.has('d'),
    attempt,
    moved(place) {
      const next = { ...current.current, ...place }
      if (JSON.stringify(next) !== JSON.stringify(current.current)) note(next)
    },
    say,
  })
  const { file: name, level, rotated, all } = look
  const made = reader.current
  const known = file?.first ?? file?.last ?? null
  const zone = made?.zone ?? (known === null ? null : zoneOf(known))

  // A link must mean the same tomorrow: a time of day or an age becomes a date.
  useEffect(() => {
    if (zone === null || (look.since === '' && look.until === '')) return
    const range = absoluteRange(look, zone)
    if (!('wrong' in range) && (range.since !== look.since || range.until !== look.until))
      note({ ...current.current, ...range })
  }, [zone, look.since, look.until])

  const apply = (change: Partial<Look>) => go({ ...current.current, ...NOWHERE, ...change })
  const highlight = (marks: string[]) => go({ ...current.current, marks })
  /** Another view of the same log, at the record the user is reading. */
  const stay = useCallback(
    (change: Partial<Look>, expand: boolean, seq?: number) => {
      goal.current = reader.current?.goal(expand, seq) ?? null
      go({ ...current.current, ...NOWHERE, follow: false, ...change })
    },
    [go],
  )
  const showAround = useCallback(
    (seq: number) => {
      if (!isNarrowed(current.current) || current.current.all) reader.current?.list.show(seq, 'center')
      else stay({ all: true }, true, seq)
    },
    [stay],
  )
  const copyText = useCallback(
    async (columns: boolean) => {
      const made = reader.current
      if (made === null || made.window.items.length === 0) return
      const copied = made.text(columns)
      if (copied.text.length > 64 * 1024 * 1024) {
        say('That is too much for the clipboard. Export it instead')
        return
      }
      const what = copied.records === 1 ? 'record' : 'records'
      await put(copied.text, say, `${count(copied.records)} ${what} copied`)
    },
    [say],
  )
  const toggleFollow = useCallback(() => {
    const made = reader.current
    if (made === null) return
    const on = !made.following
    note({ ...current.current, follow: on, ...(on ? NOWHERE : {}) })
    void made.follow(on)
  }, [note])
  const toggleWrap = useCallback(() => {
    const on = wrapChoice.get() !== 'on'
    wrapChoice.set(on ? 'on' : 'off')
    setWrap(on)
  }, [])
  const showPanel = useCallback((which: string) => {
    panelChoice.set(which)
    setPanel(which)
  }, [])
  const togglePanel = useCallback(() => showPanel(panelChoice.get() === 'off' ? 'fields' : 'off'), [])
  const chooseTime = useCallback(() => document.querySelector<HTMLElement>('[data-range]')?.click(), [])
  const first = rotated ? props.oldest : (file?.first ?? null)
  useLogKeys(reader, box, {
    toggleFollow,
    toggleWrap,
    togglePanel,
    copyText,
    showAround,
    chooseTime,
    first,
  })

  const menu: MenuActs = {
    include: (value) => apply(withValue(current.current, value, false)),
    exclude: (value) => apply(withValue(current.current, value, true)),
    highlight: ({ value }) => highlight([...current.current.marks.filter((each) => each !== value), value]),
    chart: (value) => {
      const term = termOf(value, false)
      go({ ...current.current, chart: `${term.kind}:${term.value}` })
    },
    copy: ({ value }) => void put(value, say, 'Value copied'),
  }
  const rowActs = {
    around: showAround,
    link(seq: number) {
      note({ ...current.current, ...reader.current!.placeOf(seq), follow: false })
      void put(location.href, say, 'Link copied')
    },
    value: (part: HTMLElement, value: Value) => setChosen(chosenAt(part, value)),
    say,
  }

  const loaded = made?.window
  const filtered = isNarrowed(look)
  const busy = loaded?.loading ?? null
  const slow = useSlow(busy !== null || (made?.searching ?? false))
  const empty = loaded !== undefined && loaded.items.length === 0 && busy === null && loaded.failure === null
  const live = loaded?.live ?? 'off'
  const failure = loaded?.failure ?? null
  const ready = loaded !== undefined && busy !== 'open'
  const counted =
    totals === null ? 0 : Object.entries(totals.counts).filter(([each, n]) => each !== 'none' && n > 0).length
  const only = chartTerm(look.chart)
  const { ansi: _, raw: __, ...fieldsQuery } = queryOf({ ...look, all: false })
  useEffect(() => {
    if (failure !== null) props.failed(failure)
  }, [failure])
  return (
    <section class={`log${wrap ? ' wrap' : ''}${columns.classes}`} aria-labelledby="log-title">
      <Bar
        client={client}
        look={look}
        file={file}
        live={live}
        wrap={wrap}
        panel={panel !== 'off'}
        columns={
          <ColumnsMenu hidden={columns.hidden} filled={made?.filled ?? new Set()} toggle={columns.toggle} />
        }
        togglePanel={togglePanel}
        home={() => go(NOTHING)}
        toggleFollow={toggleFollow}
        toggleWrap={toggleWrap}
        copyText={copyText}
        say={say}
      />
      <Finder
        look={look}
        totals={totals}
        levels={counted > 0 || (made?.filled.has('l') ?? false)}
        zone={zone ?? 0}
        apply={apply}
        go={go}
        setAll={(on) => stay({ all: on }, false)}
        jump={(ms) => void reader.current?.goToTime(ms)}
        again={() => void reader.current?.hit(-1)}
        leave={() => box.current?.focus()}
      />
      <Chips look={look} apply={apply} highlight={highlight} />
      <HistogramView
        client={client}
        query={chartQueryOf(look)}
        ready={ready}
        live={live === 'live'}
        failed={failure !== null}
        level={level}
        zone={zone ?? 0}
        seen={made?.seen ?? null}
        theme={theme}
        only={only === null ? null : termText(only)}
        showAll={() => go({ ...current.current, chart: '' })}
        range={(from, to) => apply({ ...wallRange(from, to, zone ?? 0), all: false })}
        jump={(moment) => void reader.current?.goToTime(moment)}
        counted={setTotals}
      />
      <div class="work">
        <div class="stage">
          {slow && (
            <div class="progress" role="progressbar" aria-label="Loading records">
              <span>{loaded?.scanned ? 'Searching more of the log…' : ''}</span>
            </div>
          )}
          <section
            ref={box}
            class="list"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by key
            tabIndex={0}
            aria-label={`Records of ${name}`}
            aria-busy={busy === 'open'}
            onClick={(event) => clickRow(event, reader.current, rowActs)}
            onMouseUp={() =>
              setTimeout(() => box.current && setChosen((now) => now ?? chosenText(box.current!)))
            }
            onKeyDown={moveInDetails}
            onCopy={(event) => copyRows(event, reader.current, box.current!)}
          />
          <div class="ring" aria-hidden="true" />
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
                  ? `Loosen or clear the filters.${reach(look, file)}`
                  : 'Nothing has been written yet. Follow it to see the first line as it arrives.'}
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
        {panel !== 'off' && (
          <Panel
            client={client}
            query={fieldsQuery}
            look={look}
            ready={ready}
            tab={panel === 'patterns' ? 'patterns' : 'fields'}
            setTab={showPanel}
            choose={(value, not) => apply(withValue(current.current, value, not))}
            filter={(term) => apply(withTerm(current.current, term))}
            close={() => showPanel('off')}
          />
        )}
      </div>
      <Status reader={made} hits={filtered && !all} />
      {chosen !== null && <ValueMenu chosen={chosen} acts={menu} close={() => setChosen(null)} />}
    </section>
  )
}

/** Where the log's records are, for a time range that holds none. */
function reach({ since, until }: Look, file: ListedFile | null): string {
  if ((since === '' && until === '') || !file?.first || !file.last) return ''
  return ` This log has records from ${wall(file.first)} to ${wall(file.last)}.`
}
