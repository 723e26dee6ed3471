import type { RefObject } from 'preact'
import { takesText, useListener } from '../ui/listener.ts'
import type { usePreferences } from './preferences.ts'
import type { Reader } from './reader/reader.ts'
import type { Acts } from './use-acts.ts'

/** What the view itself does at a key; the rest is the reader's. */
type KeyActs = Pick<Acts, 'toggleFollow' | 'copyText' | 'showAround' | 'showOthers'> &
  Pick<ReturnType<typeof usePreferences>, 'toggleWrap' | 'togglePanel'>

/** Keys that work on records: after one of them Enter belongs to the record, not to the button that was clicked last. */
const RECORD_KEYS = new Set('g G n N j k ArrowDown ArrowUp Home End PageDown PageUp'.split(' '))

/** The keys of a log, wherever the focus is, but for fields, dialogs and menus. */
export function useLogKeys(
  reader: RefObject<Reader | null>,
  box: RefObject<HTMLElement | null>,
  acts: KeyActs,
): void {
  useListener(document, 'keydown', (event: KeyboardEvent) => {
    const from = event.target as HTMLElement
    if (reader.current === null || event.ctrlKey || event.metaKey || event.altKey) return
    if (from.closest('dialog, [role=dialog], [role=menu]') !== null) return
    if (takesText(from)) {
      if (event.key === 'Escape') box.current?.focus()
      return
    }
    const act = actsOf(reader.current, box.current!, acts)[event.key]
    if (act === undefined) return
    // Enter and Space on a button are the button's own.
    if ((event.key === 'Enter' || event.key === ' ') && from.matches('button, a, summary, input')) return
    event.preventDefault()
    if (RECORD_KEYS.has(event.key)) box.current?.focus({ preventScroll: true })
    act()
  })
}

function actsOf(made: Reader, list: HTMLElement, acts: KeyActs): Record<string, () => void> {
  const screen = list.clientHeight - 40
  const begin = () => void made.begin()
  return {
    f: acts.toggleFollow,
    w: acts.toggleWrap,
    e: acts.togglePanel,
    t: () => document.querySelector<HTMLElement>('[data-range]')?.click(),
    d: () => {
      const ask = document.querySelector<HTMLElement>('.ask')
      if (ask === null) made.say('Select a range on the chart first')
      else ask.click()
    },
    g: begin,
    Home: begin,
    G: () => void made.end(),
    End: () => void made.end(),
    n: () => void made.hit(1),
    N: () => void made.hit(-1),
    j: () => made.step(1),
    ArrowDown: () => made.step(1),
    k: () => made.step(-1),
    ArrowUp: () => made.step(-1),
    PageDown: () => made.scroll(screen),
    ' ': () => made.scroll(screen),
    PageUp: () => made.scroll(-screen),
    c: () => acts.copyText(true),
    C: () => acts.copyText(false),
    Enter: () => made.selected !== null && made.toggle(made.selected.to),
    a: () => made.selected !== null && acts.showAround(made.selected.to),
    o: () => acts.showOthers(made.selected?.to ?? made.list.top().seq),
    Escape: () => made.mark(null),
  }
}
