import { useEffect } from 'preact/hooks'
import { LogView } from '../log/view.tsx'
import { Fleet } from '../node/fleet.tsx'
import { Failure } from '../ui/failure.tsx'
import { later } from '../ui/later.tsx'
import { carryTo, NOTHING, titleOf } from '../url.ts'
import { type PageProps, Top } from './top.tsx'
import { useLook } from './use-look.ts'

const Compare = later(() => import('../parts.ts').then((parts) => parts.Compare))
const FleetTimeline = later(() => import('../parts.ts').then((parts) => parts.FleetTimeline))

/** The root of a fleet: its nodes, their logs as one, or where their configurations differ. */
export function FleetPage({ page, error }: { page: PageProps; error: Error | null }) {
  const { client, nodes, session } = page
  const place = useLook()
  const { look, go } = place
  const home = () => go(NOTHING)
  const reading = look.file !== null && look.nodes.length > 0
  useEffect(() => {
    document.title = [titleOf(look), 'Fleet', 'nodestate'].filter(Boolean).join(' · ')
  }, [titleOf(look)])
  return (
    <div class={`app ${reading ? 'at-log' : 'at-node'}`}>
      <Top page={page} name="Fleet" home={home} />
      {nodes !== null && reading ? (
        <FleetTimeline
          key={session.session}
          LogView={LogView}
          ids={nodes.map(({ id }) => id).sort()}
          {...page}
          {...place}
          home={home}
          failed={(failure) => void (failure !== null && session.refused(failure))}
        />
      ) : (
        <main class="alone">
          {look.compare.length > 0 ? (
            <Compare client={client} nodes={look.compare} close={home} />
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
