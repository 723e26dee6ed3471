import { useEffect, useRef } from 'preact/hooks'
import { Icon } from './icons.tsx'

const KEYS: [string, string][] = [
  ['/', 'Find in the log or the configuration'],
  ['n  N', 'Next and previous hit'],
  ['f', 'Follow the log, or stop'],
  ['g  G', 'To the beginning, to the end'],
  ['j  k  ↓  ↑', 'Next and previous record'],
  ['Enter', 'Fold the record out or in'],
  ['a', 'Show the lines around the record'],
  ['w', 'Wrap long lines, or not'],
  ['c  C', 'Copy lines, or messages only'],
  ['Esc', 'Leave the field, clear the selection'],
  ['?', 'This help'],
]

export function Help({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close}>
      <header>
        <h2 id="help-title">Keys</h2>
        <button type="button" class="quiet" aria-label="Close help" onClick={() => dialog.current?.close()}>
          <Icon name="close" />
        </button>
      </header>
      <dl>
        {KEYS.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              {keys.split('  ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <p>
        Click a record to fold it out, Shift-click another to select all between. Drag over the chart to
        choose a time range, click a bar to go there.
      </p>
    </dialog>
  )
}
