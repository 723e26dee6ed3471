import { useState } from 'preact/hooks'
import { Drop } from '../ui/drop.tsx'
import { remembered } from '../ui/store.ts'

/** The columns by their class, in the order of the rows. */
const COLUMNS: [name: string, label: string][] = [
  ['t', 'Time'],
  ['d', 'Time since the record above'],
  ['l', 'Level'],
  ['s', 'Source'],
  ['g', 'Tags'],
  ['c', 'Context'],
]

const hiddenChoice = remembered('hidden-columns', 'd')

/** Which columns the reader does not want to see, kept in the browser. */
export function useColumns() {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(
    () => new Set(hiddenChoice.get().split(',').filter(Boolean)),
  )
  const toggle = (name: string) => {
    const next = new Set(hidden)
    if (!next.delete(name)) next.add(name)
    hiddenChoice.set([...next].join(','))
    setHidden(next)
  }
  return { hidden, toggle, classes: [...hidden].map((name) => ` hide-${name}`).join('') }
}

interface Props {
  hidden: ReadonlySet<string>
  /** The columns that this log fills. */
  filled: ReadonlySet<string>
  toggle: (name: string) => void
}

export function ColumnsMenu({ hidden, filled, toggle }: Props) {
  const shown = COLUMNS.filter(([name]) => name === 'c' || filled.has(name === 'd' ? 't' : name))
  return (
    <Drop icon="columns" label="Columns" title="Choose the columns">
      {shown.map(([name, label]) => (
        <label class="check" key={name}>
          <input type="checkbox" checked={!hidden.has(name)} onChange={() => toggle(name)} />
          {label}
        </label>
      ))}
    </Drop>
  )
}
