import { LEVELS } from '../../../client.ts'
import { Button } from '../../ui/controls.tsx'
import { count } from '../../ui/format.ts'
import { useToolbar } from '../../ui/toolbar.ts'
import { type Totals, totalAt } from '../chart/totals.ts'
import type { Log } from '../use-log.ts'
import { isFiltered } from './query.ts'
import { Range } from './range.tsx'
import { SearchField } from './search-field.tsx'

/** What to look for: text or pattern, level, time, rotated files; and whether the rest is shown, too. */
export function Finder({ log }: { log: Log }) {
  const { look, totals, acts } = log
  const { apply } = acts
  const levels = hasLevels(totals) || (log.made?.columns.filled.has('l') ?? false)
  const { level, rotated, all } = look
  const form = useToolbar<HTMLFormElement>()
  const filtered = isFiltered(look)
  return (
    <form
      ref={form}
      class="finder"
      aria-label="Find in this log"
      // Enter belongs to the field.
      onSubmit={(event) => event.preventDefault()}
    >
      <SearchField log={log} />
      <div class="filters" role="toolbar" aria-label="Filters">
        {(levels || level !== '') && (
          <fieldset class="levels">
            <legend class="hidden">Level</legend>
            {['', ...LEVELS.slice(1)].map((each) => (
              <Button
                key={each}
                class={each === '' ? 'lv-all' : `lv-${each}`}
                aria-pressed={level === each}
                title={each === '' ? 'Records of every level' : levelTitle(each, totals)}
                onClick={() => apply({ level: level === each ? '' : each })}
              >
                {each === '' ? 'All' : each}
                {each !== '' && <Tally totals={totals} level={each} />}
              </Button>
            ))}
          </fieldset>
        )}
        <Range log={log} />
        {(log.isRotated || rotated) && (
          <Button
            class="rotate"
            aria-pressed={rotated}
            title="Read this log together with the files it was rotated into"
            onClick={() => apply({ rotated: !rotated })}
          >
            Include rotated
          </Button>
        )}
        {filtered && (
          <fieldset class="mode">
            <legend class="hidden">What to show</legend>
            <Button aria-pressed={!all} onClick={() => apply({ all: false })}>
              Only hits
            </Button>
            <Button aria-pressed={all} onClick={() => apply({ all: true })}>
              All lines
            </Button>
          </fieldset>
        )}
        {filtered && (
          <Button class="quiet" onClick={() => apply({ level: '', terms: [], all: false })}>
            Clear
          </Button>
        )}
      </div>
    </form>
  )
}

function hasLevels(totals: Totals | null): boolean {
  return Object.entries(totals?.counts ?? {}).some(([name, count]) => name !== 'none' && count > 0)
}

function levelTitle(level: string, totals: Totals | null): string {
  const sum = totals === null ? '' : ` (${count(totalAt(totals, level))})`
  return `Records of level ${level} and above${sum}`
}

/** How many records a click on this level shows, as far as they were counted. Its room is there before the number. */
function Tally({ totals, level }: { totals: Totals | null; level: string }) {
  const sum = totals === null ? 0 : totalAt(totals, level)
  // An estimate of nothing does not mean that there is nothing.
  if (totals === null || (totals.estimated && sum === 0)) return <span class="tally" />
  const { complete, estimated } = totals
  return (
    <span class="tally">
      {estimated ? '≈' : ''}
      {short(sum)}
      {complete || estimated || sum === 0 ? '' : '+'}
    </span>
  )
}

function short(value: number): string {
  if (value < 10_000) return count(value)
  if (value < 1_000_000) return `${Math.round(value / 1000)}k`
  return `${(value / 1_000_000).toFixed(1)}M`
}
