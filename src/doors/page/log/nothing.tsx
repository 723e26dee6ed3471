import { Button } from '../ui/controls.tsx'
import type { Look } from '../url.ts'
import { rangeText } from './find/moment.ts'
import { isNarrowed } from './find/query.ts'
import { levelText, termText } from './find/terms.ts'
import { readingText, readTyped } from './find/typed.ts'
import type { Log } from './use-log.ts'

/** Says that there is nothing to show, and offers to take back each condition. */
export function Nothing({ log }: { log: Log }) {
  const { look, acts, clock, file, made } = log
  if (!isNarrowed(look))
    return (
      <div class="over" role="status">
        <p class="title">This log is empty</p>
        <p>Nothing has been written yet. Follow it to see the first line as it arrives.</p>
      </div>
    )
  const { level, terms, since, until } = look
  const isTimed = since + until !== ''
  const conditions: { label: string; change: Partial<Look> }[] = [
    ...(level === '' ? [] : [{ label: levelText(level), change: { level: '' } }]),
    ...terms.map((term, index) => ({ label: termText(term), change: { terms: terms.toSpliced(index, 1) } })),
    ...(isTimed ? [{ label: rangeText(look, clock), change: { since: '', until: '' } }] : []),
  ]
  const clear = { level: '', terms: [], since: '', until: '', all: false }
  return (
    <div class="over" role="status">
      <p class="title">No record matches</p>
      {made?.window.notes.includes('unknown-field') && <p>This log does not seem to have such a field.</p>}
      {isTimed && file?.first && file.last && (
        <p>{`This log has records from ${clock.text(file.first)} to ${clock.text(file.last)}.`}</p>
      )}
      <ul class="without">
        {conditions.map(({ label, change }) => (
          <li key={label}>
            <Button class="small" onClick={() => acts.apply(change)}>{`Without ${label}`}</Button>
          </li>
        ))}
      </ul>
      {conditionsIn(look).map(({ text, change }) => (
        <p key={text}>
          “{text}” was searched for as text.{' '}
          <Button class="small" onClick={() => acts.apply(change)}>
            Filter: {readingText(readTyped(text, NO_NAMES)!)}
          </Button>
        </p>
      ))}
      <Button onClick={() => acts.apply(clear)}>Clear all filters</Button>
    </div>
  )
}

/** Texts that look like conditions, each with the change that makes it one. */
function conditionsIn(look: Look): { text: string; change: Partial<Look> }[] {
  return look.terms.flatMap((term, index) => {
    const reading = term.kind === 'q' ? readTyped(term.value, NO_NAMES) : null
    if (reading === null) return []
    const { level = look.level } = reading
    return [{ text: term.value, change: { level, terms: look.terms.toSpliced(index, 1, ...reading.terms) } }]
  })
}

const NO_NAMES: ReadonlySet<string> = new Set()
