import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Client } from '../../client.ts'
import type { ListedFile } from '../files/order.ts'
import { type Look, NOTHING } from '../url.ts'
import { Bar } from './bar.tsx'
import { HistogramView } from './chart/histogram.tsx'
import type { Totals } from './chart/totals.ts'
import { ColumnsMenu, useColumns } from './columns.tsx'
import { Chips } from './find/chips.tsx'
import { Finder } from './find/finder.tsx'
import { absoluteRange } from './find/moment.ts'
import { chartQueryOf, chartTerm, fieldsQueryOf, isNarrowed, wallRange } from './find/query.ts'
import { termText, withTerm, withValue } from './find/terms.ts'
import { useLogKeys } from './keys.ts'
import { ValueMenu } from './menu.tsx'
import { Panel } from './panel/panel.tsx'
import { usePreferences } from './preferences.ts'
import { zoneOf } from './record/record.ts'
import { Stage } from './stage.tsx'
import { Status } from './status.tsx'
import { useActs } from './use-acts.ts'
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

/** A log: find, chart, list. */
export function LogView(props: Props) {
  const { client, look, file, go, note, say } = props
  const box = useRef<HTMLElement>(null)
  const current = useRef(look)
  current.current = look
  const [totals, setTotals] = useState<Totals | null>(null)
  const [attempt, setAttempt] = useState(0)
  const { wrap, toggleWrap, tab, showPanel, togglePanel } = usePreferences()
  const columns = useColumns()
  const { reader, goal } = useReader(box, {
    client,
    look,
    wrap,
    gaps: !columns.hidden.has('d'),
    columns: columns.classes,
    attempt,
    moved(place) {
      const next = { ...current.current, ...place }
      if (JSON.stringify(next) !== JSON.stringify(current.current)) note(next)
    },
    say,
  })
  const made = reader.current
  const known = file?.first ?? file?.last ?? null
  const zone = made?.zone ?? (known === null ? null : zoneOf(known))
  useLastingRange(look, zone, (range) => note({ ...current.current, ...range }))
  const acts = useActs({ reader, goal, current, go, note, say })
  const { apply, toggleFollow, copyText, showAround } = acts
  const chooseTime = useCallback(() => document.querySelector<HTMLElement>('[data-range]')?.click(), [])
  const first = look.rotated ? props.oldest : (file?.first ?? null)
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
        panel={tab !== null}
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
        levels={hasLevels(totals) || (made?.filled.has('l') ?? false)}
        zone={zone ?? 0}
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
        zone={zone ?? 0}
        seen={made?.seen ?? null}
        theme={props.theme}
        only={only === null ? null : termText(only)}
        showAll={() => go({ ...current.current, chart: '' })}
        range={(from, to) => apply(wallRange(from, to, zone ?? 0))}
        jump={jump}
        counted={setTotals}
      />
      <div class="work">
        <Stage
          box={box}
          reader={reader}
          look={look}
          file={file}
          acts={acts}
          retry={() => setAttempt(attempt + 1)}
          clear={() => apply({ ...NOTHING, file: look.file, rotated: look.rotated, marks: look.marks })}
        />
        {tab !== null && (
          <Panel
            client={client}
            query={fieldsQueryOf(look)}
            look={look}
            ready={ready}
            tab={tab}
            setTab={showPanel}
            choose={(value, not) => apply(withValue(current.current, value, not))}
            filter={(term) => apply(withTerm(current.current, term))}
            close={() => showPanel('off')}
          />
        )}
      </div>
      <Status reader={made} hits={isNarrowed(look) && !look.all} />
      {acts.chosen !== null && (
        <ValueMenu chosen={acts.chosen} acts={acts.menu} close={() => acts.setChosen(null)} />
      )}
    </section>
  )
}

function hasLevels(totals: Totals | null): boolean {
  return Object.entries(totals?.counts ?? {}).some(([name, count]) => name !== 'none' && count > 0)
}

/** A link must mean the same tomorrow: a time of day or an age becomes a date. */
function useLastingRange(
  look: Look,
  zone: number | null,
  note: (range: { since: string; until: string }) => void,
): void {
  useEffect(() => {
    if (zone === null || (look.since === '' && look.until === '')) return
    const range = absoluteRange(look, zone)
    if (!('wrong' in range) && (range.since !== look.since || range.until !== look.until)) note(range)
  }, [zone, look.since, look.until])
}
