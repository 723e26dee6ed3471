import { useCallback, useState } from 'preact/hooks'
import { remembered } from '../ui/store.ts'

export type PanelTab = 'fields' | 'patterns'

const wrapChoice = remembered('wrap', 'off')
const panelChoice = remembered('panel', 'off')
const hiddenChoice = remembered('hidden-columns', 'd')

/** How the user likes to read every log; kept in the browser. */
export function usePreferences() {
  const [wrap, setWrap] = useState(wrapChoice.get() === 'on')
  const [panel, setPanel] = useState(panelChoice.get())
  const toggleWrap = useCallback(() => {
    const on = wrapChoice.get() !== 'on'
    wrapChoice.set(on ? 'on' : 'off')
    setWrap(on)
  }, [])
  const showPanel = useCallback((which: PanelTab | 'off') => {
    panelChoice.set(which)
    setPanel(which)
  }, [])
  const togglePanel = useCallback(() => showPanel(panelChoice.get() === 'off' ? 'fields' : 'off'), [])
  const tab: PanelTab | null = panel === 'off' ? null : panel === 'patterns' ? 'patterns' : 'fields'
  return { wrap, toggleWrap, tab, showPanel, togglePanel }
}

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
  return { hidden, toggle, classes: [...hidden].map((name) => `no-${name}`) }
}
