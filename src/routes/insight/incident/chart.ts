import type { Histogram, LogComparison } from '../../../doors/client.ts'
import { type Html, joined, markup, text } from './html.ts'

const WIDTH = 960
const HEIGHT = 150
const TOP = 14
/** Levels from the bottom of a bar to its top, the worst first; the others are counted as one. */
const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug']

interface Shown {
  chart: Histogram
  range: LogComparison['range']
  /** When configurations changed. */
  changes: readonly number[]
  time(ms: number): string
}

/** Records over time as a picture: the range is marked, and so is every change of a configuration. */
export function chartOf({ chart, range, changes, time }: Shown): Html {
  const { from, to, step, buckets } = chart
  const span = Math.max(1, to - from)
  const x = (ms: number) => Math.round(((Math.min(Math.max(ms, from), to) - from) / span) * WIDTH * 10) / 10
  const most = Math.max(1, ...buckets.map(({ counts }) => counts.reduce((sum, count) => sum + count, 0)))
  const width = Math.max(1, Math.round((step / span) * WIDTH * 10) / 10 - 0.5)
  const bars = buckets.flatMap((bucket) => {
    let y = TOP + HEIGHT
    return stacked(chart, bucket.counts).map(({ level, count }) => {
      const height = Math.max(0.5, Math.round((count / most) * HEIGHT * 10) / 10)
      y -= height
      return markup`<rect class="${text(level)}" x="${x(bucket.time)}" y="${Math.round(y * 10) / 10}" width="${width}" height="${height}"/>`
    })
  })
  const lines = changes
    .filter((ms) => ms >= from && ms <= to)
    .map(
      (ms) =>
        markup`<line class="change" x1="${x(ms)}" x2="${x(ms)}" y1="${TOP}" y2="${TOP + HEIGHT}"><title>configuration changed ${text(time(ms))}</title></line>`,
    )
  const label = text(`Records over time, up to ${most} in ${Math.round(step / 1000)} s`)
  return markup`<svg viewBox="0 0 ${WIDTH} ${TOP + HEIGHT + 18}" role="img" aria-label="${label}">
<rect class="range" x="${x(range.from)}" y="${TOP}" width="${Math.max(1, x(range.to) - x(range.from))}" height="${HEIGHT}"/>
${joined(bars)}
${joined(lines)}
<text x="0" y="${TOP - 3}">${label}</text>
<text x="0" y="${TOP + HEIGHT + 14}">${text(time(from))}</text>
<text x="${WIDTH}" y="${TOP + HEIGHT + 14}" text-anchor="end">${text(time(to))}</text>
</svg>`
}

function stacked({ levels = [] }: Histogram, counts: readonly number[]): { level: string; count: number }[] {
  const shown = LEVELS.map((level) => ({ level, count: counts[levels.indexOf(level)] ?? 0 }))
  const rest = counts.reduce((sum, count, i) => sum + (LEVELS.includes(levels[i] ?? '') ? 0 : count), 0)
  return [...shown, { level: 'other', count: rest }].filter(({ count }) => count > 0)
}
