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
