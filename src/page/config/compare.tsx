import { useState } from 'preact/hooks'
import { type Client, type Comparison, ProblemError } from '../../client.ts'
import { Button, Check } from '../ui/controls.tsx'
import { Failure } from '../ui/failure.tsx'
import { count, counted } from '../ui/format.ts'
import { useSlow } from '../ui/store.ts'
import { useLoaded } from '../ui/use-loaded.ts'

interface Props {
  client: Client
  nodes: string[]
  close: () => void
}

type Key = Comparison['keys'][number]

/** The settings in which the nodes of a fleet differ, with the odd ones marked. */
export function Compare({ client, nodes, close }: Props) {
  const [all, setAll] = useState(false)
  const { data, error, busy, retry } = useLoaded(
    (signal) => client.compare(nodes, { signal }),
    JSON.stringify(nodes),
  )
  const slow = useSlow(busy)
  const expected = data?.keys.filter((key) => key.expected).length ?? 0
  const shown = data?.keys.filter((key) => all || !key.expected) ?? []
  return (
    <section class="fleet compare" aria-labelledby="compare-title">
      <header class="bar">
        <h2 id="compare-title">Differences of the configuration</h2>
        <Button class="small" onClick={close}>
          Nodes
        </Button>
        {expected > 0 && (
          <Check on={all} toggle={() => setAll(!all)}>
            Show expected differences ({count(expected)})
          </Check>
        )}
      </header>
      {error instanceof ProblemError && error.status === 400 ? (
        // The API's sentence says how many nodes it compares at most.
        <p class="failure" role="alert">
          {error.message}
        </p>
      ) : (
        error !== null && <Failure error={error} remedies={{ retry }} />
      )}
      <p class="hint" role="status">
        {data !== null ? summary(data, expected) : slow ? 'Reading configurations…' : ''}
      </p>
      {data !== null && data.missing.length > 0 && (
        <p class="hint">
          Not compared:{' '}
          {data.missing.map(({ name, reason }) => `${name} (${reason.replaceAll('-', ' ')})`).join(', ')}
        </p>
      )}
      {shown.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Setting</th>
              <th scope="col">Values, and the nodes that have them</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((key) => (
              <Row key={key.key} of={key} total={data!.nodes.length} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

function Row({ of: { key, values, expected }, total }: { of: Key; total: number }) {
  return (
    <tr class={expected ? 'dim' : ''}>
      <th scope="row">
        <code>{key}</code>
      </th>
      <td>
        <ul>
          {values.map(({ value, nodes }) => {
            const odd = isOdd(values, nodes, total) && !expected
            return (
              <li key={value ?? ''} class={odd ? 'odd' : ''}>
                {value === undefined ? <em>not set</em> : <code>{value}</code>}{' '}
                <span title={nodes.join(', ')}>
                  {odd && <span class="sign">differs: </span>}
                  {nodes.length <= FEW || odd ? (
                    nodes.map((id, index) => (
                      <>
                        {index > 0 && ', '}
                        <a href={`nodes/${encodeURIComponent(id)}/`}>{id}</a>
                      </>
                    ))
                  ) : (
                    <span class="dim">{count(nodes.length)} nodes</span>
                  )}
                </span>
              </li>
            )
          })}
        </ul>
      </td>
    </tr>
  )
}

/** A node is odd where more than half of the others agree on another value. */
function isOdd(values: Key['values'], nodes: string[], total: number): boolean {
  return nodes.length * 2 < total && values.some((each) => each.nodes.length * 2 > total)
}

function summary({ nodes, keys }: Comparison, expected: number): string {
  const real = keys.length - expected
  const differ = real === 1 ? 'differs' : 'differ'
  const what = real === 0 ? 'No unexpected difference' : `${counted(real, 'setting')} ${differ}`
  return `${what} between ${counted(nodes.length, 'node')}`
}

/** Nodes that are named one by one; more are a number. */
const FEW = 6
