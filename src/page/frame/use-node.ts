import { useState } from 'preact/hooks'
import { type Client, type NodeConfig, ProblemError } from '../../client.ts'
import { useFresh } from './fresh.ts'

interface Options {
  client: Client
  session: number
  /** True for an error that the sign-in handles. */
  refused: (error: unknown) => boolean
}

/** The node and its configuration; refreshed every minute. */
export function useNode({ client, session, refused }: Options) {
  const [node, setNode] = useState<NodeConfig | null>(null)
  const [error, setError] = useState<Error | null>(null)
  useFresh(
    async (signal) => {
      try {
        setNode(await client.config({ signal, detail: true }))
        setError(null)
        return 60_000
      } catch (failure) {
        if (signal.aborted || refused(failure)) return null
        setError(failure as Error)
        // There is nothing here, as at the root of a fleet.
        return failure instanceof ProblemError && failure.status === 404 ? 60_000 : 4_000
      }
    },
    [client, session],
  )
  return { node, error }
}
