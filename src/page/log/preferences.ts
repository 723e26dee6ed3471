import { useCallback, useState } from 'preact/hooks'
import { remembered } from '../ui/store.ts'

export type PanelTab = 'fields' | 'patterns'

const wrapChoice = remembered('wrap', 'off')
const panelChoice = remembered('panel', 'off')

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
