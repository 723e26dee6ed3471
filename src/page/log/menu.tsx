import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { useDismiss } from '../ui/dismiss.ts'
import type { Value } from './find/terms.ts'

export interface MenuActs {
  include: (value: Value) => void
  exclude: (value: Value) => void
  highlight: (value: Value) => void
  chart: (value: Value) => void
  copy: (value: Value) => void
}

/** A value that the reader chose, and where on the screen. */
export interface Chosen extends Value {
  x: number
  y: number
  /** Whether the keyboard moves into the menu; a selection of text keeps it, so that it can still be copied. */
  focus: boolean
}

/** What can be done with a value of a record. */
export function ValueMenu({ chosen, acts, close }: { chosen: Chosen; acts: MenuActs; close: () => void }) {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    // Set by script, which the page's policy allows, and kept inside the window.
    const menu = box.current!
    const { width, height } = menu.getBoundingClientRect()
    menu.style.left = `${Math.max(4, Math.min(chosen.x, innerWidth - width - 4))}px`
    menu.style.top = `${chosen.y + height > innerHeight - 4 ? Math.max(4, chosen.y - height - 24) : chosen.y}px`
  }, [chosen])
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null
    if (chosen.focus) box.current!.querySelector('button')!.focus()
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      event.stopPropagation()
      close()
      if (before?.isConnected) before.focus()
    }
    document.addEventListener('keydown', onKey, { capture: true })
    return () => document.removeEventListener('keydown', onKey, { capture: true })
  }, [chosen])
  useDismiss(box, true, close)
  const name = chosen.field === '' ? `“${brief(chosen.value)}”` : `${chosen.field}: ${brief(chosen.value)}`
  const entries: [string, (value: Value) => void][] = [
    ['Only records with this', acts.include],
    ['Hide records with this', acts.exclude],
    ['Highlight', acts.highlight],
    ['Only this value over time', acts.chart],
    ['Copy', acts.copy],
  ]
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const items = [...box.current!.querySelectorAll('button')]
    const at = items.indexOf(document.activeElement as HTMLButtonElement)
    items[(at + step + items.length) % items.length]!.focus()
  }
  return (
    <div ref={box} class="value-menu" role="menu" aria-label={name} tabIndex={-1} onKeyDown={move}>
      <p class="what">{name}</p>
      {entries.map(([label, act]) => (
        <button
          type="button"
          role="menuitem"
          key={label}
          // A click must not end the selection of text that the menu is about.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => {
            close()
            act(chosen)
          }}
        >
          {label}
        </button>
      ))}
    </div>
  )
}

/** Where a menu for a value belongs: under the part of the row that shows it. */
export function chosenAt(part: HTMLElement, value: Value): Chosen {
  const { left, bottom } = part.getBoundingClientRect()
  return { ...value, x: left, y: bottom + 2, focus: true }
}

/** The text that was selected with the mouse inside one cell of a row, if it is one worth searching for. */
export function chosenText(box: HTMLElement): Chosen | null {
  const selection = getSelection()
  if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return null
  const value = selection.toString().trim()
  if (value === '' || value.length > 200 || value.includes('\n')) return null
  const range = selection.getRangeAt(0)
  const inside = range.commonAncestorContainer
  const cell = (inside instanceof Element ? inside : inside.parentElement)?.closest('.line > span, .details')
  if (cell == null || !box.contains(cell)) return null
  const { left, bottom } = range.getBoundingClientRect()
  return { field: '', value, x: left, y: bottom + 2, focus: false }
}

function brief(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
