import { useEffect, useRef, useState } from 'preact/hooks'
import { type Client, type FleetNode, ProblemError } from '../../client.ts'
import { ConfigView } from '../config/view.tsx'
import { familyOf, logNames, successorOf } from '../files/group.ts'
import { sourcesOf } from '../files/sources.ts'
import { LogView } from '../log/view.tsx'
import { NodeFacts } from '../node/facts.tsx'
import { explain, Failure } from '../ui/failure.tsx'
import { Icon } from '../ui/icons.tsx'
import { later } from '../ui/later.tsx'
import { useSlow } from '../ui/store.ts'
import { carry, carryTo, filesOf, isMerged, type Look, NOTHING, titleOf, writeLook } from '../url.ts'
import { Side, Waiting } from './side.tsx'
import { Top, type TopProps } from './top.tsx'
import { useFiles } from './use-files.ts'
import { useAnswer } from './use-fresh.ts'
import { useLook } from './use-look.ts'
import type { useSession } from './use-session.ts'

const History = later(() => import('../parts.ts').then((parts) => parts.History))

interface Props {
  client: Client
  session: ReturnType<typeof useSession>
  /** The nodes of the fleet that this node is one of. */
  nodes: FleetNode[] | null
  /** The node's id in its fleet, or null. */
  own: string | null
  top: Pick<TopProps, 'theme' | 'setTheme' | 'showHelp' | 'signOut'>
  say: (message: string) => void
}

/** A node: its logs, and the chosen log or the configuration. */
export function NodePage({ client, session: { session, refused, retry }, nodes, own, top, say }: Props) {
  const { look, visit, carried, go, note } = useLook()
  const { answer: node, error: nodeError } = useAnswer(
    (signal) => client.config({ signal, detail: true }),
    60,
    { session, refused },
  )
  const {
    files,
    error: filesError,
    gone,
    now,
  } = useFiles({ client, session, refused, chosen: isMerged(look) ? null : look.file })
  const [logError, setLogError] = useState<Error | null>(null)
  /** The moment that the log on the screen shows. */
  const moment = useRef<() => string>(() => '')
  useEffect(() => {
    document.title = [titleOf(look), node?.node.hostName, 'nodestate'].filter(Boolean).join(' · ')
  }, [node, titleOf(look)])
  const waiting = useSlow(node === null && nodeError === null)
  const absent = own !== null && nodes !== null && !nodes.some((each) => each.id === own)
  const lost = absent ? null : (node !== null && nodeError) || (files !== null && filesError) || null
  const logs = logNames(files ?? [])
  const sources = sourcesOf(look, logs)
  const pick = (chosen: string[]) => go(carryTo(look, chosen, { time: moment.current() }))
  /** To the page of the fleet, where the logs of several nodes are read as one. */
  const toFleet = (from: Look, files: string[], { ids, time }: { ids: string[]; time: string }) =>
    location.assign(`../../${writeLook(carryTo(from, files, { nodes: ids, time }))}`)
  /** All logs, on a fleet of all nodes, as far as the service reads so many as one. */
  const toOthers = (time: string) => {
    const all = own === null ? 0 : (nodes?.length ?? 0)
    const few = logs.length * Math.max(1, all) <= MOST || look.file === null
    if (all > 1 && all <= MOST) toFleet(NOTHING, few ? ['*'] : [look.file!], { ids: ['*'], time })
    else go(carryTo(NOTHING, logs.length <= MOST ? ['*'] : logs.slice(0, MOST), { time }))
  }
  const showHistory = (history: string) => go({ ...NOTHING, history })
  const mainError = look.file === null ? nodeError : logError
  const name = node?.node.hostName ?? (own || (nodeError === null ? ' ' : 'Node'))
  return (
    <div class={`app ${look.file === null ? 'at-node' : 'at-log'}`}>
      <SkipLink to={look.file === null ? 'configuration' : 'records'} />
      <Top node={node} fallback={name} now={now} home={() => go(NOTHING)} {...top} />
      {lost !== null && (
        <p class="banner" role="alert">
          <strong>{explain(lost).title}.</strong> {explain(lost).advice} This page keeps trying.
        </p>
      )}
      <Side
        files={files}
        // What the main part says already is not said again.
        error={absent || sameProblem(filesError, mainError) ? null : filesError}
        nodes={nodes}
        own={own}
        look={look}
        now={now}
        waiting={waiting}
        open={(file) => go(carry(look, file, moment.current()))}
        picked={sources?.files ?? filesOf(look)}
        pick={pick}
        read={(ids) =>
          toFleet(look, look.file === null ? ['*'] : filesOf(look), { ids, time: moment.current() })
        }
        retry={retry}
      />
      <main>
        {absent ? (
          <div class="node">
            <Failure error={noNode()} />
            <p>
              <a class="all-nodes" href="../../">
                All nodes
              </a>
            </p>
          </div>
        ) : look.file !== null ? (
          <LogView
            key={`${look.file}:${session}:${visit}`}
            client={client}
            node={name}
            look={look}
            carried={carried}
            file={files?.find((file) => file.name === look.file) ?? null}
            family={familyOf(files ?? [], look.file)}
            gone={gone ? { heir: successorOf(files ?? [], look.file) } : null}
            sources={sources}
            toOthers={logs.length > 1 || (own !== null && (nodes?.length ?? 0) > 1) ? toOthers : null}
            moment={moment}
            theme={top.theme}
            configured={node !== null}
            open={(file) => go(carry(look, file, moment.current()))}
            home={() => go({ ...carry(look, '', moment.current()), file: null })}
            go={(next) => {
              if (JSON.stringify(next) !== JSON.stringify(look)) go(next)
            }}
            note={note}
            say={say}
            failed={(error) => {
              if (error !== null) refused(error)
              setLogError(error)
            }}
          />
        ) : (
          <div class="node">
            {node === null && nodeError !== null && <Failure error={nodeError} remedies={{ retry }} />}
            {node === null && nodeError === null && waiting && <Waiting>Contacting the node</Waiting>}
            {look.history !== '' ? (
              <History client={client} chosen={look.history} now={now} choose={showHistory} say={say} />
            ) : (
              node !== null && (
                <>
                  <NodeFacts config={node} now={now} />
                  <ConfigView text={node.config} say={say}>
                    <button type="button" class="small" onClick={() => showHistory('all')}>
                      <Icon name="clock" /> History
                    </button>
                    {own !== null && (
                      <a class="button" href="../../#compare=*">
                        Compare
                      </a>
                    )}
                  </ConfigView>
                </>
              )
            )}
          </div>
        )}
      </main>
    </div>
  )
}

function sameProblem(a: Error | null, b: Error | null): boolean {
  return a !== null && b !== null && explain(a).title === explain(b).title
}

function noNode(): ProblemError {
  return new ProblemError({ status: 404, code: 'unknown-node', title: '', detail: '' })
}

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

/** Logs that a service reads as one at most. */
const MOST = 32
