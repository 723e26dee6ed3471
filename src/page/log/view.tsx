import type { RefObject } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Client } from '../../client.ts'
import { oldestOf } from '../files/group.ts'
import type { ListedFile } from '../files/order.ts'
import { type Look, NOTHING } from '../url.ts'
import { Bar } from './bar.tsx'
import { HistogramView } from './chart/histogram.tsx'
import type { Totals } from './chart/totals.ts'
import { ColumnsMenu, useColumns } from './columns.tsx'
import { Chips } from './find/chips.tsx'
import { clockOf, useZone } from './find/clock.ts'
import { Finder } from './find/finder.tsx'
import { rangeOf, type TimeRange } from './find/moment.ts'
import { chartQueryOf, chartTerm, fieldsQueryOf } from './find/query.ts'
import { termText, withTerm, withValue } from './find/terms.ts'
import { useLogKeys } from './keys.ts'
import { Menu } from './menu.tsx'
import { Panel } from './panel/panel.tsx'
import { usePreferences } from './preferences.ts'
import { wallAt, zoneOf } from './record/record.ts'
import { Stage } from './stage.tsx'
import { Status } from './status.tsx'
import { useActs } from './use-acts.ts'
import { useMisfits } from './use-misfits.ts'
import { useReader } from './use-reader.ts'

interface Props {
  client: Client
  look: Look
  /** The node's name. */
  node: string
  file: ListedFile | null
  /** The log with its rotated files. */
  family: ListedFile[]
  /** Set if the log is not listed any more, with the file that took its place. */
  gone: { heir: string | null } | null
  /** Whether the filters were set in another log. */
  carried: boolean
  /** Told how to find out the moment on the screen. */
  moment: RefObject<() => string>
  theme: string
  open: (file: string) => void
  /** To the list of logs. */
  home: () => void
  /** Changes the look, as a step that the back button undoes. */
  go: (look: Look) => void
  /** Moves to another place in the same look, without a history step. */
  note: (look: Look) => void
  say: (message: string) => void
  failed: (error: Error | null) => void
}

