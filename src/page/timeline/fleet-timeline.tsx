import type { ComponentType } from 'preact'
import { logNames } from '../files/group.ts'
import { sourcesOf } from '../log/record/source.ts'
import type { LogProps } from '../log/use-log.ts'
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
        : carryTo(look, files, { nodes, time: moment.current() }),
    )
  return (
    <>
      <nav class="side" aria-label="Nodes and logs">
        <Boxes
          title="Nodes"
          names={ids}
          all={look.nodes[0] === '*'}
          picked={sources?.nodes ?? []}
          pick={(picked) => read(filesOf(look), picked)}
        />
        <Boxes
          title="Logs"
          names={logs}
          all={look.file === '*'}
          picked={sources?.files ?? []}
          pick={(files) => read(files, look.nodes)}
        />
      </nav>
      <main>
        <LogView
          {...log}
          key={`${chosen}:${look.file}:${visit}`}
          node="Fleet"
          sources={sources}
          toOthers={(time) => go(carryTo(NOTHING, ['*'], { nodes: ['*'], time }))}
          open={(file) => read([file], look.nodes)}
        />
      </main>
    </>
  )
}

interface BoxesProps {
  title: string
  names: string[]
  /** Whether all of them are read, those to come included. */
  all: boolean
  picked: readonly string[]
  pick: (names: string[]) => void
}

function Boxes({ title, names, all, picked, pick }: BoxesProps) {
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
          {name}
        </Check>
      ))}
    </fieldset>
  )
}
