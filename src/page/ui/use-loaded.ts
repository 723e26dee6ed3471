import { useEffect, useState } from 'preact/hooks'

/** An answer that is requested once `ready`, and again when `key` changes; the last one stays until then. */
export function useLoaded<T>(ask: (signal: AbortSignal) => Promise<T>, key: string, ready = true) {
  const [data, setData] = useState<T | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [busy, setBusy] = useState(true)
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    if (!ready) return
    const abort = new AbortController()
    setBusy(true)
    ask(abort.signal)
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
  }, [key, ready, attempt])
  return { data, error, busy, retry: () => setAttempt(attempt + 1) }
}
