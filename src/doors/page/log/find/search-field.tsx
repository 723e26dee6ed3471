import type { TargetedKeyboardEvent } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../ui/controls.tsx'
import { Icon } from '../../ui/icons.tsx'
import type { Log } from '../use-log.ts'
import { OPTIONS, optionId, Suggestions, useSuggestions } from './suggest.tsx'
import { searchOf, withSearch } from './terms.ts'
import { type Reading, withReading } from './typed.ts'

/** The field to search in: text, a pattern, or conditions such as `status>=500`, which become filters. */
export function SearchField({ log }: { log: Log }) {
  const { look, acts, reader } = log
  const { kind, value: searched = '' } = searchOf(look) ?? {}
  const [find, setFind] = useState(searched)
  const [regex, setRegex] = useState(kind === 'regex')
  const [focused, setFocused] = useState(false)
  /** Enter was pressed before it was known which fields the log has. */
  const [asked, setAsked] = useState(false)
  /** Whether what is in the field was applied since it was typed. */
  const applied = useRef(true)
  useLayoutEffect(() => {
    // What is being typed stays.
    if (!applied.current) return
    setFind(searched)
    if (kind !== undefined) setRegex(kind === 'regex')
  }, [searched, kind])
  const pending = find !== searched
  const suggested = useSuggestions(log, find, pending && !regex && (focused || asked), {
    search: (text) => leave(() => search(text)),
    filter: (reading) => leave(() => filter(reading)),
    complete: setFind,
  })
  const { options, at } = suggested
  const search = (text: string) => acts.apply(withSearch(look, text, regex))
  const filter = (reading: Reading) => {
    setFind('')
    acts.apply(withReading(look, reading))
  }
  /** To the records. What is in the field then is not applied once more. */
  const leave = (act: () => void) => {
    applied.current = true
    setAsked(false)
    act()
    log.box.current?.focus()
  }
  const commit = (text: string) => {
    if (text === searched) applied.current = true
    if (applied.current) return
    const reading = regex ? null : suggested.read(text)
    if (reading !== null && !reading.isLikely && suggested.pending && !asked) return setAsked(true)
    applied.current = true
    setAsked(false)
    if (reading?.isLikely) filter(reading)
    else search(text)
  }
  useEffect(() => {
    if (asked && !suggested.pending) commit(find)
  }, [asked, suggested.pending])
  const onKey = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    const field = event.currentTarget
    if (event.key === 'Escape') {
      // At once: the keys of the log lead away from the field, which would apply what is in it.
      field.value = searched
      applied.current = true
      setFind(searched)
      setAsked(false)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      if (options[at] !== undefined) return options[at].choose()
      if (field.value === searched && searched !== '') void reader.current?.hit(-1)
      else commit(field.value)
      log.box.current?.focus()
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && options.length > 0) {
      event.preventDefault()
      const next = at + (event.key === 'ArrowDown' ? 1 : -1)
      suggested.setAt(next < -1 ? options.length - 1 : next >= options.length ? -1 : next)
    }
  }
  return (
    <div class="find">
      <Icon name="search" />
      <input
        type="search"
        // biome-ignore lint/a11y/noRedundantRoles: without a datalist, a search field is no combobox by itself
        role="combobox"
        data-find
        placeholder={regex ? 'Find by regular expression' : 'Find text, or status>=500'}
        aria-label="Find in the log"
        aria-describedby="find-hint"
        aria-autocomplete="list"
        aria-expanded={options.length > 0}
        aria-controls={options.length > 0 ? OPTIONS : undefined}
        aria-activedescendant={at >= 0 ? optionId(at) : undefined}
        value={find}
        spellcheck={false}
        autocomplete="off"
        list={undefined}
        onInput={(event) => {
          applied.current = false
          setFind(event.currentTarget.value)
          suggested.setAt(-1)
        }}
        onKeyDown={onKey}
        onFocus={() => setFocused(true)}
        onBlur={(event) => {
          setFocused(false)
          commit(event.currentTarget.value)
        }}
      />
      <span id="find-hint" class="enter">
        {pending && (
          <>
            <kbd>Enter</kbd> {suggested.read(find)?.isLikely && !regex ? 'to filter' : 'to search'}
          </>
        )}
      </span>
      <Button
        class="in"
        aria-pressed={regex}
        aria-label="Regular expression"
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => {
          setRegex(!regex)
          acts.apply(withSearch(look, find, !regex))
        }}
      >
        .*
      </Button>
      <Suggestions {...suggested} />
    </div>
  )
}
