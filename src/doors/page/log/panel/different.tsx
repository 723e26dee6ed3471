import type { Completeness, LogComparison, LogFinding } from '../../../client.ts'
import { base as own } from '../../base.ts'
import { clientAt } from '../../session/client-at.ts'
import { Answered, useLoaded } from '../../ui/answered.tsx'
import { Button } from '../../ui/controls.tsx'
import { counted } from '../../ui/format.ts'
import { NOTHING, queryKey, writeLook } from '../../url.ts'
import { clockOf } from '../find/clock.ts'
import { rangeOf, rangeText } from '../find/moment.ts'
import { useSaving } from '../save.ts'
import type { Log } from '../use-log.ts'
import { SidePanel } from './panel.tsx'
import {
  type Base,
  baseOf,
  compareQueryOf,
  figuresText,
  findingLook,
  kindText,
  once,
  timesOf,
  withBase,
} from './question.ts'

type Answer = LogComparison & Completeness

/** What sets a range of time apart: each finding leads to its records, or to the change of the configuration. */
export function Different({ log }: { log: Log }) {
  const { look, go } = log
  const question = look.different
  const base = baseOf(question)
  const ask = (next: string) => go({ ...look, different: next })
  // On the page of one node of a fleet, the fleet knows the others.
  const client = base.startsWith('only ') && log.own ? clientAt(new URL('../../', own)) : log.client
  const found = useLoaded(
    (signal) => client.compareLogs(compareQueryOf(question), { signal }),
    question,
    log.ready,
  )
  const { saving, start } = useSaving(log.say)
  const head = (
    <>
      <h2>What is different?</h2>
      <Button
        class="small"
        icon="save"
        title="This range as one HTML file to hand over: chart, findings, errors, configuration. Secrets are masked"
        disabled={saving !== null}
        onClick={() =>
          void start('incident.html', (signal) => client.incident(compareQueryOf(question), { signal }))
        }
      >
        {saving === null ? 'Save incident' : 'Saving…'}
      </Button>
    </>
  )
  return (
    <SidePanel class="different" name="What is different" head={head} close={() => ask('')}>
      <div class="body">
        <BaseChoice log={log} base={base} ask={ask} />
        <Answered
          asked={found}
          reading="Comparing records…"
          said={(data) => !found.busy && summary(log, data, base)}
        >
          {(data) =>
            !found.busy && (
              <ol class="findings">
                {once(data.findings).map(({ finding, same }) => (
                  <Finding
                    key={`${finding.kind} ${finding.what}`}
                    log={log}
                    finding={finding}
                    same={same}
                    answer={data}
                  />
                ))}
              </ol>
            )
          }
        </Answered>
      </div>
    </SidePanel>
  )
}

interface ChoiceProps {
  log: Log
  base: Base
  ask: (question: string) => void
}

