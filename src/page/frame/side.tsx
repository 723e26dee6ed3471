import type { FleetNode } from '../../client.ts'
import { Files } from '../files/files.tsx'
import type { ListedFile } from '../files/order.ts'
import { FleetLinks } from '../node/fleet.tsx'
import { Failure } from '../ui/failure.tsx'
import type { Look } from '../url.ts'

interface Props {
  files: ListedFile[] | null
  error: Error | null
  nodes: FleetNode[] | null
  own: string | null
  look: Look
  now: number
  waiting: boolean
  open: (file: string) => void
  /** The logs that are read, and how to read others together. */
  picked: readonly string[]
  pick: (files: string[]) => void
  /** Reads the logs of several nodes as one. */
  read: (ids: string[]) => void
  retry: () => void
}

/** The node's logs, and the other nodes of its fleet. */
export function Side(props: Props) {
  const { files, error, nodes, own, look, now, waiting, open, picked, pick, retry } = props
  return (
    <nav class="side" aria-label="Logs">
      {own !== null && nodes !== null && <FleetLinks nodes={nodes} own={own} look={look} read={props.read} />}
      <h2>Logs</h2>
      {files === null && error !== null && <Failure error={error} remedies={{ retry }} />}
      {files === null && error === null && waiting && <Waiting>Loading</Waiting>}
      {files?.length === 0 && (
        <p class="hint" role="status">
          No logs yet. A log appears here as soon as the node writes one, in the directory that nodestate
          reads.
        </p>
      )}
      {files !== null && (
        <Files files={files} look={look} now={now} open={open} picked={picked} pick={pick} />
      )}
    </nav>
  )
}

export function Waiting({ children }: { children: string }) {
  return (
    <p class="hint" role="status">
      <span class="spinner" aria-hidden="true" /> {children}
    </p>
  )
}
