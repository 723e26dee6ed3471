import type { Client, FleetNode } from '../../client.ts'
import icon from '../icon.svg'
import { token } from '../session/token.ts'
import type { useSession } from '../session/use-session.ts'
import { Button, type IconName } from '../ui/controls.tsx'
import { HOME } from '../url.ts'

const THEMES = ['auto', 'light', 'dark'] as const
const THEME_ICONS: Record<string, IconName> = { auto: 'auto', light: 'sun', dark: 'moon' }

export interface PageProps {
  client: Client
  session: ReturnType<typeof useSession>
  /** The nodes of the fleet; null where there is none, and until they are known. */
  nodes: FleetNode[] | null
  theme: string
  setTheme: (theme: string) => void
  showHelp: () => void
  say: (message: string) => void
}

interface Props {
  page: PageProps
  name: string
  home: () => void
}

/** The node's name, and the page's own settings. */
export function Top({ page: { theme, setTheme, showHelp, session }, name, home }: Props) {
  const chosen = theme === 'auto' ? 'as the system' : theme
  return (
    <header class="top">
      <a
        class="who"
        href={HOME}
        aria-label={`${name}: configuration and logs`}
        onClick={(event) => {
          event.preventDefault()
          home()
        }}
      >
        <img src={icon} alt="" width="22" height="22" />
        <h1>{name}</h1>
      </a>
      <span class="space" />
      <div class="tools">
        {token.get() !== null && (
          <Button class="quiet" onClick={session.leave}>
            Sign out
          </Button>
        )}
        <Button
          class="quiet"
          icon={THEME_ICONS[theme] ?? 'auto'}
          aria-label={`Colours: ${chosen}. Change`}
          title={`Colours: ${chosen}`}
          onClick={() => setTheme(THEMES[(THEMES.indexOf(theme as 'auto') + 1) % THEMES.length]!)}
        />
        <Button icon="help" class="quiet" aria-label="Help: keys" title="Keys (?)" onClick={showHelp} />
      </div>
    </header>
  )
}
