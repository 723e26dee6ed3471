import type { ComponentType } from 'preact'
import { base } from '../base.ts'
import type { Change } from '../config/change.ts'
import { logNames } from '../files/group.ts'
import { type Sources, sourcesOf } from '../log/record/source.ts'
import { SourceMark } from '../log/record/source-mark.tsx'
import type { LogProps } from '../log/use-log.ts'
import { clientAt } from '../session/client-at.ts'
import { Check } from '../ui/controls.tsx'
import { useLoaded } from '../ui/use-loaded.ts'
import { carryTo, filesOf, NOTHING, toggled } from '../url.ts'

interface Props
  extends Pick<LogProps, 'client' | 'look' | 'moment' | 'home' | 'go' | 'note' | 'say' | 'failed'> {
  /** The view of a log, which the page has already. */
  LogView: ComponentType<LogProps>
  ids: string[]
  visit: number
}

/** Logs of several nodes as one, in order of time. */
export function FleetTimeline({ LogView, ids, visit, ...log }: Props) {
  const { client, look, moment, go } = log
  const chosen = JSON.stringify(look.nodes)
  const { data } = useLoaded((signal) => client.list({ node: look.nodes, signal }), chosen)
  const logs = logNames(data?.entries ?? [])
  const sources = sourcesOf(look, logs, ids)
  const read = (files: string[], nodes: string[]) =>
    go(
      files.length === 0 || nodes.length === 0
        ? NOTHING
        : carryTo({ ...look, hidden: [] }, files, { nodes, time: moment.current() }),
    )
  const shown = (names: readonly string[] = []) => names.filter((name) => !look.hidden.includes(name))
  return (
    <>
      <nav class="side" aria-label="Nodes and logs">
        <Boxes
          title="Nodes"
          names={ids}
          all={look.nodes[0] === '*'}
          picked={shown(sources?.nodes)}
          pick={(picked) => read(shown(sources?.files ?? filesOf(look)), picked)}
          sources={sources}
        />
        <Boxes
          title="Logs"
          names={logs}
          all={look.file === '*'}
          picked={shown(sources?.files)}
          pick={(files) => read(files, shown(look.nodes))}
          sources={sources}
        />
      </nav>
      <main>
        <LogView
          {...log}
          key={`${chosen}:${look.file}:${visit}`}
          node="Fleet"
          sources={sources}
          changes={(limit, signal) => changesOf(shown(sources?.nodes), limit, signal)}
          toOthers={(time) => go(carryTo(NOTHING, ['*'], { nodes: ['*'], time }))}
          open={(file) => read([file], look.nodes)}
        />
      </main>
    </>
  )
}

/** The changes of these nodes' configurations; a node that does not tell its history has none. */
async function changesOf(ids: string[], limit: number, signal: AbortSignal): Promise<Change[]> {
  const all: Change[] = []
  for (const id of ids.slice(0, MOST)) {
    const client = clientAt(new URL(`nodes/${encodeURIComponent(id)}/`, base))
    const found = await client.history({ limit, signal }).catch(() => null)
    for (const version of found?.entries ?? []) all.push({ ...version, node: id })
  }
  return all
}

/** The most nodes whose histories are asked for. */
const MOST = 32

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
