import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type Client, type NodeConfig, ProblemError } from '../client.ts'
import { ConfigView } from './config/view.tsx'
import { Files, grown, inOrder, type ListedFile } from './files.tsx'
import { LogView } from './log/view.tsx'
import { NodeFacts } from './node.tsx'
import { explain, Failure } from './ui/failure.tsx'
import { ago, moment } from './ui/format.ts'
import { Help } from './ui/help.tsx'
import { Icon, type IconName } from './ui/icons.tsx'
import { SignIn } from './ui/signin.tsx'
import { remembered, token, useSlow } from './ui/store.ts'
import { HOME, type Look, NOTHING, readLook, sameQuery, writeLook } from './url.ts'

const themeChoice = remembered('theme', 'auto')
const THEMES = ['auto', 'light', 'dark'] as const
const THEME_ICONS: Record<string, IconName> = { auto: 'auto', light: 'sun', dark: 'moon' }

/** The page: who the node is, its logs, and the log or the configuration that was chosen. */
export function App({ client }: { client: Client }) {
  const [look, setLook] = useState<Look>(() => readLook(location.hash))
  const [node, setNode] = useState<NodeConfig | null>(null)
  const [nodeError, setNodeError] = useState<Error | null>(null)
  const [files, setFiles] = useState<ListedFile[] | null>(null)
  const [filesError, setFilesError] = useState<Error | null>(null)
  const [asked, setAsked] = useState<'no' | 'yes' | 'refused'>('no')
  const [session, setSession] = useState(0)
  const [visit, setVisit] = useState(0)
  const [theme, setTheme] = useState(themeChoice.get())
  const [help, setHelp] = useState(false)
  const [said, setSaid] = useState('')
  const [now, setNow] = useState(Date.now())
  const sayTimer = useRef<ReturnType<typeof setTimeout>>(undefined)

  const say = useCallback((message: string) => {
    setSaid(message)
    clearTimeout(sayTimer.current)
    sayTimer.current = setTimeout(() => setSaid(''), 3500)
  }, [])

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

  /** A 401 anywhere brings up the sign-in; true when it did. */
  const refused = useCallback((error: unknown): boolean => {
    if (!(error instanceof ProblemError) || error.status !== 401) return false
    // Several requests are refused at once: the first of them knows that there was a token.
    setAsked((before) => (token.get() !== null || before === 'refused' ? 'refused' : 'yes'))
    token.set(null)
    return true
  }, [])

  useFresh(
    async (signal) => {
      try {
        setNode(await client.config({ signal }))
        setNodeError(null)
        return 60_000
      } catch (error) {
        if (signal.aborted || refused(error)) return null
        setNodeError(error as Error)
        return 4_000
      }
    },
    [client, session],
  )

  const known = useRef('')
  const detailed = useRef(0)
  useFresh(
    async (signal) => {
      try {
        setNow(Date.now())
        // The plain list is cheap to ask for; the detailed one, which opens every file, only when files came or went.
        const plain = await client.list({ signal })
        const names = plain.map((file) => file.name).join('\n')
        if (names !== known.current || Date.now() - detailed.current > 120_000) {
          const detail = await client.detail({ signal }).catch(() => plain as ListedFile[])
          setFiles((before) => inOrder(detail, before))
          known.current = names
          detailed.current = Date.now()
        } else setFiles((before) => grown(before ?? [], plain))
        setFilesError(null)
        return plain.length === 0 ? 3_000 : 10_000
      } catch (error) {
        if (signal.aborted || refused(error)) return null
        setFilesError(error as Error)
        return 4_000
      }
    },
    [client, session],
  )

  useEffect(() => {
    document.documentElement.dataset.theme = theme
    themeChoice.set(theme)
  }, [theme])
  useEffect(() => {
    const name = node?.node.hostName
    document.title = [look.file, name, 'nodestate'].filter(Boolean).join(' · ')
  }, [node, look.file])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const from = event.target as HTMLElement
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (from.matches('input, textarea, select') || from.closest('dialog') !== null) return
      if (event.key === '?') setHelp(true)
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

  const waiting = useSlow(node === null && nodeError === null)
  if (asked !== 'no') {
    return (
      <SignIn
        refused={asked === 'refused'}
        enter={(value) => {
          token.set(value)
          setAsked('no')
          setSession(session + 1)
        }}
      />
    )
  }
  const system = theme === 'auto' ? 'by the system' : theme
  const chosen = files?.find((file) => file.name === look.file) ?? null
  const lost =
    nodeError !== null && node !== null
      ? nodeError
      : filesError !== null && files !== null
        ? filesError
        : null
  return (
    <div class={`app ${look.file === null ? 'at-node' : 'at-log'}`}>
      <header class="top">
        <a
          class="who"
          href={HOME}
          aria-label={`Node ${node?.node.hostName ?? ''}: configuration and logs`}
          onClick={(event) => {
            event.preventDefault()
            go(NOTHING)
          }}
        >
          <Mark />
          <h1>{node?.node.hostName ?? (nodeError === null ? ' ' : 'Node')}</h1>
        </a>
        {node !== null && (
          <p class="facts">
            <span>
              {node.node.hostIp}:{node.node.httpPort}
            </span>
            <span>v{node.node.version.replace(/^v/, '')}</span>
            <span title={moment(node.node.onlineTime)}>
              online {ago(node.node.onlineTime, now).replace(' ago', '')}
            </span>
          </p>
        )}
        <span class="space" />
        {token.get() !== null && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              token.set(null)
              setAsked('yes')
            }}
          >
            Sign out
          </button>
        )}
        <button
          type="button"
          class="quiet"
          aria-label={`Colours: ${system}. Change`}
          title={`Colours: ${system}`}
          onClick={() => setTheme(THEMES[(THEMES.indexOf(theme as 'auto') + 1) % THEMES.length]!)}
        >
          <Icon name={THEME_ICONS[theme] ?? 'auto'} />
        </button>
        <button
          type="button"
          class="quiet"
          aria-label="Help: keys"
          title="Keys (?)"
          onClick={() => setHelp(true)}
        >
          <Icon name="help" />
        </button>
      </header>
      {lost !== null && (
        <p class="banner" role="alert">
          <strong>{explain(lost).title}.</strong> {explain(lost).advice} This page keeps trying.
        </p>
      )}
      <nav class="side" aria-label="Logs">
        <h2>Logs</h2>
        {files === null && filesError !== null && (
          <Failure error={filesError} retry={() => setSession(session + 1)} />
        )}
        {files === null && filesError === null && waiting && (
          <p class="hint" role="status">
            <span class="spinner" aria-hidden="true" /> Loading
          </p>
        )}
        {files?.length === 0 && (
          <p class="hint" role="status">
            No logs yet. They will appear here as soon as the node writes one; if they should be here already,
            check which directory the service was told to read.
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
            theme={theme}
            go={(next) => {
              if (!sameQuery(next, look) || next.file !== look.file || next.at !== look.at) go(next)
            }}
            note={note}
            say={say}
            failed={refused}
          />
        ) : (
          <div class="node">
            {node === null && nodeError !== null && (
              <Failure error={nodeError} retry={() => setSession(session + 1)} />
            )}
            {node === null && nodeError === null && waiting && (
              <p class="hint" role="status">
                <span class="spinner" aria-hidden="true" /> Asking the node
              </p>
            )}
            {node !== null && (
              <>
                <NodeFacts node={node.node} now={now} />
                <ConfigView text={node.config} say={say} />
              </>
            )}
          </div>
        )}
      </main>
      <p class={said === '' ? 'toast' : 'toast shown'} role="status" aria-live="polite">
        {said}
      </p>
      {help && <Help close={() => setHelp(false)} />}
    </div>
  )
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="22" height="22" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" class="mark-ground" />
      <path d="M7 10h12M7 16h18M7 22h8" class="mark-lines" />
      <circle cx="22" cy="22" r="3" class="mark-dot" />
    </svg>
  )
}

/** Runs at once, and again after as many milliseconds as it returns; rests while the tab is hidden. */
function useFresh(run: (signal: AbortSignal) => Promise<number | null>, when: unknown[]): void {
  useEffect(() => {
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let due = false
    const turn = async () => {
      due = false
      const pause = await run(abort.signal)
      if (abort.signal.aborted || pause === null) return
      timer = setTimeout(() => {
        if (document.hidden) due = true
        else void turn()
      }, pause)
    }
    const shown = () => {
      if (!document.hidden && due) void turn()
    }
    document.addEventListener('visibilitychange', shown)
    void turn()
    return () => {
      abort.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', shown)
    }
  }, when)
}
