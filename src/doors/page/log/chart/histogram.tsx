import { useEffect, useRef, useState } from 'preact/hooks'
import { type Histogram, type Missing, ProblemError } from '../../../client.ts'
import { Marks } from '../../config/marks.tsx'
import { Button } from '../../ui/controls.tsx'
import { count, span } from '../../ui/format.ts'
import { useSlow } from '../../ui/store.ts'
import type { Clock } from '../find/clock.ts'
import { questionAt } from '../panel/question.ts'
import { wallAt } from '../record/record.ts'
import type { Log } from '../use-log.ts'
import { isOfYears } from './axis.ts'
import { Drawing } from './drawing.tsx'
import { namesOf, sumsOf } from './totals.ts'
import { type Counted, uncountedOf, useCounts } from './use-counts.ts'

/** Records over time, stacked by level. Dragging selects a time range, a click goes to that moment. */
export function HistogramView({ log }: { log: Log }) {
  const { look, clock } = log
  const failed = log.failure !== null
  const jump = (ms: number) => void log.reader.current?.goToTime(ms)
  const range = (from: number, to: number) =>
    log.acts.apply({ since: wallAt(from, clock.log), until: wallAt(to, clock.log) })
  const frame = useRef<HTMLDivElement>(null)
  const plot = useRef<HTMLDivElement>(null)
  const [{ width, height }, setSize] = useState({ width: 0, height: 0 })
  const [hover, setHover] = useState<number | null>(null)
  const [drag, setDrag] = useState<[number, number] | null>(null)
  const { data, busy, problem, retry } = useCounts(log, width)
  const slow = useSlow(busy && !failed)

  useEffect(() => {
    // The frame has its width even while there is no chart.
    const observer = new ResizeObserver(([entry]) =>
      setSize({ width: Math.floor(entry!.contentRect.width), height: plot.current?.clientHeight ?? 0 }),
    )
    observer.observe(frame.current!)
    return () => observer.disconnect()
  }, [])

  const span = data === null ? 0 : data.to - data.from
  const timeAt = (x: number): number => {
    if (data === null || width === 0) return 0
    return data.from + (Math.min(Math.max(x, 0), width) / width) * span
  }
  const release = () => {
    if (drag === null || data === null) return
    const [from, to] = [Math.min(...drag), Math.max(...drag)]
    setDrag(null)
    const hit = bucketAt(data, timeAt(from))
    if (to - from >= 4) range(Math.floor(timeAt(from)), Math.ceil(timeAt(to)))
    else if (hit !== null) jump(hit.time + data.step)
  }
  const bucket = data === null || hover === null ? null : bucketAt(data, timeAt(hover))
  const noTime = problem instanceof ProblemError && problem.code === 'no-time'
  const said = failed || problem === null ? null : noTime ? NO_TIME : problem.message
  const short = (ms: number) => momentText(ms, data!, clock)
  // What the line below the list names already is not named again.
  const lacking = data === null ? [] : uncountedOf(data).filter((each) => !isNamed(log, each))
  return (
    <div ref={frame} class={`histogram${problem === null ? '' : ' none'}`}>
      <div ref={plot} class="plot">
        <svg
          width={width}
          height={height}
          role="img"
          aria-label={data === null ? 'Chart of records over time' : summary(data, clock)}
          onPointerDown={(event) => {
            if (data === null || event.button !== 0) return
            event.currentTarget.setPointerCapture(event.pointerId)
            setDrag([event.offsetX, event.offsetX])
          }}
          onPointerMove={(event) => {
            setHover(event.offsetX)
            if (drag !== null) setDrag([drag[0], event.offsetX])
          }}
          onPointerLeave={() => setHover(null)}
          onPointerCancel={() => setDrag(null)}
          onPointerUp={release}
        >
          <Drawing
            log={log}
            data={data}
            counting={slow}
            lacking={lacking.length > 0}
            size={{ width, height }}
            chosen={drag}
            hover={hover}
          />
        </svg>
        {log.changes != null && data !== null && data.to > data.from && (
          <Marks log={log} data={data} width={width} />
        )}
      </div>
      <p class="legend">
        {said !== null ? (
          <span>{said}</span>
        ) : data === null ? (
          <span role="status">{slow ? 'Counting records…' : ''}</span>
        ) : drag !== null && Math.abs(drag[1] - drag[0]) >= 4 ? (
          <span>
            {short(timeAt(Math.min(...drag)))} to {short(timeAt(Math.max(...drag)))}
          </span>
        ) : (
          <>
            <Counts log={log} data={data} bucket={bucket} />
            {look.since !== '' && look.different === '' && (
              <Button
                class="small ask"
                title="What sets this range apart from the time before, or from other nodes"
                onClick={() => log.go({ ...look, different: questionAt(look, clock) })}
              >
                What is different?
              </Button>
            )}
            <span role="status">{slow ? 'Counting records…' : ''}</span>
            {!slow && timeless(data) !== '' && <span>{timeless(data)}</span>}
            {!slow && (lacking.length > 0 || !isCounted(data)) && (
              <span class="uncounted">
                {lacking.length > 0 ? `${namesIn(lacking)} not counted` : 'Only the newest part was counted'}{' '}
                <Button class="quiet small" onClick={retry}>
                  Try again
                </Button>
              </span>
            )}
          </>
        )}
        {log.sources !== null && <Stack log={log} />}
      </p>
    </div>
  )
}

