import { LEVELS } from '../../../client.ts'
import { Button } from '../../ui/controls.tsx'
import { count, counted } from '../../ui/format.ts'
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
  const filtered = isFiltered(look)
  return (
    <form
      class="finder"
      aria-label="Find in this log"
      // Enter belongs to the field.
      onSubmit={(event) => event.preventDefault()}
    >
      <SearchField log={log} />
      <Button
        class="unfold"
        icon="filter"
        aria-label="Filters"
        title="Show or hide the filters"
        aria-expanded={log.unfolded}
        onClick={() => log.setUnfolded(!log.unfolded)}
      />
      <div class="filters">
        {(levels || level !== '') && (
          <fieldset class="levels">
            <legend class="hidden">Level</legend>
            {['', ...LEVELS.slice(1)].map((each) => (
              <Button
                key={each}
                class={each === '' ? 'lv-all' : `lv-${each}`}
                aria-pressed={level === each}
                title={levelTitle(each, totals)}
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

/** What a click shows, which is more than the level itself: `Show warn and above: 180 records`. */
function levelTitle(level: string, totals: Totals | null): string {
  const sum = totals === null ? '' : `: ${counted(totalAt(totals, level), 'record')}`
  if (level === '') return `Show every level${sum}`
  return level === 'fatal' ? `Show only fatal${sum}` : `Show ${level} and above${sum}`
}

/** How many records have this level, as far as they were counted. Its room is there before the number. */
function Tally({ totals, level }: { totals: Totals | null; level: string }) {
  if (totals === null) return <span class="tally" />
  const own = totals.counts[level] ?? 0
  return (
    <span class="tally">
      {short(own)}
      {totals.complete || own === 0 ? '' : '+'}
    </span>
  )
}

function short(value: number): string {
  if (value < 10_000) return count(value)
  if (value < 1_000_000) return `${Math.round(value / 1000)}k`
  return `${(value / 1_000_000).toFixed(1)}M`
}
