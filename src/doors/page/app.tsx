import { useState } from 'preact/hooks'
import type { Client } from '../client.ts'
import { FleetPage } from './frame/fleet-page.tsx'
import { Help } from './frame/help.tsx'
import { NodePage } from './frame/node-page.tsx'
import { useAnswer } from './frame/use-fresh.ts'
import { usePageKeys, useTheme, useToast } from './frame/use-page.ts'
import { SignIn } from './session/signin.tsx'
import { useSession } from './session/use-session.ts'

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
