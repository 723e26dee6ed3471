import { Button } from '../../ui/controls.tsx'
import type { Log } from '../use-log.ts'
import { inverted, invertedLevel, levelText, termText } from './terms.ts'

/** Every condition but the time range and the buttons of levels as a chip that can be inverted or removed. */
export function Chips({ log }: { log: Log }) {
  const { look } = log
  const { apply } = log.acts
  const { terms } = look
  // A level and above is a button that is pressed.
  const exact = look.level.startsWith('=')
  if (terms.length === 0 && !exact) return null
  return (
    <ul class="chips" aria-label="Active filters">
      {exact && (
        <Chip
          label={levelText(look.level)}
          invert={() => apply({ level: invertedLevel(look.level) })}
          remove={() => apply({ level: '' })}
        />
      )}
      {terms.map((term, index) => (
        <Chip
          key={`${term.kind}:${term.value}`}
          label={termText(term)}
          not={termText(term).startsWith('not ') || termText(term).startsWith('without ')}
          {...(term.kind === 'pattern'
            ? {}
            : { invert: () => apply({ terms: terms.with(index, inverted(term)) }) })}
          remove={() => apply({ terms: terms.toSpliced(index, 1) })}
        />
      ))}
    </ul>
  )
}

interface ChipProps {
  label: string
  not?: boolean
  invert?: () => void
  remove: () => void
}

function Chip({ label, not = false, invert, remove }: ChipProps) {
  const shown = label.length > 80 ? `${label.slice(0, 80)}…` : label
  return (
    <li class={not ? 'chip not' : 'chip'}>
      {invert === undefined ? (
        <span class="what">{shown}</span>
      ) : (
        <Button class="what" title={not ? 'Include instead' : 'Exclude instead'} onClick={invert}>
          {shown}
        </Button>
      )}
      <Button icon="close" class="remove" aria-label={`Remove ${label}`} onClick={remove} />
    </li>
  )
}
