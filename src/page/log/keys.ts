import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Reader } from './reader.ts'

/** What the view itself does at a key; the rest is the reader's. */
export interface KeyActs {
  toggleFollow: () => void
  toggleWrap: () => void
  copyText: (columns: boolean) => void
  showAround: (seq: number) => void
  /** The time of the log's first record, or null. */
  first: string | null
}

/** The keys of a log, wherever the focus is, but for fields and dialogs. */
export function useLogKeys(
  reader: RefObject<Reader | null>,
  box: RefObject<HTMLElement | null>,
  { toggleFollow, toggleWrap, copyText, showAround, first }: KeyActs,
): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const from = event.target as HTMLElement
      if (reader.current === null || event.ctrlKey || event.metaKey || event.altKey) return
      if (from.closest('dialog, [role=dialog]') !== null) return
      if (from.matches('input, textarea, select')) {
        if (event.key === 'Escape') box.current?.focus()
        return
      }
      const act = actsOf(reader.current, box.current!)[event.key]
      if (act === undefined) return
      // Enter and Space on a button are the button's own.
      if ((event.key === 'Enter' || event.key === ' ') && from.matches('button, a, summary')) return
      event.preventDefault()
      act()
    }
    const actsOf = (made: Reader, list: HTMLElement): Record<string, () => void> => {
      const screen = list.clientHeight - 40
      return {
        f: toggleFollow,
        w: toggleWrap,
        g: () => void made.begin(first),
        Home: () => void made.begin(first),
        G: () => void made.end(),
        End: () => void made.end(),
        n: () => void made.hit(1),
        N: () => void made.hit(-1),
        j: () => made.step(1),
        ArrowDown: () => made.step(1),
        k: () => made.step(-1),
        ArrowUp: () => made.step(-1),
        PageDown: () => made.list.scrollBy(screen),
        ' ': () => made.list.scrollBy(screen),
        PageUp: () => made.list.scrollBy(-screen),
        c: () => copyText(true),
        C: () => copyText(false),
        Enter: () => made.selected !== null && made.toggle(made.selected.to),
        a: () => made.selected !== null && showAround(made.selected.to),
        Escape: () => made.unselect(),
      }
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [reader, box, toggleFollow, toggleWrap, copyText, showAround, first])
}
