import type { ComponentType } from 'preact'
import { useRef } from 'preact/hooks'
import type { Client, FleetNode } from '../../client.ts'
import { logNames } from '../files/group.ts'
import { sourcesOf } from '../files/sources.ts'
import type { LogProps } from '../log/use-log.ts'
import { useLoaded } from '../ui/use-loaded.ts'
import { carryTo, filesOf, type Look, NOTHING, toggled } from '../url.ts'

interface Props {
  /** The view of a log, which the page has already. */
  LogView: ComponentType<LogProps>
  client: Client
  nodes: FleetNode[]
  look: Look
  visit: number
  theme: string
  go: (look: Look) => void
  note: (look: Look) => void
  say: (message: string) => void
  refused: (error: unknown) => boolean
}

/** Logs of several nodes as one, in order of time. */
export function FleetTimeline(props: Props) {
  const { LogView, client, nodes, look, visit, theme, go, note, say, refused } = props
  const moment = useRef<() => string>(() => '')
  const ids = nodes.map(({ id }) => id).sort()
  const chosen = JSON.stringify(look.nodes)
  const { data } = useLoaded((signal) => client.list({ node: look.nodes, signal }), chosen)
  const logs = logNames(data ?? [])
  const sources = sourcesOf(look, logs, ids)
  const read = (files: string[], picked: string[]) =>
    go(
      files.length === 0 || picked.length === 0
        ? NOTHING
        : carryTo(look, files, { nodes: picked, time: moment.current() }),
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
          key={`${chosen}:${look.file}:${visit}`}
          client={client}
          node="Fleet"
          look={look}
          carried={false}
          file={null}
          family={[]}
          gone={null}
          sources={sources}
          toOthers={(time) => go(carryTo(NOTHING, ['*'], { nodes: ['*'], time }))}
          moment={moment}
          theme={theme}
          configured={false}
          open={(file) => read([file], look.nodes)}
          home={() => go(NOTHING)}
          go={(next) => {
            if (JSON.stringify(next) !== JSON.stringify(look)) go(next)
          }}
          note={note}
          say={say}
          failed={(error) => void (error !== null && refused(error))}
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
      <label class="check">
        <input type="checkbox" checked={all} onChange={() => pick(all ? names.slice(0, 1) : ['*'])} />
        All {title.toLowerCase()}
      </label>
      {names.map((name) => (
        <label class="check" key={name}>
          <input
            type="checkbox"
            checked={picked.includes(name)}
            onChange={() => pick(toggled(picked, name))}
          />
          {name}
        </label>
      ))}
    </fieldset>
  )
}
