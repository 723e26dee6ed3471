import { apart, markOf, type Sources } from '../log/record/source.ts'
import type { Log } from '../log/use-log.ts'
import { Button } from '../ui/controls.tsx'
import { useToolbar } from '../ui/toolbar.ts'
import { carryTo, type Look, toggled } from '../url.ts'

/** The logs and nodes that are read as one: each can be hidden or shown alone, and says why it is missing. */
export function SourceChips({ log, sources }: { log: Log; sources: Sources }) {
  const { look, acts } = log
  const { missing = {}, settled = null } = log.made?.window ?? {}
  const box = useToolbar()
  const { files, nodes } = sources
  const kinds = [nodes, files].filter((names) => names.length > 1)
  /** Patterns become names, so that what is hidden can be told from what was never chosen. */
  const hide = (hidden: string[]) => {
    // One of each kind stays.
    if ([files, nodes].some((names) => names.length > 0 && names.every((name) => hidden.includes(name))))
      return
    acts.apply({ ...pickNames(look, sources), hidden })
  }
  const extra = Object.entries(missing).filter(([name]) => !files.includes(name) && !nodes.includes(name))
  return (
    <div ref={box} class="chips sources" role="toolbar" aria-label="Logs read as one">
      <ul>
        {kinds.flatMap((names) =>
          names.map((name) => {
            const hidden = look.hidden.includes(name)
            const others = names.filter((each) => each !== name)
            const alone = others.every((each) => look.hidden.includes(each)) && !hidden
            const rest = look.hidden.filter((each) => !names.includes(each))
            return (
              <SourceChip
                key={name}
                name={name}
                sources={sources}
                hidden={hidden}
                alone={alone}
                reason={missing[name]}
                toggle={() => hide(toggled(look.hidden, name))}
                solo={() => hide(alone ? rest : [...rest, ...others])}
              />
            )
          }),
        )}
        {extra.map(([name, reason]) => (
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
  name: string
  sources: Sources
  hidden: boolean
  alone: boolean
  /** Why it is not in the answer. */
  reason: string | undefined
  toggle: () => void
  solo: () => void
}

function SourceChip({ name, sources, hidden, alone, reason, toggle, solo }: ChipProps) {
  const marked = apart(sources).includes(name)
  const { letter, colour } = markOf(sources, name)
  return (
    <li class={`chip source${hidden || reason !== undefined ? ' missing' : ''}`}>
      {marked && (
        <span class="o" style={{ borderColor: colour }} aria-hidden="true">
          {letter}
        </span>
      )}
      <Button
        class="what"
        aria-pressed={!hidden}
        title={hidden ? 'Show it again' : 'Hide it'}
        onClick={toggle}
      >
        {name}
        {reason !== undefined && `: ${reasonText(reason)}`}
      </Button>
      <Button class="solo" aria-pressed={alone} aria-label={`Only ${name}`} onClick={solo}>
        {alone ? 'all' : 'only'}
      </Button>
    </li>
  )
}

function pickNames(look: Look, { files, nodes }: Sources): Pick<Look, 'file' | 'others' | 'nodes'> {
  const { file, others, nodes: named } = carryTo(look, [...files], { nodes: [...nodes] })
  return { file, others, nodes: named }
}

/** A problem's code as words: `storage timeout`. */
function reasonText(code: string): string {
  return code.replaceAll('-', ' ')
}
