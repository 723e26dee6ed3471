import { useState } from 'preact/hooks'
import { type Client, type FleetNode, ProblemError } from '../../client.ts'
import { useFresh } from './fresh.ts'

interface Options {
  /** Where the fleet answers, or null if there is none. */
  client: Client | null
  session: number
  /** True for an error that the sign-in handles. */
  refused: (error: unknown) => boolean
}

/** The nodes of the fleet, refreshed every half minute; null if there is no fleet. */
export function useFleet({ client, session, refused }: Options) {
  const [nodes, setNodes] = useState<FleetNode[] | null>(null)
  const [error, setError] = useState<Error | null>(null)
  useFresh(
    async (signal) => {
      if (client === null) return null
      try {
        setNodes(await client.nodes({ signal }))
        setError(null)
        return 30_000
      } catch (failure) {
        if (signal.aborted || refused(failure)) return null
        if (failure instanceof ProblemError && failure.status === 404) return null
        setError(failure as Error)
        return 5_000
      }
    },
    [client, session],
  )
  return { nodes, error }
}
