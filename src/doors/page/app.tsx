import { useEffect, useRef, useState } from 'preact/hooks'
import type { Client } from '../client.ts'
import { FleetPage } from './frame/fleet-page.tsx'
import { Help } from './frame/help.tsx'
import { NodePage } from './frame/node-page.tsx'
import { useAnswer } from './frame/use-fresh.ts'
import { SignIn } from './session/signin.tsx'
import { useSession } from './session/use-session.ts'
import { takesText, useListener } from './ui/listener.ts'
import { useRemembered } from './ui/store.ts'

interface Props {
  client: Client
  /** The fleet that this node is one of, and the node's id in it; null for a node on its own. */
  fleet: { client: Client; own: string } | null
  /** Whether this is the root of a fleet, which has nodes and no logs. */
  root: boolean
  /** Whether the logs are made up, for those who try the page. */
  sample: boolean
}

/** The page: a node, or the nodes of a fleet. */
export function App({ client, fleet, root, sample }: Props) {
  const { said, say } = useToast()
  const [help, setHelp] = useState(false)
  const [theme, setTheme] = useTheme()
  const session = useSession()
  const nodesAt = root ? client : fleet?.client
  const { answer, error } = useAnswer(
    nodesAt === undefined ? null : (signal) => nodesAt.nodes({ signal }),
    30,
    session,
  )
  const nodes = answer?.entries ?? null
  const showHelp = () => setHelp(true)
  usePageKeys(showHelp)
  if (session.asked !== 'no') return <SignIn refused={session.asked === 'refused'} enter={session.enter} />
  const page = { client, session, nodes, theme, setTheme, showHelp, say }
  return (
    <>
      {sample && (
        <p class="banner sample">
          <strong>These are sample logs.</strong> To see your own, run{' '}
          <code>nodestate serve --logs DIRECTORY</code>
        </p>
      )}
      {root ? <FleetPage page={page} error={error} /> : <NodePage page={page} own={fleet?.own ?? null} />}
      <p class={said === '' ? 'toast' : 'toast shown'} role="status" aria-live="polite">
        {said}
      </p>
      {help && <Help close={() => setHelp(false)} />}
    </>
  )
}

/** The colours: `auto`, `light` or `dark`, kept in the browser. */
function useTheme() {
  const [theme, setTheme] = useRemembered('theme', 'auto')
  useEffect(() => {
    document.documentElement.dataset.theme = theme
  }, [theme])
  return [theme, setTheme] as const
}

/** A sentence at the foot of the page, for a few seconds. */
function useToast() {
  const [said, setSaid] = useState('')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const say = (message: string) => {
    setSaid(message)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setSaid(''), 3500)
  }
  return { said, say }
}

/** Keys that work everywhere: help, and the field to search in. */
function usePageKeys(showHelp: () => void): void {
  useListener(document, 'keydown', (event: KeyboardEvent) => {
    const from = event.target as HTMLElement
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (takesText(from) || from.closest('dialog') !== null) return
    if (event.key === '?') showHelp()
    else if (event.key === '/') {
      const field = document.querySelector<HTMLInputElement>('[data-find]')
      if (field === null) return
      event.preventDefault()
      field.focus()
      field.select()
    }
  })
}