/** A log: find, chart, list. */
export function LogView(props: Props) {
  const { client, look, file, go, note, say } = props
  const box = useRef<HTMLElement>(null)
  const current = useRef(look)
  current.current = look
  const [totals, setTotals] = useState<Totals | null>(null)
  const [attempt, setAttempt] = useState(0)
  const { wrap, toggleWrap, tab, showPanel, togglePanel } = usePreferences()
  const [unfolded, setUnfolded] = useState(false)
  const columns = useColumns()
  const [zone, setZone] = useZone()
  const { reader, goal } = useReader(box, {
    client,
    look,
    wrap,
    gaps: !columns.hidden.has('d'),
    fields: look.columns,
    columns: `${columns.classes} ${look.message}`,
    zone,
    attempt,
    moved(place) {
      const next = { ...current.current, ...place }
      if (JSON.stringify(next) !== JSON.stringify(current.current)) note(next)
    },
    say,
  })
  const made = reader.current
  const known = file?.first ?? file?.last ?? null
  const own = made?.zone ?? (known === null ? null : zoneOf(known))
  const clock = useMemo(() => clockOf(zone, own ?? 0), [zone, own])
  useLastingRange(look, own, (range) => note({ ...current.current, ...range }))
  const acts = useActs({ reader, goal, current, go, note, say })
  const { apply, toggleFollow, copyText, showAround } = acts
  const chooseTime = useCallback(() => document.querySelector<HTMLElement>('[data-range]')?.click(), [])
  const first = look.rotated ? oldestOf(props.family) : (file?.first ?? null)
  useLogKeys(reader, box, {
    toggleFollow,
    toggleWrap,
    togglePanel,
    copyText,
    showAround,
    chooseTime,
    first,
  })

  const loaded = made?.window
  const live = loaded?.live ?? 'off'
  const failure = loaded?.failure ?? null
  const ready = loaded !== undefined && loaded.loading !== 'open'
  const jump = (ms: number) => void reader.current?.goToTime(ms)
  const only = chartTerm(look.chart)
  useEffect(() => props.failed(failure), [failure])
  useEffect(() => () => props.failed(null), [])
  useMisfits({ failure, look, carried: props.carried, note, say })
  const { gone } = props
  useEffect(() => {
    if (gone !== null && reader.current?.following) toggleFollow()
  }, [gone === null])
  props.moment.current = () => reader.current?.goal()?.time ?? ''
  return (
    <section
      class={`log${wrap ? ' wrap' : ''}${unfolded ? ' unfolded' : ''}${columns.classes}${look.columns.length > 0 && !look.message ? ' hide-m' : ''}`}
      aria-labelledby="log-title"
    >
      <Bar
        client={client}
        node={props.node}
        look={look}
        file={file}
        live={live}
        wrap={wrap}
        panel={tab !== null}
        unfolded={unfolded}
        toggleFilters={() => setUnfolded(!unfolded)}
        columns={
          <ColumnsMenu
            hidden={columns.hidden}
            filled={made?.display.columns.filled ?? new Set()}
            toggle={columns.toggle}
            look={look}
            showColumns={acts.showColumns}
            showMessage={(message) => go({ ...current.current, message })}
          />
        }
        togglePanel={togglePanel}
        home={props.home}
        toggleFollow={toggleFollow}
        toggleWrap={toggleWrap}
        copyText={copyText}
        say={say}
      />
      <Finder
        look={look}
        totals={totals}
        rotated={props.family.length > 1}
        levels={hasLevels(totals) || (made?.display.columns.filled.has('l') ?? false)}
        clock={clock}
        apply={apply}
        clear={() => apply({ find: '', level: '', terms: [], all: false })}
        setAll={(all) => apply({ all })}
        jump={jump}
        again={() => void reader.current?.hit(-1)}
        leave={() => box.current?.focus()}
      />
      <Chips look={look} apply={apply} highlight={acts.highlight} />
      <HistogramView
        client={client}
        query={chartQueryOf(look)}
        ready={ready}
        live={live === 'live'}
        failed={failure !== null}
        level={look.level}
        clock={clock}
        ranged={look.since !== '' || look.until !== ''}
        seen={made?.seen ?? null}
        theme={props.theme}
        only={only === null ? null : termText(only)}
        showAll={() => go({ ...current.current, chart: '' })}
        range={(from, to) => apply({ since: wallAt(from, clock.log), until: wallAt(to, clock.log) })}
        jump={jump}
        counted={setTotals}
      />
      <div class="work">
        <Stage
          box={box}
          reader={reader}
          look={look}
          file={file}
          clock={clock}
          acts={acts}
          gone={props.gone}
          open={props.open}
          remedies={{
            retry: () => setAttempt(attempt + 1),
            filters: () => apply({ ...NOTHING, file: look.file, rotated: look.rotated, marks: look.marks }),
            range: () => apply({ since: '', until: '' }),
            level: () => apply({ level: '' }),
            pattern: () => document.querySelector<HTMLElement>('.finder [data-find]')?.focus(),
          }}
        />
        {tab !== null && (
          <Panel
            client={client}
            query={fieldsQueryOf(look)}
            look={look}
            ready={ready}
            failed={failure !== null}
            clock={clock}
            tab={tab}
            setTab={showPanel}
            openField={acts.openField}
            choose={(value, not) => apply(withValue(current.current, value, not))}
            filter={(term) => apply(withTerm(current.current, term))}
            close={() => showPanel('off')}
          />
        )}
      </div>
      <Status reader={made} look={look} totals={totals} clock={clock} setZone={setZone} />
      {acts.choice !== null && <Menu choice={acts.choice} close={() => acts.setChoice(null)} />}
    </section>
  )
}

function hasLevels(totals: Totals | null): boolean {
  return Object.entries(totals?.counts ?? {}).some(([name, count]) => name !== 'none' && count > 0)
}

/** A link must mean the same tomorrow: a time of day becomes a date. An age stays what it is. */
function useLastingRange(look: Look, zone: number | null, note: (range: TimeRange) => void): void {
  useEffect(() => {
    if (zone === null || (look.since === '' && look.until === '')) return
    const range = rangeOf(look, clockOf('log', zone))
    if (!('wrong' in range) && (range.since !== look.since || range.until !== look.until)) note(range)
  }, [zone, look.since, look.until])
}
