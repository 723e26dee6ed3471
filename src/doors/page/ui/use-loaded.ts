import { useEffect, useRef, useState } from 'preact/hooks'

/** An answer that is requested once `ready`, and again when `key` changes; the last one stays until then. */
export function useLoaded<T>(ask: (signal: AbortSignal) => Promise<T>, key: string, ready = true) {
  const [data, setData] = useState<T | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [busy, setBusy] = useState(true)
  const [attempt, setAttempt] = useState(0)
  const answered = useRef('')
  const question = `${attempt} ${key}`
  useEffect(() => {
    if (!ready || answered.current === question) return
    const abort = new AbortController()
    const load = async () => {
      try {
        setData(await ask(abort.signal))
        setError(null)
        answered.current = question
      } catch (failure) {
        if (abort.signal.aborted) return
        setError(failure as Error)
      }
      setBusy(false)
    }
    setBusy(true)
    answered.current = ''
    void load()
    return () => abort.abort()
  }, [question, ready])
  return { data, error, busy, retry: () => setAttempt(attempt + 1) }
}
