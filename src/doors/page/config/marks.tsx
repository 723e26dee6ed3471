import type { Histogram } from '../../client.ts'
import type { Log } from '../log/use-log.ts'
import { useLoaded } from '../ui/answered.tsx'
import { Button } from '../ui/controls.tsx'
import { span } from '../ui/format.ts'
import { NOTHING, writeLook } from '../url.ts'
import { type Change, changeText } from './change.ts'

/** Marks on the chart where a configuration changed; a click shows the change and the first error after it. */
export function Marks({ log, data, width }: { log: Log; data: Histogram; width: number }) {
  const { changes } = log
  const { data: known } = useLoaded(
    async (signal) => (await changes?.(MOST, signal)) ?? [],
    `${data.from} ${data.to} ${log.sources?.nodes}`,
  )
  const place = (ms: number) => ((ms - data.from) / (data.to - data.from)) * width
  const marks = grouped(known ?? [], data, place)
  return (
    <fieldset class="changes" aria-label="Changes of the configuration" hidden={marks.length === 0}>
      {marks.map((group) => {
        const first = group[0]!
        const name = `Change of the configuration at ${log.clock.wall(first.time).slice(0, 19)}: ${textOf(group)}`
        return (
          <Button
            key={`${first.time} ${first.node}`}
            aria-label={name}
            title={name}
            aria-pressed={log.change?.time === first.time}
            style={{ left: `${place(first.time)}px` }}
            onClick={() => log.showChange(group)}
          />
        )
      })}
    </fieldset>
  )
}

/** A change that was clicked, above the records that follow it. */
export function ChangeNote({ log }: { log: Log }) {
  const group = log.change?.group
  if (group === undefined) return null
  const { time, node } = group[0]!
  const shown = log.made?.seen ?? null
  const error = log.made?.selectedMoment() ?? null
  const hash = writeLook({ ...NOTHING, history: String(time) })
  return (
    <div class="change" role="status">
      <span class="sign" aria-hidden="true">
        ◆
      </span>
      <span>
        {log.clock.wall(time).slice(5, 19)} <strong>{textOf(group)}</strong>
      </span>
      {error !== null && shown !== null && error >= time && (
        <span class="dim">
          First error {error - time < 1000 ? 'at once' : `${span(Math.floor((error - time) / 1000))} later`}
        </span>
      )}
      <a class="button" href={node === null ? hash : `nodes/${encodeURIComponent(node)}/${hash}`}>
        History
      </a>
      <Button icon="close" class="quiet" aria-label="Close the change" onClick={() => log.showChange(null)} />
    </div>
  )
}

function textOf(group: Change[]): string {
  const all = group.flatMap(({ node, changes }) =>
    changes.map((change) => `${node === null ? '' : `${node}: `}${changeText(change)}`),
  )
  return all.slice(0, FEW).join(', ') + (all.length > FEW ? ` and ${all.length - FEW} more` : '')
}

/** The changes of settings inside the chart, oldest first; those too close to be told apart are one mark. */
function grouped(changes: Change[], { from, to }: Histogram, place: (ms: number) => number): Change[][] {
  const groups: Change[][] = []
  for (const change of [...changes].sort((a, b) => a.time - b.time)) {
    if (change.changes.length === 0 || change.time < from || change.time > to) continue
    const last = groups.at(-1)
    if (last !== undefined && place(change.time) - place(last[0]!.time) < NEAR) last.push(change)
    else groups.push([change])
  }
  return groups
}

/** Versions that are asked for of each node, the newest ones. */
const MOST = 200
const FEW = 3
const NEAR = 14