function isNamed({ made }: Log, { name }: Missing): boolean {
  return made?.window.missing.some((each) => each.name === name) ?? false
}

/** Whether all that can be counted was. */
function isCounted(data: Counted): boolean {
  return data.complete || uncountedOf(data).length > 0
}

/** What the bars of several logs are made of. */
function Stack({ log: { look, sources, go } }: { log: Log }) {
  return (
    <label class="stack">
      Stack by{' '}
      <select value={look.by} onChange={(event) => go({ ...look, by: event.currentTarget.value })}>
        <option value="">level</option>
        <option value="file">log</option>
        {sources!.nodes.length > 0 && <option value="node">node</option>}
      </select>
    </label>
  )
}

function Counts({ log, data, bucket }: { log: Log; data: Histogram; bucket: Bucket | null }) {
  const { look, clock } = log
  if (bucket === null) {
    if (data.buckets.length === 0) return <span>No records</span>
    if (look.since + look.until !== '') return <span>{span(data.step / 1000)} per bar</span>
    const [from, to] = [clock.wall(data.from), clock.wall(data.to)]
    return (
      <span>
        {from.slice(0, 19)} to {from.slice(0, 10) === to.slice(0, 10) ? to.slice(11, 19) : to.slice(0, 19)}
      </span>
    )
  }
  return (
    <span>
      {momentText(bucket.time, data, clock)}
      {countsOf(bucket.counts, data).map(({ name, text }) => (
        <span class={`lv-${name}`} key={name}>
          {' '}
          {text}
        </span>
      ))}
    </span>
  )
}

/** A moment of the chart, with the year where it has several. */
function momentText(ms: number, { from, to }: Histogram, clock: Clock): string {
  return clock.wall(ms).slice(isOfYears(clock.wall(from), clock.wall(to)) ? 0 : 5, 19)
}

type Bucket = Histogram['buckets'][number]

const NO_TIME = 'The lines of this log have no times, so there is no chart.'

/** Logs that a chart cannot have: `notes.txt has no times`. */
function timeless({ missing }: Counted): string {
  const names = missing.filter(({ reason }) => reason === 'no-time')
  return names.length === 0 ? '' : `${namesIn(names)} ${names.length === 1 ? 'has' : 'have'} no times`
}

/** `+2` counts those that the node did not name. */
function namesIn(missing: Missing[]): string {
  return missing.map(({ name }) => (name.startsWith('+') ? `${name.slice(1)} more` : name)).join(', ')
}

/** How many records there are of each name: `12 warn`, `3 other`. */
function countsOf(counts: readonly number[], data: Histogram, none = 'other') {
  return namesOf(data).flatMap((name, index) =>
    counts[index] ? [{ name, text: `${count(counts[index])} ${name === 'none' ? none : name}` }] : [],
  )
}

function bucketAt(data: Histogram, time: number): Bucket | null {
  return data.buckets.find((each) => time >= each.time && time < each.time + data.step) ?? null
}

function summary(data: Histogram, clock: Clock): string {
  const parts = countsOf(sumsOf(data), data, 'without level').map(({ text }) => text)
  if (parts.length === 0) return 'Chart of records over time: no records'
  return `Chart of records from ${clock.wall(data.from)} to ${clock.wall(data.to)}: ${parts.join(', ')}`
}
