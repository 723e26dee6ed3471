import type { FleetNode } from '../../client.ts'
import { counted } from '../ui/format.ts'

type Day = NonNullable<FleetNode['day']>

/** What a line says, for those who do not see it: `52 errors, most of them 23 h ago, 3 warnings`; '' for none. */
export function dayText({ day }: FleetNode): string {
  if (day == null) return ''
  const { errors, warnings, from, step } = day
  const most = Math.max(0, ...errors.map((each) => each ?? 0))
  const hours = (Date.now() - (from + errors.indexOf(most) * step)) / 3_600_000
  const when =
    most === 0 ? '' : `, most of them ${hours < 1 ? 'in the last hour' : `${Math.floor(hours)} h ago`}`
  const known = errors.filter((each) => each !== null).length
  const part =
    known === errors.length ? '' : `; ${Math.round((known * step) / 3_600_000)} of 24 h were counted`
  return `${counted(sum(errors), 'error')}${when}, ${counted(sum(warnings), 'warning')}${part}`
}

/** The errors and warnings of a day as bars, now on the right. All nodes have one scale; what is not known is dim. */
export function DayLine({ node, nodes }: { node: FleetNode; nodes: readonly FleetNode[] }) {
  const { day } = node
  if (day == null) return null
  const peak = Math.max(
    10,
    ...nodes.flatMap((each) => (each.day ? steps(each.day).map(([a, b]) => a + b) : [])),
  )
  // By its root: a few errors are seen beside a thousand.
  const tall = (count: number) => (count === 0 ? 0 : Math.max(2, Math.sqrt(count / peak) * HIGH))
  const bars = { unknown: '', warn: '', error: '' }
  for (const [index, [errors, warnings]] of steps(day).entries()) {
    const bar = (from: number, to: number) =>
      to > from ? `M${index} ${HIGH - from}V${HIGH - to}h.8V${HIGH - from}Z` : ''
    const red = tall(errors)
    bars.error += bar(0, red)
    bars.warn += bar(red, Math.max(red, tall(errors + warnings)))
    if (day.errors[index] === null) bars.unknown += bar(0, 1)
  }
  const { length } = day.errors
  return (
    <svg
      class="day-line"
      role="img"
      aria-label={`Last 24 hours: ${dayText(node)}`}
      viewBox={`0 0 ${length} ${HIGH}`}
      preserveAspectRatio="none"
    >
      <title>{dayText(node)}</title>
      {Object.entries(bars).map(([name, d]) => (
        <path key={name} class={name} d={d} />
      ))}
    </svg>
  )
}

function steps({ errors, warnings }: Day): [errors: number, warnings: number][] {
  return errors.map((each, index) => [each ?? 0, warnings[index] ?? 0])
}

function sum(counts: readonly (number | null)[]): number {
  return counts.reduce<number>((all, each) => all + (each ?? 0), 0)
}

const HIGH = 22
