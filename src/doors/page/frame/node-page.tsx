import { useEffect, useState } from 'preact/hooks'
import { ProblemError } from '../../client.ts'
import { ConfigView } from '../config/view.tsx'
import { Files } from '../files/files.tsx'
import { familyOf, logNames, successorOf } from '../files/group.ts'
import { sourcesOf } from '../log/record/source.ts'
import { LogView } from '../log/view.tsx'
import { NodeFacts } from '../node/facts.tsx'
import { FleetLinks } from '../node/fleet.tsx'
import { Button } from '../ui/controls.tsx'
import { explain, Failure } from '../ui/failure.tsx'
import { later } from '../ui/later.tsx'
import { useSlow } from '../ui/store.ts'
import { carry, carryTo, filesOf, isMerged, type Look, NOTHING, titleOf, writeLook } from '../url.ts'
import { type PageProps, Top } from './top.tsx'
import { useFiles } from './use-files.ts'
import { useAnswer } from './use-fresh.ts'
import { useLook } from './use-look.ts'

const Blame = later(() => import('../parts.ts').then((parts) => parts.Blame))
const History = later(() => import('../parts.ts').then((parts) => parts.History))

/** A node: its logs, and the chosen log or the configuration. `own` is its id in its fleet, or null. */
export function NodePage({ page, own }: { page: PageProps; own: string | null }) {
  const { client, nodes, say, session: asking } = page
  const { session, refused, retry } = asking
  const place = useLook()
  const { look, moment, go } = place
  const { answer: node, error: nodeError } = useAnswer(
    (signal) => client.config({ signal, detail: true }),
    60,
    asking,
  )
  const listed = useFiles(client, isMerged(look) ? null : look.file, asking)
  const { files } = listed
  const [blamed, setBlamed] = useState(false)
  const Config = (blamed ? Blame : ConfigView) as typeof Blame
  const [logError, setLogError] = useState<Error | null>(null)
  useEffect(() => {
    document.title = [titleOf(look), node?.node.hostName, 'nodestate'].filter(Boolean).join(' · ')
  }, [node, titleOf(look)])
  const waiting = useSlow(node === null && nodeError === null)
  const absent = own !== null && nodes !== null && !nodes.some((each) => each.id === own)
  const lost = absent ? null : (node !== null && nodeError) || (files !== null && listed.error) || null
  const logs = logNames(files ?? [])
  const sources = sourcesOf(look, logs)
  /** To the page of the fleet, where the logs of several nodes are read as one. */
  const toFleet = (from: Look, files: string[], { ids, time }: { ids: string[]; time: string }) =>
    location.assign(`../../${writeLook(carryTo(from, files, { nodes: ids, time }))}`)
  const fleetSize = own === null ? 0 : (nodes?.length ?? 0)
  /** All logs, on a fleet those of all nodes, unless there are more than the service merges. */
  const toOthers = (time: string) => {
    const few = logs.length * Math.max(1, fleetSize) <= MOST || look.file === null
    if (fleetSize > 1 && fleetSize <= MOST) toFleet(NOTHING, few ? ['*'] : [look.file!], { ids: ['*'], time })
    else go(carryTo(NOTHING, logs.length <= MOST ? ['*'] : logs.slice(0, MOST), { time }))
  }
  /** Reads logs together: as many as the service merges, the newest of all. */
  const pick = (chosen: string[]) => {
    const names = chosen[0] === '*' && logs.length > MOST ? logs : chosen
    if (names.length > MOST) say(`Only ${MOST} logs are read at once: the first ${MOST} of ${names.length}`)
    go(carryTo(look, names.slice(0, MOST), { time: moment.current() }))
  }
  const open = (file: string) => go(carry(look, file, moment.current()))
  const changes = async (limit: number, signal: AbortSignal) =>
    (await client.history({ limit, signal })).entries.map((each) => ({ ...each, node: null }))
  const showHistory = (history: string) => go({ ...NOTHING, history })
  const mainError = look.file === null ? nodeError : logError
  const name = node?.node.hostName ?? (own || (nodeError === null ? ' ' : 'Node'))
  return (
    <div class={`app ${look.file === null ? 'at-node' : 'at-log'}`}>
      {!absent && <SkipLink to={look.file === null ? 'configuration' : 'records'} />}
      <Top page={page} name={name} home={() => go(NOTHING)} />
      {lost !== null && (
        <p class="banner bad" role="alert">
          <strong>{explain(lost).title}.</strong> {explain(lost).advice} This page keeps trying.
        </p>
      )}
      <nav class="side" aria-label="Logs">
        {own !== null && nodes !== null && (
          <FleetLinks
            nodes={nodes}
            own={own}
            look={look}
            read={(ids) =>
              toFleet(look, look.file === null ? ['*'] : filesOf(look), { ids, time: moment.current() })
            }
          />
        )}
        <h2>Logs</h2>
        {files !== null ? (
          <Files
            files={files}
            look={look}
            open={open}
            picked={sources?.files ?? filesOf(look)}
            pick={pick}
            sources={sources}
          />
        ) : listed.error === null ? (
          waiting && <Waiting>Loading</Waiting>
        ) : (
          // What the main part says already is not said again.
          !absent &&
          !isSameProblem(listed.error, mainError) && <Failure error={listed.error} remedies={{ retry }} />
        )}
      </nav>
      <main>
        {absent ? (
          <div class="node">
            <Failure error={nodeError instanceof ProblemError ? nodeError : NO_NODE} />
            <a class="button all-nodes" href="../../">
              All nodes
            </a>
          </div>
        ) : look.file !== null ? (
          <LogView
            {...page}
            {...place}
            key={`${look.file}:${session}:${place.visit}`}
            node={name}
            own={fleetSize > 1 ? own : null}
            file={files?.find((file) => file.name === look.file) ?? null}
            isRotated={familyOf(files ?? [], look.file).length > 1}
            gone={listed.gone ? { heir: successorOf(files ?? [], look.file) } : null}
            sources={sources}
            toOthers={logs.length > 1 || fleetSize > 1 ? toOthers : null}
            changes={node === null ? null : changes}
            open={open}
            home={() => go({ ...carry(look, '', moment.current()), file: null })}
            failed={(error) => {
              if (error !== null) refused(error)
              setLogError(error)
            }}
          />
        ) : (
          <div class="node">
            {node === null && nodeError !== null && <Failure error={nodeError} remedies={{ retry }} />}
            {waiting && <Waiting>Contacting the node</Waiting>}
            {look.history !== '' ? (
              <History client={client} chosen={look.history} choose={showHistory} say={say} />
            ) : (
              node !== null && (
                <>
                  <NodeFacts config={node} />
                  <Config client={client} own={fleetSize > 1 ? own : null} text={node.config} say={say}>
                    <Button
                      class="small"
                      aria-pressed={blamed}
                      title="When each line changed, the errors around that, and which nodes differ"
                      onClick={() => setBlamed(!blamed)}
                    >
                      Blame
                    </Button>
                    <Button icon="clock" class="small" onClick={() => showHistory('all')}>
                      History
                    </Button>
                    {own !== null && (
                      <a class="button" href="../../../#compare=*">
                        Compare
                      </a>
                    )}
                  </Config>
                </>
              )
            )}
          </div>
        )}
      </main>
    </div>
  )
}

function Waiting({ children }: { children: string }) {
  return (
    <p class="hint" role="status">
      {children}
    </p>
  )
}

function isSameProblem(a: Error | null, b: Error | null): boolean {
  return a !== null && b !== null && explain(a).title === explain(b).title
}

const NO_NODE = new ProblemError({ status: 404, code: 'unknown-node', title: '', detail: '' })

/** For the keyboard: past the logs and the filters. */
function SkipLink({ to }: { to: string }) {
  return (
    <a
      class="skip"
      href={`#${to}`}
      onClick={(event) => {
        // The fragment belongs to the look.
        event.preventDefault()
        document.getElementById(to)?.focus()
      }}
    >
      Skip to the {to}
    </a>
  )
}

/** The most logs that a service merges. */
const MOST = 150
