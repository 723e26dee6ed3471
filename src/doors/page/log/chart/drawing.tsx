import { Bars, isSevere, type Series } from '../../ui/bars.tsx'
import { levelsOf } from '../record/record.ts'
import { markOf } from '../record/source.ts'
import type { Log } from '../use-log.ts'
import { niceMax, timeTicks } from './axis.ts'
import { namesOf } from './totals.ts'
import { type Counted, uncountedOf } from './use-counts.ts'

interface Props {
  log: Log
  data: Counted | null
  /** Whether records have been counted for longer than a moment. */
  counting: boolean
  /** Whether a log is not counted that nothing else tells of. */
  lacking: boolean
  size: { width: number; height: number }
  /** Pixels that are being dragged over. */
  chosen: [number, number] | null
  hover: number | null
}

/** Severe levels are at the bottom, where their height can be compared. */
const ORDER = ['fatal', 'error', 'warn', 'info', 'debug', 'none']

/** Pixels under the bars for the labels of the axis, and above them for the highest count. */
const AXIS = 15
const TOP = 12

/** The chart: hatched where nothing is counted, bars, the axis, and what is in view or chosen. */
export function Drawing({ log, data, counting, lacking, size: { width, height }, chosen, hover }: Props) {
  const floor = height - AXIS
  if (height === 0) return null
  const base = (
    <>
      <pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <path class="axis" d="M0 0h1v7h-1z" />
      </pattern>
      <path class="axis" d={`M0 ${floor}h${width}v1h${-width}z`} />
    </>
  )
  const hatched = (to: number) => (
    <rect class="hatch" fill="url(#hatch)" y={TOP} width={Math.max(0, to)} height={floor - TOP} />
  )
  if (data === null || data.to <= data.from)
    return (
      <>
        {base}
        {data === null && counting && hatched(width)}
      </>
    )
  const { settled = null } = log.made?.window ?? {}
  const seen = log.made?.seen ?? null
  const x = (ms: number) => ((ms - data.from) / (data.to - data.from)) * width
  const series = seriesOf(log, data)
  const sums = data.buckets.map((_, index) =>
    series.reduce((sum, each) => sum + (each.counts[index] ?? 0), 0),
  )
  // At least ten: a single record is a low bar, not one that fills the chart.
  const peak = niceMax(Math.max(10, ...sums))
  const scale = {
    place: (index: number): [number, number] => {
      const { time } = data.buckets[index]!
      return [x(time), Math.max(1, x(time + data.step) - x(time) - 1)]
    },
    // Proportional to the count. One error among a million is still seen: two pixels.
    tall: (count: number, name: string, isLowest: boolean) =>
      Math.max(isSevere(name) ? 2 : isLowest ? 1 : 0, (count / peak) * (floor - TOP)),
    floor,
  }
  const first = data.buckets.find(({ counts }) => counts.some((each) => each > 0))
  const isPart = !data.complete && uncountedOf(data).length === 0
  const uncounted = lacking ? width : isPart ? x(first?.time ?? data.to) : 0
  const ticks = timeTicks(data.from, data.to, { zone: log.clock.at(data.to), most: Math.floor(width / 90) })
  const [from, to] = seen === null ? [0, 0] : [Math.max(0, x(seen[0])), Math.min(width, x(seen[1]))]
  return (
    <>
      {base}
      {uncounted > 0 && hatched(uncounted)}
      <path class="grid" d={`M0 ${TOP - 1}h${width}v1h${-width}z`} />
      <text x="2" y="9">
        {peak.toLocaleString('en')}
      </text>
      <Bars series={series} scale={scale} striped />
      {ticks.map(
        ({ at, label }) =>
          x(at) >= 30 &&
          x(at) <= width - 30 && (
            <g key={at}>
              <path class="axis" d={`M${Math.round(x(at))} ${floor}h1v4h-1z`} />
              <text x={x(at)} y={height - 2} text-anchor="middle">
                {label}
              </text>
            </g>
          ),
      )}
      {settled !== null && settled >= data.from && settled <= data.to && (
        <path class="settled" d={`M${Math.min(Math.round(x(settled)), width - 1)} 0v${floor}`} />
      )}
      {seen !== null && to >= 0 && from <= width && (
        <rect
          class="seen"
          x={Math.min(from, width - 3)}
          y={floor}
          width={Math.max(3, to - from)}
          height="3"
        />
      )}
      {chosen !== null ? (
        <rect class="drag" x={Math.min(...chosen)} width={Math.abs(chosen[1] - chosen[0])} height={floor} />
      ) : (
        hover !== null && <rect class="axis" x={Math.round(hover)} width="1" height={floor} />
      )}
    </>
  )
}

/** What is stacked: the levels that a filter leaves, or the logs or nodes that the chart counts. */
function seriesOf({ look, sources }: Log, data: Counted): Series[] {
  const names = namesOf(data)
  const countsOf = (name: string) => data.buckets.map(({ counts }) => counts[names.indexOf(name)] ?? 0)
  if (names !== data.levels)
    return names.map((name) => ({
      name: 'other',
      counts: countsOf(name),
      colour: sources === null ? undefined : markOf(sources, name).colour,
    }))
  const levels = levelsOf(look.level)
  return ORDER.filter((name) => levels === null || levels.includes(name)).map((name) => ({
    name,
    counts: countsOf(name),
  }))
}
