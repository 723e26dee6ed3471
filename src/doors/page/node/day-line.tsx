import type { FleetNode } from '../../client.ts'
import { Sparkline } from '../ui/bars.tsx'
import { counted } from '../ui/format.ts'

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

/** The errors and warnings of a day as bars, now on the right. All nodes have one scale. */
export function DayLine({ node, nodes }: { node: FleetNode; nodes: readonly FleetNode[] }) {
  const { day } = node
  if (day == null) return null
  const sums = nodes.flatMap(
    (each) => each.day?.errors.map((errors, at) => (errors ?? 0) + (each.day!.warnings[at] ?? 0)) ?? [],
  )
  const series = [
    { name: 'error', counts: day.errors },
    { name: 'warn', counts: day.warnings },
  ]
  return <Sparkline series={series} peak={Math.max(10, ...sums)} label={`Last 24 hours: ${dayText(node)}`} />
}

function sum(counts: readonly (number | null)[]): number {
  return counts.reduce<number>((all, each) => all + (each ?? 0), 0)
}
