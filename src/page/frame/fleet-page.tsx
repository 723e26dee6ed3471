import type { Client, FleetNode } from '../../client.ts'
import { Fleet } from '../node/fleet.tsx'
import { Failure } from '../ui/failure.tsx'
import { later } from '../ui/later.tsx'
import { NOTHING } from '../url.ts'
import { Top, type TopProps } from './top.tsx'
import { useLook } from './use-look.ts'

const Compare = later(() => import('../parts.ts').then((parts) => parts.Compare))

interface Props {
  client: Client
  nodes: FleetNode[] | null
  error: Error | null
  retry: () => void
  top: Pick<TopProps, 'theme' | 'setTheme' | 'showHelp' | 'signOut'>
}

/** The root of a fleet: its nodes, or where their configurations differ. */
export function FleetPage({ client, nodes, error, retry, top }: Props) {
  const { look, go } = useLook()
  return (
    <div class="app at-node">
      <Top node={null} fallback="Fleet" now={Date.now()} home={() => go(NOTHING)} {...top} />
      <main class="alone">
        {look.compare.length > 0 ? (
          <Compare client={client} nodes={look.compare} close={() => go(NOTHING)} />
        ) : nodes !== null ? (
          <Fleet nodes={nodes} compare={(compare) => go({ ...NOTHING, compare })} />
        ) : (
          error !== null && <Failure error={error} remedies={{ retry }} />
        )}
      </main>
    </div>
  )
}
