import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { base } from '../base.ts'
import type { Change } from '../config/change.ts'
import { SourceMark } from '../files/files.tsx'
import { logNames } from '../files/group.ts'
import { expanded, type Sources, sourcesOf } from '../log/record/source.ts'
import type { LogProps } from '../log/use-log.ts'
import { clientAt } from '../session/client-at.ts'
import { useLoaded } from '../ui/answered.tsx'
import { Check } from '../ui/controls.tsx'
import { count, counted } from '../ui/format.ts'
import { carryTo, filesOf, isPattern, NOTHING, toggled } from '../url.ts'

interface Props
  extends Pick<LogProps, 'client' | 'look' | 'moment' | 'home' | 'go' | 'note' | 'say' | 'failed'> {
  /** The view of a log, which the page has already. */
  LogView: ComponentType<LogProps>
  ids: string[]
  visit: number
}

/** Logs of several nodes as one, in order of time: as many nodes as are read at once, which the address then names. */
export function FleetTimeline({ LogView, ids, visit, ...log }: Props) {
  const { client, look, moment, go, note } = log
  const nodes = expanded(look.nodes, ids)
  const listed = nodes.slice(0, MOST)
  const { data, error } = useLoaded((signal) => client.list({ node: listed, signal }), JSON.stringify(listed))
  const logs = logNames(data?.entries ?? [])
  const sources = sourcesOf(look, logs, ids)
  const files = expanded(filesOf(look), logs)
  const read = (files: string[], nodes: string[]) =>
    go(
      files.length === 0 || nodes.length === 0
        ? NOTHING
        : carryTo(look, files, { nodes, time: moment.current() }),
    )
  const fitting = Math.max(1, Math.floor(MOST / Math.max(1, files.length)))
  const isTooMany = nodes.length > fitting
  // How many logs a pattern means is known once they are listed.
  const isUnknown = data === null && error === null && nodes.length > FEW && files.some(isPattern)
  useEffect(() => {
    if (!isUnknown && isTooMany) note({ ...look, nodes: nodes.slice(0, fitting) })
  }, [isUnknown, isTooMany])
  const left = ids.length - nodes.length
  return (
    <>
      <nav class="side" aria-label="Nodes and logs">
        {left > 0 && (nodes.length + 1) * files.length > MOST && (
          <p class="hint limit" role="status">
            {counted(nodes.length, 'node')} of {count(ids.length)}, since at most {MOST} logs are read at
            once. To see another node, uncheck one of these.
          </p>
        )}
        <Boxes
          title="Nodes"
          names={ids}
          all={look.nodes[0] === '*'}
          picked={sources?.nodes ?? []}
          pick={(picked) => read([...(sources?.files ?? filesOf(look))], picked)}
          sources={sources}
        />
        <Boxes
          title="Logs"
          names={logs}
          all={look.file === '*'}
          picked={sources?.files ?? []}
          pick={(files) => read(files, look.nodes)}
          sources={sources}
        />
      </nav>
      <main>
        {!isUnknown && !isTooMany && (
          <LogView
            {...log}
            key={`${look.nodes}:${look.file}:${visit}`}
            node="Fleet"
            sources={sources}
            changes={(limit, signal) => changesOf(sources?.nodes ?? [], limit, signal)}
            toOthers={(time) => go(carryTo(NOTHING, ['*'], { nodes: ['*'], time }))}
            open={(file) => read([file], look.nodes)}
          />
        )}
      </main>
    </>
  )
}

/** The changes of these nodes' configurations; a node that does not tell its history has none. */
async function changesOf(ids: readonly string[], limit: number, signal: AbortSignal): Promise<Change[]> {
  const all: Change[] = []
  for (const id of ids.slice(0, MOST_HISTORIES)) {
    const client = clientAt(new URL(`nodes/${encodeURIComponent(id)}/`, base))
    const found = await client.history({ limit, signal }).catch(() => null)
    for (const version of found?.entries ?? []) all.push({ ...version, node: id })
  }
  return all
}

/** The most logs whose places fit into the links of a page, and the most nodes whose histories are asked for. */
const MOST = 150
const MOST_HISTORIES = 32
/** So few nodes have no more logs than are merged, most likely. */
const FEW = 15

interface BoxesProps {
  title: string
  names: string[]
  /** Whether all of them are read, those to come included. */
  all: boolean
  picked: readonly string[]
  pick: (names: string[]) => void
  sources: Sources | null
}

function Boxes({ title, names, all, picked, pick, sources }: BoxesProps) {
  return (
    <fieldset class="boxes">
      <legend>
        <h2>{title}</h2>
      </legend>
      <Check on={all} toggle={() => pick(all ? names.slice(0, 1) : ['*'])}>
        All {title.toLowerCase()}
      </Check>
      {names.map((name) => (
        <Check key={name} on={picked.includes(name)} toggle={() => pick(toggled(picked, name))}>
          {picked.includes(name) && <SourceMark sources={sources} name={name} />}
          {name}
        </Check>
      ))}
    </fieldset>
  )
}
