import { DAY } from '../../../../log/histogram/steps.ts'
import type { CompareQuery, LogComparison, LogFinding } from '../../../client.ts'
import { count, counted } from '../../ui/format.ts'
import { type Look, readLook } from '../../url.ts'
import type { Clock } from '../find/clock.ts'
import { momentOf } from '../find/moment.ts'
import { fieldsQueryOf } from '../find/query.ts'

/** Asks what sets the range of a look apart, as a query string. An age becomes a moment, so that the answer lasts. */
export function questionAt(look: Look, clock: Clock): string {
  const params = new URLSearchParams()
  // A comparison reads a log as its bytes say.
  for (const [name, value] of Object.entries(fieldsQueryOf({ ...look, encoding: '' })))
    for (const each of [value ?? []].flat()) params.append(name, String(each))
  for (const name of ['since', 'until'] as const)
    params.set(name, iso(momentOf(look[name], clock.log) ?? Date.now()))
  return params.toString()
}

/** What a range is compared with: the time before it, an earlier day, or other nodes. */
export type Base = 'before' | 'day' | 'week' | 'others' | `only ${string}`

const EARLIER: Partial<Record<Base, number>> = { day: DAY, week: 7 * DAY }

export function baseOf(question: string): Base {
  const params = new URLSearchParams(question)
  const only = params.get('only')
  if (only !== null) return `only ${only}`
  if (params.has('base-node')) return 'others'
  const since = params.get('base-since')
  if (since === null) return 'before'
  const earlier = Date.parse(params.get('since')!) - Date.parse(since)
  return earlier === DAY ? 'day' : 'week'
}

/** The same question with another base. */
export function withBase(question: string, base: Base) {
  const params = new URLSearchParams(question)
  for (const name of ['base-since', 'base-until', 'base-node', 'only']) params.delete(name)
  const earlier = EARLIER[base]
  for (const name of ['since', 'until'] as const)
    if (earlier) params.set(`base-${name}`, iso(Date.parse(params.get(name)!) - earlier))
  if (base === 'others') params.set('base-node', '*')
  if (base.startsWith('only ')) params.set('only', base.slice(5))
  return params.toString()
}

/** The question as the API takes it. `only` is one node of several, which is compared with all others. */
export function compareQueryOf(question: string): CompareQuery {
  const params = new URLSearchParams(question)
  const only = params.get('only')
  const names = new Set(params.keys())
  const others = params.getAll('base-node')
  for (const name of ['only', 'base-since', 'base-until', 'base-node']) names.delete(name)
  const query = Object.fromEntries([...names].map((name) => [name, params.getAll(name)]))
  const one = (name: string) => params.get(name) ?? undefined
  const single = { since: one('since')!, until: one('until'), level: one('level'), pattern: one('pattern') }
  const base = { baseSince: one('base-since'), baseUntil: one('base-until') }
  const nodes =
    only === null ? (others.length > 0 ? { baseNode: others } : {}) : { node: only, baseNode: '*' }
  const rotated = one('rotated') === 'true' || undefined
  return { ...query, ...single, ...base, ...nodes, rotated } as CompareQuery
}

/** The records of a finding, seen as the look sees them. */
export function findingLook(query: string, look: Look): Look {
  const { columns, by, different } = look
  return { ...readLook(query), columns, by, different }
}

/** Findings with the same figures in the same log are about the same records: the first of them stands for all. */
export function once(findings: readonly LogFinding[]): { finding: LogFinding; same: LogFinding[] }[] {
  const isRecords = ({ kind }: LogFinding) => kind === 'pattern' || kind === 'field' || kind === 'level'
  const groups = new Map<string, LogFinding[]>()
  for (const each of findings) {
    const { kind, what, count, base, node, file } = each
    const key = JSON.stringify(isRecords(each) ? [count, base, node, file] : [kind, what, node])
    groups.set(key, [...(groups.get(key) ?? []), each])
  }
  return [...groups.values()].map((group) => {
    // What the records say tells more than their level.
    const finding = group.find(({ kind }) => kind !== 'level') ?? group[0]!
    return { finding, same: group.filter((each) => each !== finding) }
  })
}

const LEVELS: Record<string, string> = {
  fatal: 'Fatal errors',
  error: 'Errors',
  warn: 'Warnings',
  info: 'Info records',
  debug: 'Debug records',
}

/** What a finding is, in a few words. */
export function kindText({ kind, what, count, base, query }: LogFinding, times: number | null): string {
  const byNode = times === null
  if (kind === 'config') return byNode ? 'Different setting' : 'Setting changed'
  if (kind === 'silent') return 'Log went quiet'
  if (kind === 'level') return LEVELS[what] ?? what
  const where = kind === 'field' ? (new URLSearchParams(query).getAll('where').at(-1) ?? '') : ''
  if (where.startsWith(`${what}>`)) return 'Larger numbers'
  if (where.startsWith(`${what}<`)) return 'Smaller numbers'
  const thing = kind === 'pattern' ? 'Message' : 'Value'
  if (base === 0) return byNode ? `${thing} only here` : `New ${thing.toLowerCase()}`
  if (count === 0) return byNode ? `${thing} only elsewhere` : `${thing} gone`
  return byNode ? thing : `${thing} ${times > 1 ? 'more often' : 'less often'}`
}

/** How many times as often something is in the range as in the base. */
export function timesOf({ count, base }: LogFinding, { range, base: other }: LogComparison): number {
  return count / Math.max(1, range.to - range.from) / (base / Math.max(1, other.to - other.from))
}

/** `540 now, 41 before, 13 times as often`, with rates where the periods differ in length. Between nodes, before is elsewhere. */
export function figuresText(finding: LogFinding, times: number | null, answer: LogComparison): string {
  const { kind, count: now, base } = finding
  const some = (value: number) => (value === 0 ? 'none' : count(value))
  if (kind === 'config') return times === null ? '' : counted(now + base, 'change')
  if (times === null) return `${some(now)} here, ${some(base)} elsewhere`
  const factor = times > 1 ? times : 1 / times
  const figure = factor < 10 ? factor.toFixed(1) : count(Math.round(factor))
  const often = now * base > 0 && factor >= 1.5 ? `, ${figure} times as ${times > 1 ? 'often' : 'rare'}` : ''
  const [range, other] = [answer.range, answer.base].map(({ from, to }) => (to - from) / 60_000) as [
    number,
    number,
  ]
  const isUneven = now * base > 0 && Math.abs(range - other) > other / 10
  const rate = (value: number, minutes: number) =>
    isUneven ? ` (${Number((value / minutes).toPrecision(2))} a minute)` : ''
  return `${some(now)} now${rate(now, range)}, ${some(base)} before${rate(base, other)}${often}`
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
