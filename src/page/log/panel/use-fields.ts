import { useEffect, useState } from 'preact/hooks'
import type { Client, LogFields, LogQuery } from '../../../client.ts'

/** The fields and patterns of what the look chooses; requested while they are shown, after the records themselves. */
export function useFields(client: Client, query: LogQuery, ready: boolean) {
  const [data, setData] = useState<LogFields | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [busy, setBusy] = useState(true)
  const [attempt, setAttempt] = useState(0)
  const key = JSON.stringify(query)
  useEffect(() => {
    if (!ready) return
    const abort = new AbortController()
    setBusy(true)
    client
      .fields(query, { signal: abort.signal })
      .then((found) => {
        setData(found)
        setError(null)
      })
      .catch((failure: Error) => {
        if (!abort.signal.aborted) setError(failure)
      })
      .finally(() => {
        if (!abort.signal.aborted) setBusy(false)
      })
    return () => abort.abort()
  }, [client, key, ready, attempt])
  return { data, error, busy, retry: () => setAttempt(attempt + 1) }
}
