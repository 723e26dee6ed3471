import { useEffect, useRef } from 'preact/hooks'
import { base } from '../base.ts'
import { Button } from '../ui/controls.tsx'

const KEYS: [string, string][] = [
  ['/', 'Search the log, or filter the nodes'],
  ['n  N', 'Next and previous hit; without a filter, error'],
  ['f', 'Follow the log, or stop following'],
  ['g  G', 'Go to the beginning, to the end'],
  ['t', 'Choose a time range, or go to a time'],
  ['d', 'What is different in the chosen range'],
  ['j  k  ↓  ↑', 'Next and previous record'],
  ['Enter', 'Expand or collapse the record'],
  ['a', 'Show the lines around the record'],
  ['o', 'Others at this moment: all logs and nodes'],
  ['e', 'Show or hide fields and patterns'],
  ['w', 'Toggle wrapping of long lines'],
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
        <Button icon="close" class="quiet" aria-label="Close help" onClick={() => dialog.current?.close()} />
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
        Click a record to expand it, Shift-click another to select everything between them. Click a value, or
        select a word, to filter by it. Drag over the chart to choose a time range, or click a bar to go
        there.
      </p>
      <p>
        The search field understands conditions: <code>status&gt;=500</code>, <code>duration&gt;1s</code>,{' '}
        <code>path:/x</code>, <code>path~/api/*</code>, <code>level:error</code>, <code>-text</code>,{' '}
        <code>"two words"</code>, <code>/regex/</code>.
      </p>
      <p>
        Everything here comes from an HTTP API, described in{' '}
        <a href={new URL('openapi.json', base).href}>openapi.json</a>.
      </p>
    </dialog>
  )
}
