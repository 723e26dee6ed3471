import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Listens to a target, or to what a ref holds, while the component is shown; the listener is always the latest one. */
export function useListener<E extends Event>(
  target: EventTarget | RefObject<EventTarget | null>,
  type: string,
  listener: (event: E) => void,
  capture = false,
): void {
  const current = useRef(listener)
  current.current = listener
  useEffect(() => {
    const heard = target instanceof EventTarget ? target : target.current!
    const abort = new AbortController()
    const options = { capture, passive: type === 'scroll', signal: abort.signal }
    heard.addEventListener(type, (event) => current.current(event as E), options)
    return () => abort.abort()
  }, [])
}

/** Whether an element takes the letters that are typed; a box to check takes none. */
export function takesText(part: HTMLElement): boolean {
  return part.matches('input:not([type=checkbox]), textarea, select')
}

/** Closes what is open in `box` at a click outside of it. */
export function useDismiss(box: RefObject<HTMLElement | null>, close: () => void): void {
  useListener(document, 'pointerdown', (event) => {
    if (!box.current?.contains(event.target as Node)) close()
  })
}

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
