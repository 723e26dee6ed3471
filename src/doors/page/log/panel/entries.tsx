import type { ComponentChildren } from 'preact'
import type { Level } from '../../../client.ts'
import { Button } from '../../ui/controls.tsx'

/** A line of a panel: a value, a kind of message or a group. A click shows only its records. */
export interface Entry {
  key: string
  text: string
  title?: string
  /** How long the bar behind it is, from 0 to 1. */
  share?: number
  level?: Level | null
  figures: string[]
  isChosen?: boolean
  choose: () => void
  hide?: () => void
  below?: ComponentChildren
}

interface Props {
  class: string
  /** The heading of the entries and those of their figures; for those who do not see the table, if `isPlain`. */
  headings: ComponentChildren[]
  isPlain?: boolean
  /** What the records of an entry are called: `with status: 503`. */
  spoken: (text: string) => string
  entries: readonly Entry[]
}

/** What the records consist of, as a table with a bar, figures and a button that hides the records of a line. */
export function Entries({ class: name, headings, isPlain = false, spoken, entries }: Props) {
  return (
    <table class={`entries ${name}`}>
      <thead class={isPlain ? 'hidden' : ''}>
        <tr>{headings}</tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.key} class={entry.level ? `lv-${entry.level}` : ''}>
            <td class="value">
              {entry.share !== undefined && (
                <span class="share" style={{ width: `${Math.max(1, entry.share * 100)}%` }} />
              )}
              <Button
                class="pick"
                title={entry.title}
                aria-label={`Only records ${spoken(entry.text)}`}
                aria-pressed={entry.isChosen}
                onClick={entry.choose}
              >
                {entry.text}
              </Button>
              {entry.below}
            </td>
            {entry.figures.map((figure, index) => (
              <td key={index} class="count">
                {figure}
              </td>
            ))}
            {entry.hide && (
              <td>
                <Button class="hide" aria-label={`Hide records ${spoken(entry.text)}`} onClick={entry.hide}>
                  −
                </Button>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
