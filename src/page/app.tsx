import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type Client, ProblemError } from '../client.ts'
import { ConfigView } from './config/view.tsx'
import { Files } from './files/files.tsx'
import { familyOf } from './files/group.ts'
import type { ListedFile } from './files/order.ts'
import { Top } from './frame/top.tsx'
import { useFiles } from './frame/use-files.ts'
import { useFleet } from './frame/use-fleet.ts'
import { useNode } from './frame/use-node.ts'
import { useSession } from './frame/use-session.ts'
import { LogView } from './log/view.tsx'
import { NodeFacts } from './node/facts.tsx'
import { Fleet, FleetLinks } from './node/fleet.tsx'
import { explain, Failure } from './ui/failure.tsx'
import { Help } from './ui/help.tsx'
import { SignIn } from './ui/signin.tsx'
import { remembered, useSlow } from './ui/store.ts'
import { type Look, NOTHING, readLook, writeLook } from './url.ts'

const themeChoice = remembered('theme', 'auto')

interface Props {
  client: Client
  /** The fleet that this node is one of, and the node's id in it; null for a node on its own. */
  fleet: { client: Client; own: string } | null
}

/** The page: the node, its logs, and the chosen log or configuration; or the nodes of a fleet. */
export function App({ client, fleet }: Props) {
  const [look, setLook] = useState<Look>(() => readLook(location.hash))
  const [visit, setVisit] = useState(0)
  const [theme, setTheme] = useState(themeChoice.get())
  const [help, setHelp] = useState(false)
  const { said, say } = useToast()
  const { asked, session, refused, enter, leave, retry } = useSession()
  const { node, error: nodeError } = useNode({ client, session, refused })
  const { files, error: filesError, now } = useFiles({ client, session, refused })

  // The root of a fleet has no configuration: it answers with its nodes instead.
  const nowhere = nodeError instanceof ProblemError && nodeError.status === 404
  const { nodes } = useFleet({ client: fleet?.client ?? (nowhere ? client : null), session, refused })

  const go = useCallback((next: Look) => {
    const hash = writeLook(next)
    history.pushState(null, '', hash === '' ? location.pathname + location.search : hash)
    setLook(next)
  }, [])
  const note = useCallback((next: Look) => {
    history.replaceState(null, '', writeLook(next) || location.pathname + location.search)
    setLook(next)
  }, [])
  useEffect(() => {
    // Back, forward, and a link that is pasted into the address: it may name another place in the same log.
    const onPop = () => {
      setLook(readLook(location.hash))
      setVisit((count) => count + 1)
    }
    addEventListener('popstate', onPop)
    return () => removeEventListener('popstate', onPop)
  }, [])
  useEffect(() => {
    document.documentElement.dataset.theme = theme
    themeChoice.set(theme)
  }, [theme])
  useEffect(() => {
    const name = node?.node.hostName
    document.title = [look.file, name, 'nodestate'].filter(Boolean).join(' · ')
  }, [node, look.file])
  usePageKeys(() => setHelp(true))

  const waiting = useSlow(node === null && nodeError === null)
  if (asked !== 'no') return <SignIn refused={asked === 'refused'} enter={enter} />
  const chosen = files?.find((file) => file.name === look.file) ?? null
  const atFleet = fleet === null && nowhere && nodes !== null
  const lost = (node !== null && nodeError) || (files !== null && filesError) || null
  return (
    <div class={`app ${look.file === null ? 'at-node' : 'at-log'}`}>
      <Top
        node={node}
        fallback={atFleet ? 'Fleet' : nodeError === null ? ' ' : 'Node'}
        now={now}
        theme={theme}
        home={() => go(NOTHING)}
        setTheme={setTheme}
        showHelp={() => setHelp(true)}
        signOut={leave}
      />
      {lost !== null && (
        <p class="banner" role="alert">
          <strong>{explain(lost).title}.</strong> {explain(lost).advice} This page keeps trying.
        </p>
      )}
      {atFleet ? (
        <main class="alone">
          <Fleet nodes={nodes} />
        </main>
      ) : (
        <>
          <nav class="side" aria-label="Logs">
            {fleet !== null && nodes !== null && <FleetLinks nodes={nodes} own={fleet.own} />}
            <h2>Logs</h2>
            {files === null && filesError !== null && <Failure error={filesError} retry={retry} />}
            {files === null && filesError === null && waiting && <Waiting>Loading</Waiting>}
            {files?.length === 0 && (
              <p class="hint" role="status">
                No logs yet. A log appears here as soon as the node writes one. If there should be some
                already, check which directory nodestate reads.
              </p>
            )}
            {files !== null && (
              <Files files={files} chosen={look.file} now={now} open={(file) => go({ ...NOTHING, file })} />
            )}
          </nav>
          <main>
            {look.file !== null ? (
              <LogView
                key={`${look.file}:${session}:${visit}`}
                client={client}
                look={look}
                file={chosen}
                oldest={oldestOf(files ?? [], look.file)}
                theme={theme}
                go={(next) => {
                  if (JSON.stringify(next) !== JSON.stringify(look)) go(next)
                }}
                note={note}
                say={say}
                failed={refused}
              />
            ) : (
              <div class="node">
                {node === null && nodeError !== null && <Failure error={nodeError} retry={retry} />}
                {node === null && nodeError === null && waiting && <Waiting>Contacting the node</Waiting>}
                {node !== null && (
                  <>
                    <NodeFacts config={node} now={now} />
                    <ConfigView text={node.config} say={say} />
                  </>
                )}
              </div>
            )}
          </main>
        </>
      )}
      <p class={said === '' ? 'toast' : 'toast shown'} role="status" aria-live="polite">
        {said}
      </p>
      {help && <Help close={() => setHelp(false)} />}
    </div>
  )
}

/** The time of the first record of a log with its rotated files. */
function oldestOf(files: ListedFile[], name: string): string | null {
  const times = familyOf(files, name).flatMap((file) => file.first ?? [])
  return times.reduce<string | null>((a, b) => (a === null || Date.parse(b) < Date.parse(a) ? b : a), null)
}

function Waiting({ children }: { children: string }) {
  return (
    <p class="hint" role="status">
      <span class="spinner" aria-hidden="true" /> {children}
    </p>
  )
}

/** A sentence at the foot of the page, for a few seconds. */
function useToast() {
  const [said, setSaid] = useState('')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const say = useCallback((message: string) => {
    setSaid(message)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setSaid(''), 3500)
  }, [])
  return { said, say }
}

/** Keys that work everywhere: help, and the field to search in. */
function usePageKeys(showHelp: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const from = event.target as HTMLElement
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (from.matches('input, textarea, select') || from.closest('dialog') !== null) return
      if (event.key === '?') showHelp()
      else if (event.key === '/') {
        const field = document.querySelector<HTMLInputElement>('[data-find]')
        if (field === null) return
        event.preventDefault()
        field.focus()
        field.select()
      }
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}
