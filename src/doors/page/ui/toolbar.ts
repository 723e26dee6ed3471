import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useListener } from './listener.ts'

/** For a box whose buttons are one stop of the Tab key; the left and right arrows move between them. */
export function useToolbar<T extends HTMLElement = HTMLDivElement>(): RefObject<T | null> {
  const box = useRef<T>(null)
  const last = useRef<HTMLElement | null>(null)
  const items = () =>
    [...(box.current?.querySelectorAll<HTMLElement>('button, summary') ?? [])].filter(
      (each) => each.closest('.panel') === null && each.offsetParent !== null,
    )
  // After every drawing: buttons come and go.
  useEffect(() => {
    const all = items()
    const stop = last.current !== null && all.includes(last.current) ? last.current : all[0]
    for (const each of all) each.tabIndex = each === stop ? 0 : -1
  })
  useListener(box, 'focusin', ({ target }) => {
    const all = items()
    const now = all.find((each) => each === target)
    if (now === undefined) return
    last.current = now
    for (const each of all) each.tabIndex = each === now ? 0 : -1
  })
  useListener(box, 'keydown', (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    const all = items()
    const at = all.indexOf(event.target as HTMLElement)
    if (step === undefined || at < 0) return
    event.preventDefault()
    event.stopPropagation()
    all[(at + step + all.length) % all.length]!.focus()
  })
  return box
}
