import type { ConfigVersion, Histogram } from '../../client.ts'
import type { Log } from '../log/use-log.ts'
import { Button } from '../ui/controls.tsx'
import { useToolbar } from '../ui/toolbar.ts'
import { useLoaded } from '../ui/use-loaded.ts'
import { NOTHING } from '../url.ts'
import { changeText } from './history.tsx'

/** Marks on the chart where the configuration changed; a click opens the change. */
export function Marks({ log, data, width }: { log: Log; data: Histogram; width: number }) {
  const { data: versions } = useLoaded(
    (signal) => log.client.history({ limit: MOST, signal }),
    `${data.from} ${data.to}`,
  )
  const box = useToolbar()
  const place = (ms: number) => ((ms - data.from) / (data.to - data.from)) * width
  const marks = grouped(versions?.entries ?? [], data, place)
  return (
    <div
      ref={box}
      class="changes"
      role="toolbar"
      aria-label="Changes of the configuration"
      hidden={marks.length === 0}
    >
      {marks.map((group) => {
        const first = group[0]!
        const changes = group.flatMap((version) => version.changes)
        const more = changes.length > FEW ? ` and ${changes.length - FEW} more` : ''
        const name = `Change of the configuration at ${log.clock.wall(first.time).slice(0, 19)}: ${changes.slice(0, FEW).map(changeText).join(', ')}${more}`
        return (
          <Button
            key={first.time}
            aria-label={name}
            title={name}
            style={{ left: `${place(first.time)}px` }}
            onClick={() => log.acts.leave({ ...NOTHING, history: String(first.time) })}
          />
        )
      })}
    </div>
  )
}

/** The versions inside the chart that changed a setting, oldest first; those too close to be told apart are one mark. */
function grouped(versions: ConfigVersion[], { from, to }: Histogram, place: (ms: number) => number) {
  const groups: ConfigVersion[][] = []
  for (const version of [...versions].reverse()) {
    if (version.changes.length === 0 || version.time < from || version.time > to) continue
    const last = groups.at(-1)
    if (last !== undefined && place(version.time) - place(last[0]!.time) < NEAR) last.push(version)
    else groups.push([version])
  }
  return groups
}

/** Versions that are asked for, the newest ones. */
const MOST = 200
const FEW = 3
const NEAR = 14
