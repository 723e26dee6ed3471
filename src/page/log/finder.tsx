import { useEffect, useState } from 'preact/hooks'
import { LEVELS } from '../../client.ts'
import { count } from '../ui/format.ts'
import { Icon } from '../ui/icons.tsx'
import { type Look, NOTHING } from '../url.ts'
import { isNarrowed } from './query.ts'
import { Range } from './range.tsx'

/** Records by level, as far as they were counted. */
export interface Totals {
  counts: Record<string, number>
  complete: boolean
}

interface Props {
  look: Look
  totals: Totals | null
  apply: (change: Partial<Look>) => void
  go: (look: Look) => void
  /** The same text again: on to the next hit. */
  again: () => void
  /** Where the keyboard goes when a text was entered. */
  leave: () => void
}

/** What to look for: text or pattern, level, time, rotated files; and whether the rest is shown, too. */
export function Finder({ look, totals, apply, go, again, leave }: Props) {
  const { regex, level, since, until, rotated, all } = look
  const [find, setFind] = useState(look.find)
  useEffect(() => setFind(look.find), [look.find])
  const filtered = isNarrowed(look)
  return (
    <form
      class="finder"
      aria-label="Find in this log"
      onSubmit={(event) => {
        event.preventDefault()
        const text = event.currentTarget.querySelector('input')!.value
        if (text === look.find && text !== '') again()
        else apply({ find: text })
        leave()
      }}
    >
      <label class="find">
        <Icon name="search" />
        <input
          type="search"
          data-find
          placeholder={regex ? 'Find by regular expression' : 'Find text'}
          aria-label="Find in the log"
          value={find}
          spellcheck={false}
          onInput={(event) => setFind(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            event.currentTarget.value = look.find
            setFind(look.find)
          }}
          onBlur={(event) => {
            if (event.currentTarget.value !== look.find) apply({ find: event.currentTarget.value })
          }}
        />
        <button
          type="button"
          class="in"
          aria-pressed={regex}
          aria-label="Regular expression"
          title="Regular expression"
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => apply({ regex: !regex, find })}
        >
          .*
        </button>
      </label>
      <fieldset class="levels">
        <legend class="hidden">Level</legend>
        {['', ...LEVELS.slice(1)].map((each) => (
          <button
            type="button"
            key={each}
            class={each === '' ? 'lv-all' : `lv-${each}`}
            aria-pressed={level === each}
            title={each === '' ? 'Records of every level' : `Records of level ${each} and above`}
            onClick={() => apply({ level: level === each ? '' : each })}
          >
            {each === '' ? 'All' : each}
            {each !== '' && totals !== null && <Tally totals={totals} from={each} />}
          </button>
        ))}
      </fieldset>
      <Range since={since} until={until} choose={(from, to) => apply({ since: from, until: to })} />
      <button
        type="button"
        aria-pressed={rotated}
        title="Read the log together with its rotated predecessors"
        onClick={() => apply({ rotated: !rotated })}
      >
        Include rotated
      </button>
      {filtered && (
        <fieldset class="mode">
          <legend class="hidden">What to show</legend>
          <button type="button" aria-pressed={!all} onClick={() => apply({ all: false })}>
            Only hits
          </button>
          <button type="button" aria-pressed={all} onClick={() => apply({ all: true })}>
            All lines
          </button>
        </fieldset>
      )}
      {filtered && (
        <button type="button" class="quiet" onClick={() => go({ ...NOTHING, file: look.file, rotated })}>
          Clear
        </button>
      )}
    </form>
  )
}

/** How many records a level button would show, as far as they were counted. */
function Tally({ totals: { counts, complete }, from }: { totals: Totals; from: string }) {
  const sum = LEVELS.slice(LEVELS.indexOf(from as (typeof LEVELS)[number])).reduce(
    (all, each) => all + (counts[each] ?? 0),
    0,
  )
  return (
    <span class="tally">
      {short(sum)}
      {complete || sum === 0 ? '' : '+'}
    </span>
  )
}

function short(value: number): string {
  if (value < 10_000) return count(value)
  if (value < 1_000_000) return `${Math.round(value / 1000)}k`
  return `${(value / 1_000_000).toFixed(1)}M`
}
