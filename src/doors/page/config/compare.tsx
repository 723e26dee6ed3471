import { useState } from 'preact/hooks'
import type { Client, Comparison } from '../../client.ts'
import { Answered, useLoaded } from '../ui/answered.tsx'
import { Button, Check } from '../ui/controls.tsx'
import { reasonText } from '../ui/failure.tsx'
import { count, counted } from '../ui/format.ts'

interface Props {
  client: Client
  nodes: string[]
  close: () => void
}

type Key = Comparison['keys'][number]

/** The settings in which the nodes of a fleet differ, with the odd ones marked. */
export function Compare({ client, nodes, close }: Props) {
  const [all, setAll] = useState(false)
  const asked = useLoaded((signal) => client.compareConfig(nodes, { signal }), JSON.stringify(nodes))
  const { data } = asked
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
      <Answered asked={asked} reading="Reading configurations…" said={(found) => summary(found, expected)} />
      {data !== null && data.missing.length > 0 && (
        <p class="hint">
          Not compared: {data.missing.map(({ name, reason }) => `${name} (${reasonText(reason)})`).join(', ')}
        </p>
      )}
      {shown.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Setting</th>
              <th scope="col">Most have</th>
              <th scope="col">Who differs</th>
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
  const common = values.find(({ nodes }) => nodes.length * 2 > total)
  const others = values.filter((each) => each !== common)
  const odd = expected || common === undefined ? [] : others.flatMap(({ nodes }) => nodes)
  return (
    <tr class={expected ? 'dim' : ''}>
      <th scope="row">
        <code>{key}</code>
      </th>
      <td>
        {common === undefined ? <span class="dim">no value</span> : <ValueText value={common.value} />}
        {common !== undefined && <span class="dim"> {count(common.nodes.length)} nodes</span>}
      </td>
      <td>
        <ul>
          {others.map(({ value, nodes }) => {
            const hasInvalidUtf8 = odd.includes(nodes[0]!)
            return (
              <li key={value ?? ''} class={hasInvalidUtf8 ? 'odd' : ''}>
                <ValueText value={value} />{' '}
                <span title={nodes.join(', ')}>
                  {hasInvalidUtf8 && <span class="sign">differs: </span>}
                  {nodes.length <= FEW || hasInvalidUtf8 ? (
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

function ValueText({ value }: { value: string | undefined }) {
  return value === undefined ? <em>not set</em> : <code>{value}</code>
}

function summary({ nodes, keys }: Comparison, expected: number): string {
  const real = keys.length - expected
  const differ = real === 1 ? 'differs' : 'differ'
  const what = real === 0 ? 'No unexpected difference' : `${counted(real, 'setting')} ${differ}`
  return `${what} between ${counted(nodes.length, 'node')}`
}

/** Nodes that are named one by one; more are a number. */
const FEW = 6
