import { useState } from 'preact/hooks'
import { Bar } from './bar/bar.tsx'
import { ColumnsMenu } from './bar/columns.tsx'
import { HistogramView } from './chart/histogram.tsx'
import type { Totals } from './chart/totals.ts'
import { Chips } from './find/chips.tsx'
import { Finder } from './find/finder.tsx'
import { chartQueryOf, chartTerm, fieldsQueryOf } from './find/query.ts'
import { termText, withTerm, withValue } from './find/terms.ts'
import { Menu } from './menu.tsx'
import { Panel } from './panel/panel.tsx'
import { wallAt } from './record/record.ts'
import { Stage } from './stage.tsx'
import { Status } from './status.tsx'
import { type Log, type LogProps, useLog } from './use-log.ts'

/** A log: find, chart, list. */
export function LogView(props: LogProps) {
  const log = useLog(props)
  const { acts, columns, preferences } = log
  const { look } = props
  const [unfolded, setUnfolded] = useState(false)
  const classes = [
    'log',
    preferences.wrap && 'wrap',
    unfolded && 'unfolded',
    ...columns.classes,
    look.columns.length > 0 && !look.message && 'hide-m',
  ]
  return (
    <section class={classes.filter(Boolean).join(' ')} aria-labelledby="log-title">
      <LogBar log={log} unfolded={unfolded} toggleFilters={() => setUnfolded(!unfolded)} />
      <Filters log={log} />
      <Chart log={log} />
      <div class="work">
        <Records log={log} />
        <Fields log={log} />
      </div>
      <Status reader={log.made} look={look} totals={log.totals} clock={log.clock} setZone={log.setZone} />
      {acts.choice !== null && <Menu choice={acts.choice} close={() => acts.setChoice(null)} />}
    </section>
  )
}

interface Part {
  log: Log
}

function LogBar({ log, unfolded, toggleFilters }: Part & { unfolded: boolean; toggleFilters: () => void }) {
  const { props, made, acts, columns, preferences } = log
  const { look } = props
  const menu = (
    <ColumnsMenu
      hidden={columns.hidden}
      filled={made?.display.columns.filled ?? new Set()}
      toggle={columns.toggle}
      look={look}
      showColumns={acts.showColumns}
      showMessage={(message) => props.go({ ...look, message })}
    />
  )
  return (
    <Bar
      client={props.client}
      node={props.node}
      look={look}
      file={props.file}
      live={log.live}
      wrap={preferences.wrap}
      panel={preferences.tab !== null}
      unfolded={unfolded}
      toggleFilters={toggleFilters}
      columns={menu}
      togglePanel={preferences.togglePanel}
      home={props.home}
      toggleFollow={acts.toggleFollow}
      toggleWrap={preferences.toggleWrap}
      copyText={acts.copyText}
      say={props.say}
    />
  )
}

function Filters({ log }: Part) {
  const { props, made, acts, totals } = log
  const { look } = props
  return (
    <>
      <Finder
        look={look}
        totals={totals}
        rotated={props.family.length > 1}
        levels={hasLevels(totals) || (made?.display.columns.filled.has('l') ?? false)}
        clock={log.clock}
        apply={acts.apply}
        clear={() => acts.apply({ find: '', level: '', terms: [], all: false })}
        setAll={(all) => acts.apply({ all })}
        jump={(ms) => void log.reader.current?.goToTime(ms)}
        again={() => void log.reader.current?.hit(-1)}
        leave={() => log.box.current?.focus()}
      />
      <Chips look={look} apply={acts.apply} highlight={acts.highlight} />
    </>
  )
}

function Chart({ log }: Part) {
  const { props, made, acts, clock } = log
  const { look } = props
  const only = chartTerm(look.chart)
  return (
    <HistogramView
      client={props.client}
      query={chartQueryOf(look)}
      ready={log.ready}
      live={log.live === 'live'}
      failed={log.failure !== null}
      level={look.level}
      clock={clock}
      ranged={look.since !== '' || look.until !== ''}
      seen={made?.seen ?? null}
      theme={props.theme}
      only={only === null ? null : termText(only)}
      showAll={() => props.go({ ...look, chart: '' })}
      range={(from, to) => acts.apply({ since: wallAt(from, clock.log), until: wallAt(to, clock.log) })}
      jump={(ms) => void log.reader.current?.goToTime(ms)}
      counted={log.setTotals}
    />
  )
}

function Records({ log }: Part) {
  const { props, acts } = log
  return (
    <Stage
      box={log.box}
      reader={log.reader}
      look={props.look}
      file={props.file}
      clock={log.clock}
      acts={acts}
      gone={props.gone}
      open={props.open}
      remedies={{
        retry: log.tryAgain,
        filters: () =>
          acts.apply({ find: '', regex: false, level: '', terms: [], since: '', until: '', all: false }),
        range: () => acts.apply({ since: '', until: '' }),
        level: () => acts.apply({ level: '' }),
        pattern: () => document.querySelector<HTMLElement>('.finder [data-find]')?.focus(),
      }}
    />
  )
}

function Fields({ log }: Part) {
  const { props, acts, preferences } = log
  const { look } = props
  if (preferences.tab === null) return null
  return (
    <Panel
      client={props.client}
      query={fieldsQueryOf(look)}
      look={look}
      ready={log.ready}
      failed={log.failure !== null}
      clock={log.clock}
      tab={preferences.tab}
      setTab={preferences.showPanel}
      openField={acts.openField}
      choose={(value, not) => acts.apply(withValue(look, value, not))}
      filter={(term) => acts.apply(withTerm(look, term))}
      close={() => preferences.showPanel('off')}
    />
  )
}

function hasLevels(totals: Totals | null): boolean {
  return Object.entries(totals?.counts ?? {}).some(([name, count]) => name !== 'none' && count > 0)
}
