import { useState } from 'preact/hooks'
import type { FleetNode } from '../../client.ts'
import { Sparkline } from '../ui/bars.tsx'
import { Button, Search } from '../ui/controls.tsx'
import { reasonText } from '../ui/failure.tsx'
import { ago, bytes, count, counted, moment, secondsAgo } from '../ui/format.ts'
import { carry, type Look, toggled, writeLook } from '../url.ts'

const SHIPPED = 'Last shipped'
const DAY = 'Last 24 h'

/** A column that no node fills is not shown. */
const COLUMNS: [name: string, title: string, text: (node: FleetNode) => string][] = [
  ['State', 'Whether the node answers', liveText],
  ['Clock', "Its clock against this service's; a timeline depends on it", clockText],
  ['Address', 'The address of the node', ({ node }) => node?.hostIp ?? ''],
  ['Version', 'The version of the database', versionText],
  ['Errors, 1 h', 'Errors in its logs during the last hour', ({ errors }) => count(errors)],
  ['Warnings, 1 h', 'Warnings in its logs during the last hour', ({ warnings }) => count(warnings)],
  [DAY, 'Errors and warnings of the last 24 hours, now on the right', dayText],
  ['Last line', 'When its last line was written', ({ lastLine }) => (lastLine == null ? '' : ago(lastLine))],
  [SHIPPED, 'When the node last wrote to the bucket', shippedText],
  ['Not shipped yet', 'Bytes of log on the node that are not in the bucket yet', lagText],
]

/** Columns of numbers, and the level whose colour they have. */
const NUMBERS: Record<string, string> = { 'Errors, 1 h': 'lv-error', 'Warnings, 1 h': 'lv-warn' }

interface Props {
  nodes: FleetNode[]
  compare: (ids: string[]) => void
  read: (ids: string[]) => void
}

