import { useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from '../ui/controls.tsx'
import { useDismiss, useListener } from '../ui/listener.ts'
import type { Value } from './find/terms.ts'

/** What can be done with something, and where on the screen it is. */
export interface Choice {
  label: string
  entries: [name: string, act: () => void][]
  at: Spot
}

/** Where a menu opens. */
export interface Spot {
  x: number
  y: number
  /** Whether the keyboard moves into the menu; a selection of text keeps it, so that it can still be copied. */
  focus: boolean
}

/** A menu of what can be done with a value, a field or a column. */
export function Menu({ choice, close }: { choice: Choice; close: () => void }) {
  const { label, entries, at } = choice
  const box = useRef<HTMLDivElement>(null)
  const before = useRef<HTMLElement | null>(null)
  useLayoutEffect(() => {
    // Set by script, which the page's policy allows, and kept inside the window.
    const menu = box.current!
    const { width, height } = menu.getBoundingClientRect()
    menu.style.left = `${Math.max(4, Math.min(at.x, innerWidth - width - 4))}px`
    menu.style.top = `${at.y + height > innerHeight - 4 ? Math.max(4, at.y - height - 24) : at.y}px`
    before.current = document.activeElement as HTMLElement | null
    if (at.focus) menu.querySelector('button')!.focus()
  }, [choice])
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return
    event.stopPropagation()
    close()
    if (before.current?.isConnected) before.current.focus()
  }
  useListener(document, 'keydown', onKey, true)
  useDismiss(box, close)
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const items = [...box.current!.querySelectorAll('button')]
    const now = items.indexOf(document.activeElement as HTMLButtonElement)
    items[(now + step + items.length) % items.length]!.focus()
  }
  return (
    <div ref={box} class="value-menu" role="menu" aria-label={label} tabIndex={-1} onKeyDown={move}>
      <p class="what">{label}</p>
      {entries.map(([name, act]) => (
        <Button
          role="menuitem"
          key={name}
          // A click must not end the selection of text that the menu is about.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => {
            close()
            act()
          }}
        >
          {name}
        </Button>
      ))}
    </div>
  )
}

export function spotUnder(part: HTMLElement): Spot {
  const { left, bottom } = part.getBoundingClientRect()
  return { x: left, y: bottom + 2, focus: true }
}

/** The text that was selected with the mouse inside one cell of a row, if it is one worth searching for. */
export function selectedText(box: HTMLElement): { value: Value; at: Spot } | null {
  const selection = getSelection()
  if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return null
  const value = selection.toString().trim()
  if (value === '' || value.length > 200 || value.includes('\n')) return null
  const range = selection.getRangeAt(0)
  const inside = range.commonAncestorContainer
  const cell = (inside instanceof Element ? inside : inside.parentElement)?.closest('.line > span, .details')
  if (cell == null || !box.contains(cell)) return null
  const { left, bottom } = range.getBoundingClientRect()
  return { value: { field: '', value }, at: { x: left, y: bottom + 2, focus: false } }
}
