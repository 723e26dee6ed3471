import { useRef } from 'preact/hooks'
import { put } from '../../ui/clipboard.ts'
import { Button } from '../../ui/controls.tsx'
import { readLook, titleOf } from '../../url.ts'
import { rangeText } from '../find/moment.ts'
import { isNarrowed } from '../find/query.ts'
import { levelText, termText } from '../find/terms.ts'
import type { Log } from '../use-log.ts'
import { searchHash, useSearches } from './searches.ts'

/** Searches with names, kept in this browser: open one, copy its link, save the one on the screen. */
export function SavedSearches({ log }: { log: Log }) {
  const { look, say, acts, clock } = log
  const { all, save, remove } = useSearches(look.nodes.length > 0)
  const field = useRef<HTMLInputElement>(null)
  const words = [
    ...(look.level === '' ? [] : [levelText(look.level)]),
    ...look.terms.map(termText),
    ...(look.since + look.until === '' ? [] : [rangeText(look, clock)]),
  ]
  const usual = `${titleOf(look)}${isNarrowed(look) ? `, ${words.join(', ')}` : ''}`.slice(0, LONGEST)
  return (
    <>
      <form
        class="save"
        onSubmit={(event) => {
          event.preventDefault()
          const name = field.current!.value.trim() || usual
          say(save(name, look) ? `Saved as “${name}”` : 'There are too many: remove a saved search first')
          field.current!.value = ''
        }}
      >
        <input ref={field} aria-label="Name of this search" placeholder={usual} maxLength={LONGEST} />
        <button type="submit">Save this search</button>
      </form>
      {all.map(({ name, hash }) => (
        <div class="saved" key={name}>
          <Button
            aria-current={hash === searchHash(look) ? 'true' : undefined}
            onClick={() => acts.leave(readLook(hash))}
          >
            {name}
          </Button>
          <Button
            icon="copy"
            aria-label={`Copy the link to ${name}`}
            title="Copy the link"
            onClick={() => void put(location.href.replace(/#.*|$/, hash), say, 'Link copied')}
          />
          <Button icon="close" aria-label={`Remove ${name}`} title="Remove" onClick={() => remove(name)} />
        </div>
      ))}
    </>
  )
}

const LONGEST = 80
