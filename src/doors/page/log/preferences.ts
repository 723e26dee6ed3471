import { useRemembered } from '../ui/store.ts'
import { toggled } from '../url.ts'

export const TABS = ['fields', 'patterns', 'groups'] as const
export type PanelTab = (typeof TABS)[number]

/** How the user likes to read every log; kept in the browser. */
export function usePreferences() {
  const [wrap, setWrap] = useRemembered('wrap', 'off')
  const [panel, showPanel] = useRemembered('panel', 'off')
  const tab: PanelTab | null = panel === 'off' ? null : (TABS.find((each) => each === panel) ?? 'fields')
  return {
    wrap: wrap === 'on',
    toggleWrap: () => setWrap(wrap === 'on' ? 'off' : 'on'),
    tab,
    showPanel,
    togglePanel: () => showPanel(panel === 'off' ? 'fields' : 'off'),
  }
}

/** Which columns the reader does not want to see, kept in the browser. */
export function useColumns() {
  const [choice, setChoice] = useRemembered('hidden-columns', '')
  const hidden = choice.split(',').filter(Boolean)
  return {
    hidden,
    toggle: (name: string) => setChoice(toggled(hidden, name).join(',')),
    classes: hidden.map((name) => `no-${name}`),
  }
}
