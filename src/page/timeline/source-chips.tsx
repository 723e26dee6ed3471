import { apart, markOf, type Sources } from '../log/record/source.ts'
import type { Log } from '../log/use-log.ts'
import { Button } from '../ui/controls.tsx'
import { useToolbar } from '../ui/toolbar.ts'
import { toggled } from '../url.ts'

/** The logs and nodes that are read as one: each can be hidden or shown alone, and says why it is missing. */
export function SourceChips({ log, sources }: { log: Log; sources: Sources }) {
  const { look } = log
  const { missing = [], settled = null } = log.made?.window ?? {}
  const box = useToolbar()
  const { files, nodes } = sources
  const kinds = [nodes, files].filter((names) => names.length > 1)
  /** Patterns become names, so that what is hidden can be told from what was never chosen. */
  const hide = (hidden: string[]) => {
    // One of each kind stays.
    if ([files, nodes].some((names) => names.length > 0 && names.every((name) => hidden.includes(name))))
      return
    const [file = null, ...others] = files
    log.acts.apply({ file, others, nodes: [...nodes], hidden })
  }
  const extra = missing.filter(({ name }) => !files.includes(name) && !nodes.includes(name))
  return (
    <div ref={box} class="chips sources" role="toolbar" aria-label="Logs read as one">
      <ul>
        {kinds.flatMap((names) =>
          names.map((name) => (
            <SourceChip key={name} log={log} sources={sources} name={name} names={names} hide={hide} />
          )),
        )}
        {extra.map(({ name, reason }) => (
          <li key={name} class="chip source missing">
            <span class="what">
              {name.startsWith('+') ? `${name} more missing` : `${name}: ${reasonText(reason)}`}
            </span>
          </li>
        ))}
      </ul>
      <label class="stack">
        Stack by{' '}
        <select value={look.by} onChange={(event) => log.go({ ...look, by: event.currentTarget.value })}>
          <option value="">level</option>
          <option value="file">log</option>
          {nodes.length > 0 && <option value="node">node</option>}
        </select>
      </label>
      {settled !== null && <span class="dim">Complete up to {log.clock.wall(settled).slice(5, 19)}</span>}
    </div>
  )
}

interface ChipProps {
  log: Log
  sources: Sources
  name: string
  /** All of its kind: logs, or nodes. */
  names: readonly string[]
  hide: (names: string[]) => void
}

function SourceChip({ log, sources, name, names, hide }: ChipProps) {
  const { letter, colour } = markOf(sources, name)
  const reason = log.made?.window.missing.find((each) => each.name === name)?.reason
  const all = log.look.hidden
  const hidden = all.includes(name)
  const rest = all.filter((each) => !names.includes(each))
  const others = names.filter((each) => each !== name)
  const alone = !hidden && others.every((each) => all.includes(each))
  return (
    <li class={`chip source${hidden || reason !== undefined ? ' missing' : ''}`}>
      {apart(sources).includes(name) && (
        <span class="o" style={{ borderColor: colour }} aria-hidden="true">
          {letter}
        </span>
      )}
      <Button
        class="what"
        aria-pressed={!hidden}
        title={hidden ? 'Show it again' : 'Hide it'}
        onClick={() => hide(toggled(all, name))}
      >
        {name}
        {reason !== undefined && `: ${reasonText(reason)}`}
      </Button>
      <Button
        class="solo"
        aria-pressed={alone}
        aria-label={`Only ${name}`}
        onClick={() => hide(alone ? rest : [...rest, ...others])}
      >
        {alone ? 'all' : 'only'}
      </Button>
    </li>
  )
}

/** A problem's code as words: `storage timeout`. */
function reasonText(code: string): string {
  return code.replaceAll('-', ' ')
}
