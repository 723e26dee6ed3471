import { useState } from 'preact/hooks'
import { Drop } from '../../ui/drop.tsx'
import { remembered } from '../../ui/store.ts'
import type { Look } from '../../url.ts'

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
  return { hidden, toggle, classes: [...hidden].map((name) => `hide-${name}`) }
}

interface Props {
  hidden: ReadonlySet<string>
  /** The columns that this log fills. */
  filled: Pick<ReadonlySet<string>, 'has'>
  toggle: (name: string) => void
  look: Look
  showColumns: (columns: string[]) => void
  showMessage: (on: boolean) => void
}

export function ColumnsMenu({ hidden, filled, toggle, look, showColumns, showMessage }: Props) {
  const shown = COLUMNS.filter(([name]) => name === 'c' || filled.has(name === 'd' ? 't' : name))
  return (
    <Drop icon="columns" label="Columns" title="Choose the columns">
      {shown.map(([name, label]) => (
        <label class="check" key={name}>
          <input type="checkbox" checked={!hidden.has(name)} onChange={() => toggle(name)} />
          {label}
        </label>
      ))}
      {look.columns.map((name) => (
        <label class="check" key={`field ${name}`}>
          <input
            type="checkbox"
            checked
            onChange={() => showColumns(look.columns.filter((each) => each !== name))}
          />
          {name}
        </label>
      ))}
      {look.columns.length > 0 && (
        <label class="check">
          <input type="checkbox" checked={look.message} onChange={() => showMessage(!look.message)} />
          Message
        </label>
      )}
    </Drop>
  )
}
