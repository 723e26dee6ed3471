import { useState } from 'preact/hooks'
import { Button } from '../../ui/controls.tsx'
import { count } from '../../ui/format.ts'
import { useLoaded } from '../../ui/use-loaded.ts'
import type { Log } from '../use-log.ts'
import { fieldsQueryOf } from './query.ts'
import { completions, type Reading, readingText, readTyped } from './typed.ts'

/** Something to choose under the search field. */
interface Option {
  key: string
  label: string
  count?: number
  choose: () => void
}

interface Choices {
  /** Takes what is typed as conditions. */
  filter: (reading: Reading) => void
  /** Takes what is typed as text. */
  search: (text: string) => void
  /** Puts another text into the field. */
  complete: (text: string) => void
}

/** What a typed text can become: conditions, a text, or a longer text; the fields of the log are asked for when needed. */
export function useSuggestions(log: Log, typed: string, active: boolean, choices: Choices) {
  const query = fieldsQueryOf(log.look)
  const { data, error } = useLoaded(
    (signal) => log.client.fields(query, { signal }),
    JSON.stringify(query),
    active && log.ready,
  )
  const fields = data?.fields ?? []
  const names = new Set(fields.map(({ name }) => name))
  const read = (text: string) => readTyped(text, names)
  const reading = read(typed)
  const [at, setAt] = useState(-1)
  const options: Option[] = []
  if (active && reading !== null) {
    const offers = [
      { key: 'filter', label: `Filter: ${readingText(reading)}`, choose: () => choices.filter(reading) },
      { key: 'text', label: `Text: ${typed}`, choose: () => choices.search(typed) },
    ]
    options.push(...(reading.isLikely ? offers : offers.reverse()))
  }
  if (active)
    for (const { text, label, count } of completions(typed, fields))
      options.push({ key: text, label, count, choose: () => choices.complete(text) })
  return {
    read,
    options,
    /** Whether it is not known yet which fields the log has. */
    pending: data === null && error === null,
    at: Math.min(at, options.length - 1),
    setAt,
  }
}

export const OPTIONS = 'find-options'

export function optionId(index: number): string {
  return `${OPTIONS}-${index}`
}

/** The list under the search field. The keyboard stays in the field, which says which of them is chosen. */
export function Suggestions({ options, at }: Pick<ReturnType<typeof useSuggestions>, 'options' | 'at'>) {
  if (options.length === 0) return null
  return (
    <div id={OPTIONS} class="panel options" role="listbox" aria-label="What this can mean">
      {options.map((option, index) => (
        <Button
          key={option.key}
          id={optionId(index)}
          role="option"
          aria-selected={index === at}
          tabIndex={-1}
          // The field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={option.choose}
        >
          <span class="text">{option.label}</span>
          {option.count !== undefined && <span class="count">{count(option.count)}</span>}
        </Button>
      ))}
    </div>
  )
}
