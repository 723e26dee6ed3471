import type { TargetedKeyboardEvent } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button, Icon } from '../../ui/controls.tsx'
import type { Log } from '../use-log.ts'
import { fieldsQueryOf } from './query.ts'
import { searchOf, withSearch } from './terms.ts'
import { readTyped, withReading } from './typed.ts'

/** The field to search in: text, a pattern, or conditions such as `status>=500`, which become filters. */
export function SearchField({ log }: { log: Log }) {
  const { look, acts, reader, client } = log
  const { kind, value: searched = '' } = searchOf(look) ?? {}
  const [find, setFind] = useState(searched)
  const [regex, setRegex] = useState(kind === 'regex')
  /** Whether what is in the field was applied since it was typed. */
  const applied = useRef(true)
  useLayoutEffect(() => {
    // What is being typed stays.
    if (!applied.current) return
    setFind(searched)
    if (kind !== undefined) setRegex(kind === 'regex')
  }, [searched, kind])
  const pending = find !== searched
  const typed = useRef(find)
  typed.current = find
  const fields = async () => {
    const found = await client.fields(fieldsQueryOf(look)).catch(() => null)
    return new Set(found?.fields.map(({ name }) => name))
  }
  const commit = async (text: string) => {
    if (text === searched) applied.current = true
    if (applied.current) return
    applied.current = true
    let reading = regex ? null : readTyped(text, NO_NAMES)
    // `a:b` is a condition where the log has such a field, and otherwise a text.
    if (reading !== null && !reading.isLikely) reading = readTyped(text, await fields())
    // Something else was typed meanwhile.
    if (typed.current !== text) return
    if (reading?.isLikely) setFind('')
    acts.apply(reading?.isLikely ? withReading(look, reading) : withSearch(look, text, regex))
  }
  const onKey = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    const field = event.currentTarget
    if (event.key === 'Escape') {
      // At once: the keys of the log lead away from the field, which would apply what is in it.
      field.value = searched
      applied.current = true
      setFind(searched)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      if (field.value === searched && searched !== '') void reader.current?.hit(-1)
      else void commit(field.value)
      log.box.current?.focus()
    }
  }
  return (
    <div class="find">
      <Icon name="search" />
      <input
        type="search"
        data-find
        placeholder={regex ? 'Find by regular expression' : 'Find text, or status>=500'}
        aria-label="Find in the log"
        aria-describedby="find-hint"
        value={find}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => {
          applied.current = false
          setFind(event.currentTarget.value)
        }}
        onKeyDown={onKey}
        onBlur={(event) => void commit(event.currentTarget.value)}
      />
      <span id="find-hint" class="enter">
        {pending && (
          <>
            <kbd>Enter</kbd> {!regex && readTyped(find, NO_NAMES)?.isLikely ? 'to filter' : 'to search'}
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
    </div>
  )
}

const NO_NAMES: ReadonlySet<string> = new Set()
