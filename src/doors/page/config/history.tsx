import type { Client, ConfigVersion } from '../../client.ts'
import { Answered, useLoaded } from '../ui/answered.tsx'
import { Button } from '../ui/controls.tsx'
import { Failure } from '../ui/failure.tsx'
import { ago, bytes, moment } from '../ui/format.ts'
import { carryTo, NOTHING, writeLook } from '../url.ts'
import { changeText } from './change.ts'
import { ConfigView } from './view.tsx'

interface Props {
  client: Client
  /** The time of the version whose text is shown; `all` for none. */
  chosen: string
  /** Shows the text of another version; `all` for none, '' to return to the present configuration. */
  choose: (version: string) => void
  say: (message: string) => void
}

/** The versions of a node's configuration: when each came, what it changed, and its text. */
export function History({ client, chosen, choose, say }: Props) {
  const asked = useLoaded((signal) => client.history({ signal }), '')
  const { data } = asked
  return (
    <section class="config" aria-labelledby="history-title">
      <header class="bar">
        <h2 id="history-title">History of the configuration</h2>
        <Button class="small" onClick={() => choose('')}>
          Configuration
        </Button>
      </header>
      <Answered
        asked={asked}
        reading="Reading the history…"
        said={({ entries, notes }) =>
          notes.includes('scan-budget')
            ? 'The node ran out of time: older versions are missing.'
            : entries.length === 0 && NO_HISTORY
        }
      />
      <ol class="versions">
        {data?.entries.map((version, index) => {
          const own = String(version.time)
          return (
            <li key={own} aria-current={own === chosen ? 'true' : undefined}>
              <h3>
                <time dateTime={new Date(version.time).toISOString()}>{moment(version.time)}</time>
                <span class="dim">
                  {' '}
                  {ago(version.time)}, {bytes(version.size)}
                </span>
              </h3>
              <Changes version={version} first={index === data.entries.length - 1} />
              <Button
                class="small"
                aria-expanded={own === chosen}
                onClick={() => choose(own === chosen ? 'all' : own)}
              >
                Text of this version
              </Button>
              {version.changes.length > 0 && (
                <a class="button" href={writeLook(carryTo(NOTHING, ['*'], { time: isoOf(version.time) }))}>
                  Logs around this change
                </a>
              )}
              {own === chosen && <VersionText client={client} time={version.time} say={say} />}
            </li>
          )
        })}
      </ol>
    </section>
  )
}

function Changes({ version: { changes, error }, first }: { version: ConfigVersion; first: boolean }) {
  if (changes.length === 0)
    return (
      <p class="dim">
        {first
          ? 'The first version'
          : error === undefined
            ? 'Only comments or layout changed'
            : 'Not compared with the version before: one of them is too large or not TOML'}
      </p>
    )
  return (
    <ul>
      {changes.map((change) => (
        <li key={change.key}>
          <code>{changeText(change)}</code>
        </li>
      ))}
    </ul>
  )
}

/** Said where nothing is compared with anything. */
export const NO_HISTORY =
  'No earlier version of this configuration is known. nodestate ship keeps one for each change.'

function VersionText({ client, time, say }: { client: Client; time: number; say: Props['say'] }) {
  const { data, error, retry } = useLoaded((signal) => client.config({ at: time, signal }), String(time))
  if (error !== null) return <Failure error={error} remedies={{ retry }} />
  return data === null ? null : <ConfigView text={data.config} title="Text" say={say} />
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
