import { useEffect } from 'preact/hooks'
import type { Client, FleetNode } from '../../client.ts'
import { LogView } from '../log/view.tsx'
import { Fleet } from '../node/fleet.tsx'
import { Failure } from '../ui/failure.tsx'
import { later } from '../ui/later.tsx'
import { carryTo, NOTHING, titleOf } from '../url.ts'
import { Top, type TopProps } from './top.tsx'
import { useLook } from './use-look.ts'
import type { useSession } from './use-session.ts'

const Compare = later(() => import('../parts.ts').then((parts) => parts.Compare))
const FleetTimeline = later(() => import('../parts.ts').then((parts) => parts.FleetTimeline))

interface Props {
  client: Client
  nodes: FleetNode[] | null
  error: Error | null
  session: ReturnType<typeof useSession>
  top: Pick<TopProps, 'theme' | 'setTheme' | 'showHelp' | 'signOut'>
  say: (message: string) => void
}

/** The root of a fleet: its nodes, their logs as one, or where their configurations differ. */
export function FleetPage({ client, nodes, error, session, top, say }: Props) {
  const { look, visit, go, note } = useLook()
  const reading = look.file !== null && look.nodes.length > 0
  useEffect(() => {
    document.title = [titleOf(look), 'Fleet', 'nodestate'].filter(Boolean).join(' · ')
  }, [titleOf(look)])
  return (
    <div class={`app ${reading ? 'at-log' : 'at-node'}`}>
      <Top node={null} fallback="Fleet" now={Date.now()} home={() => go(NOTHING)} {...top} />
      {nodes !== null && reading ? (
        <FleetTimeline
          key={session.session}
          LogView={LogView}
          client={client}
          nodes={nodes}
          look={look}
          visit={visit}
          theme={top.theme}
          go={go}
          note={note}
          say={say}
          refused={session.refused}
        />
      ) : (
        <main class="alone">
          {look.compare.length > 0 ? (
            <Compare client={client} nodes={look.compare} close={() => go(NOTHING)} />
          ) : nodes !== null ? (
            <Fleet
              nodes={nodes}
              compare={(compare) => go({ ...NOTHING, compare })}
              read={(ids) => go(carryTo(NOTHING, ['*'], { nodes: ids }))}
            />
          ) : (
            error !== null && <Failure error={error} remedies={{ retry: session.retry }} />
          )}
        </main>
      )}
    </div>
  )
}
