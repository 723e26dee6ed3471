import type { BlamedKey, Client } from '../../client.ts'
import { base } from '../base.ts'
import { clientAt } from '../session/client-at.ts'
import { Answered, useLoaded } from '../ui/answered.tsx'
import { ago, count, moment } from '../ui/format.ts'
import { NO_HISTORY } from './history.tsx'
import { type ConfigProps, ConfigView } from './view.tsx'

interface Props extends ConfigProps {
  client: Client
  /** The id of the node in its fleet, which knows the other nodes; null for a node on its own. */
  own: string | null
}

/** The configuration, and beside each line when it last changed, the errors around that, and which nodes differ. */
export function Blame({ client, own, ...config }: Props) {
  const asked = useLoaded(
    (signal) =>
      own === null
        ? client.blame({ signal })
        : clientAt(new URL('../../', base)).blame({ node: own, signal }),
    config.text,
  )
  const { data } = asked
  const keys = new Map(data?.keys.map((key) => [bare(key.key), key]))
  const gone = data?.keys.filter(({ value, changed }) => value === undefined && changed !== null) ?? []
  return (
    <>
      <Answered
        asked={asked}
        reading="Reading the history…"
        said={({ keys, complete }) =>
          keys.every(({ changed, others = [] }) => changed === null && others.length === 0)
            ? `Nothing is known about when these lines changed. ${NO_HISTORY}`
            : !complete && INCOMPLETE
        }
      />
      <ConfigView {...config} beside={(key) => blameText(keys.get(bare(key)))} />
      {gone.length > 0 && (
        <p class="hint">
          No longer set:{' '}
          {gone.map(({ key, before, changed }) => `${key} (was ${before}, ${ago(changed!)})`).join(', ')}
        </p>
      )}
    </>
  )
}

const INCOMPLETE = 'Incomplete: some versions, errors or nodes could not be read.'

function blameText(key: BlamedKey | undefined) {
  if (key === undefined) return null
  const { changed, before, errors, others = [] } = key
  return (
    <>
      {changed !== null && (
        <time title={moment(changed)}>
          {ago(changed)}
          {before !== undefined && `, was ${before}`}
        </time>
      )}
      {errors !== undefined && (
        <span class={errors.after > errors.before ? 'worse' : ''} title="Errors per hour before and after">
          {count(errors.before)} → {count(errors.after)} errors/h
        </span>
      )}
      {others.map(({ value, nodes }) => (
        <span class="odd" key={value ?? ''} title={nodes.join(', ')}>
          {value ?? 'not set'} on {nodes.length > FEW ? `${count(nodes.length)} nodes` : nodes.join(', ')}
        </span>
      ))}
    </>
  )
}

/** A key without quotes and spaces, which the text may have where the API has none. */
function bare(key: string): string {
  return key.replace(/["'\s]/g, '')
}

/** Nodes that are named; more are a number. */
const FEW = 3