function BaseChoice({ log, base, ask }: ChoiceProps) {
  const { look, sources } = log
  const nodes = log.own ? [log.own] : sources !== null && sources.nodes.length > 1 ? sources.nodes : []
  const named = base.startsWith('only ') ? base.slice(5) : null
  const options: [Base, string][] = [
    ['before', 'the time before'],
    ['day', 'a day earlier'],
    ['week', 'a week earlier'],
    ...[...new Set(named === null ? nodes : [named, ...nodes])].map((id): [Base, string] => [
      `only ${id}`,
      log.own ? 'the other nodes' : `${id} with the other nodes`,
    ]),
  ]
  if (look.nodes.length > 0 && look.nodes[0] !== '*') options.splice(3, 0, ['others', 'the other nodes'])
  return (
    <p class="choices">
      <label>
        Compared with{' '}
        <select
          value={base}
          onChange={(event) => ask(withBase(look.different, event.currentTarget.value as Base))}
        >
          {options.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
    </p>
  )
}

interface FindingProps {
  log: Log
  finding: LogFinding
  /** Other findings about the same records. */
  same: readonly LogFinding[]
  answer: Answer
}

function Finding({ log, finding, same, answer }: FindingProps) {
  const { look, clock } = log
  const { kind, what, example, node, file } = finding
  const isByNode = /^(only |others)/.test(baseOf(look.different))
  const times = isByNode ? null : timesOf(finding, answer)
  const target = finding.query === undefined ? null : findingLook(finding.query, look)
  if (target !== null && log.own) target.nodes = target.nodes.filter((id) => id !== log.own)
  if (target !== null) Object.assign(target, rangeOf(target, clockOf('log', clock.log)))
  const show = () => {
    if (target === null) return void showChange(log, finding, answer)
    // The other nodes are on the page of the fleet.
    if (log.own && target.nodes.length > 0) location.assign(`../../${writeLook(target)}`)
    else log.go(target)
  }
  const about = answer.notes.includes('sampled') && kind !== 'config' ? 'about ' : ''
  const where = [node, file === what ? undefined : file].filter(Boolean).join(' / ')
  const isError = [finding, ...same].some((each) => each.kind === 'level' && /error|fatal/.test(each.what))
  const body = (
    <>
      <span class={isError ? 'kind bad' : 'kind'}>
        {[kindText(finding, times), about + figuresText(finding, times, answer)].filter(Boolean).join(': ')}
      </span>
      {kind !== 'level' && <code>{what}</code>}
      {same.some((each) => each.kind !== 'level') && (
        <span class="dim">
          The same records have{' '}
          {same
            .filter((each) => each.kind !== 'level')
            .map((each) => each.what)
            .join(', ')}
        </span>
      )}
      {example !== undefined && example !== what && <span class="dim example">{example}</span>}
      {where !== '' && <span class="dim where">{where}</span>}
    </>
  )
  if (target === null && kind !== 'config') return <li class={kind}>{body}</li>
  return (
    <li class={kind}>
      <Button
        class="pick"
        aria-pressed={target !== null && queryKey(target) === queryKey(look)}
        title={kind === 'config' ? 'Show the change' : 'Show these records'}
        onClick={show}
      >
        {body}
      </Button>
    </li>
  )
}

/** The change of a setting on the chart, with the first error after it; otherwise the history, or where nodes differ. */
async function showChange(log: Log, { what, node }: LogFinding, { range, base }: Answer) {
  const abort = new AbortController()
  const known = (await log.changes?.(MOST, abort.signal).catch(() => [])) ?? []
  const change = known.find(
    (each) =>
      (node === undefined || each.node === null || each.node === node) &&
      each.time >= base.from &&
      each.time < range.to &&
      each.changes.some(({ key }) => key === what),
  )
  if (change !== undefined) return log.showChange([change])
  if (log.look.nodes.length > 0) log.go({ ...NOTHING, compare: ['*'] })
  else log.go({ ...NOTHING, history: 'all' })
}

function summary(log: Log, { range, base, findings, complete, notes, missing }: Answer, chosen: Base) {
  const text = ({ from, to }: { from: number; to: number }) =>
    rangeText({ since: log.clock.wall(from), until: log.clock.wall(to) }, clockOf('log', log.clock.log))
  const isByNode = /^(only |others)/.test(chosen)
  const other = isByNode ? 'on the other nodes' : `in ${text(base)}`
  return (
    <>
      {counted(range.records, 'record')} in {text(range)}, {counted(base.records, 'record')} {other}.
      {base.records === 0
        ? ' There is nothing to compare with.'
        : findings.length === 0 && ' Nothing sets them apart.'}
      {notes.includes('sampled') && ' Messages and fields were counted in a sample.'}
      {!complete && ' The node ran out of time before it had read everything.'}
      {notes.includes('no-config-scope') && ' Your token may not compare configurations.'}
      {missing.length > 0 && ` Without ${missing.map(({ name }) => name).join(', ')}.`}
    </>
  )
}

/** Versions of a configuration among which a change is looked for. */
const MOST = 200