/** The nodes of a fleet: those that cannot be read come first, then those with the most errors, then silent ones. */
export function Fleet({ nodes, compare, read }: Props) {
  const [filter, setFilter] = useState('')
  const [picked, setPicked] = useState<readonly string[]>([])
  const needle = filter.toLowerCase()
  const shown = byTrouble(nodes).filter((each) => textOf(each).includes(needle))
  // The boxes that are checked, or else all that the filter leaves.
  const chosen = picked.length > 0 ? [...picked] : needle === '' ? ['*'] : shown.map(({ id }) => id)
  const columns = COLUMNS.filter(([, , text]) => nodes.some((each) => text(each) !== ''))
  return (
    <section class="fleet" aria-labelledby="fleet-title">
      <header class="bar">
        <h2 id="fleet-title">Nodes</h2>
        <Search
          data-find
          label="Filter the nodes"
          placeholder={`Filter ${count(nodes.length)} nodes`}
          value={filter}
          set={setFilter}
        />
        {shown.length > 0 && (
          <>
            <Button title="Their logs as one, in order of time" onClick={() => read(chosen)}>
              Timeline
            </Button>
            <Button title="Where their configurations differ" onClick={() => compare(chosen)}>
              Compare
            </Button>
          </>
        )}
      </header>
      {nodes.length === 0 && (
        <p class="hint" role="status">
          No node has shipped anything yet. A node appears here once it has.
        </p>
      )}
      {shown.length === 0 && nodes.length > 0 && <p class="hint">No node matches.</p>}
      {shown.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Node</th>
              {columns.map(([name, title]) => (
                <th scope="col" key={name} class={NUMBERS[name] && 'number'} title={title}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, MOST).map((each) => (
              <tr key={each.id} class={isSilent(each) ? 'silent' : ''}>
                <th scope="row">
                  <input
                    type="checkbox"
                    aria-label={each.id}
                    checked={picked.includes(each.id)}
                    onChange={() => setPicked(toggled(picked, each.id))}
                  />
                  <a href={`nodes/${encodeURIComponent(each.id)}/`}>{nameOf(each)}</a>
                  {nameOf(each) !== each.id && <span class="dim"> {each.id}</span>}
                </th>
                {columns.map(([name, , text]) => (
                  <td
                    key={name}
                    class={cellClass(name, each, text(each))}
                    title={name === SHIPPED ? (each.shipped ?? undefined) : undefined}
                  >
                    {name === DAY ? <DayLine node={each} nodes={nodes} /> : text(each)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {shown.length > MOST && (
        <p class="hint">{count(shown.length - MOST)} more. Type part of a name to find them.</p>
      )}
    </section>
  )
}

/** What matters stands out, and numbers of nothing stand back. */
function cellClass(name: string, node: FleetNode, text: string): string {
  const level = NUMBERS[name]
  if (level !== undefined) return `number ${text === '0' ? 'dim' : level}`
  if (name === SHIPPED) return 'shipped'
  return name === 'State' && node.live === false ? 'warning' : ''
}

interface LinksProps {
  nodes: FleetNode[]
  own: string
  look: Look
  read: (ids: string[]) => void
}

/** The other nodes, beside a node's logs. */
export function FleetLinks({ nodes, own, look, read }: LinksProps) {
  const ordered = byTrouble(nodes)
  const few = ordered.slice(0, FEW)
  const self = ordered.find((each) => each.id === own)
  // The node itself is always among them.
  const near = self === undefined || few.includes(self) ? few : [self, ...few.slice(0, -1)]
  const hash = look.file === null ? '' : writeLook(carry(look, look.file))
  return (
    <>
      <h2>
        <a href="../../">Nodes</a>
      </h2>
      <ul class="files nodes">
        {near.map((each) => (
          <li key={each.id}>
            <input
              type="checkbox"
              class="choose"
              aria-label={each.id}
              checked={each.id === own}
              disabled={each.id === own}
              onChange={() => read([own, each.id])}
            />
            <a
              href={`../${encodeURIComponent(each.id)}/${hash}`}
              aria-current={each.id === own ? 'page' : undefined}
            >
              <span class="name">{nameOf(each)}</span>
              <span class="age">{each.age === null ? '' : secondsAgo(each.age)}</span>
            </a>
          </li>
        ))}
      </ul>
      {nodes.length > FEW && (
        <p class="hint">
          <a href="../../">All {count(nodes.length)} nodes</a>
        </p>
      )}
    </>
  )
}

/** Where to look: nodes that cannot be read, then by errors and warnings, then by how long they have been silent. */
function byTrouble(nodes: FleetNode[]): FleetNode[] {
  const ranks = (node: FleetNode) => [
    node.error === null ? 0 : 1,
    node.errors ?? 0,
    node.warnings ?? 0,
    isSilent(node) ? (node.age ?? 0) : 0,
  ]
  return [...nodes].sort((a, b) => {
    const [one, other] = [ranks(a), ranks(b)]
    const at = one.findIndex((rank, index) => rank !== other[index])
    return at < 0 ? (a.id < b.id ? -1 : 1) : other[at]! - one[at]!
  })
}

function isSilent({ error, age }: FleetNode): boolean {
  return error !== null || (age !== null && age > SILENT)
}

/** The operator names the peers, whatever they call themselves. */
function nameOf({ id, node, live }: FleetNode): string {
  return live === undefined ? node?.hostName || id : id
}

/** `does not answer since 14:02`; a node that is only in a bucket has no state. */
function liveText({ live, answered, shipped, error }: FleetNode): string {
  if (live !== false) return live === undefined ? '' : 'answers'
  const copy = shipped === null && error !== null ? '' : '; its copy is shown'
  if (answered == null) return `does not answer${copy}`
  const isToday = Date.now() - answered < 43_200_000
  return `does not answer since ${moment(answered).slice(isToday ? 11 : 5, 16)}${copy}`
}

/** Of the database: nodestate's own is not shown as if it were that. */
function versionText({ node, known }: FleetNode): string {
  return known === undefined || known.includes('version') ? (node?.version ?? '') : ''
}

/** The clock is known to half a second: what is shown as off is off by more than a second. */
function clockText({ clock, live }: FleetNode): string {
  if (clock == null || live !== true) return ''
  if (Math.abs(clock) <= OFF_MS) return 'in step'
  const seconds = Math.round(Math.abs(clock) / 1000)
  return `${count(seconds)} s ${clock > 0 ? 'ahead' : 'behind'}`
}

const OFF_MS = 1500

function shippedText({ error, age, live }: FleetNode): string {
  // That a peer does not answer is its state.
  if (error !== null && live === undefined)
    return error === 'not-asked' ? 'not asked in time' : `cannot be read: ${reasonText(error)}`
  return age === null ? '' : secondsAgo(age)
}

function lagText({ lag }: FleetNode): string {
  return lag === null ? '' : lag === 0 ? 'nothing' : bytes(lag)
}

function textOf({ id, node }: FleetNode): string {
  return [id, node?.hostName, node?.hostIp, node?.version].filter(Boolean).join(' ').toLowerCase()
}

/** Seconds after which a node that ships every minute counts as silent. */
const SILENT = 150
const MOST = 500
const FEW = 8

/** What a line says, for those who do not see it: `52 errors, most of them 23 h ago, 3 warnings`; '' for none. */
function dayText({ day }: FleetNode): string {
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
function DayLine({ node, nodes }: { node: FleetNode; nodes: readonly FleetNode[] }) {
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
