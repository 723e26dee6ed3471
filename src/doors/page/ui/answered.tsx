import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Failure } from './failure.tsx'
import { useSlow } from './store.ts'

interface Props<T> {
  asked: ReturnType<typeof useLoaded<T>>
  /** Said while the answer takes longer than a moment. */
  reading: string
  /** One line about the answer. */
  said: (data: T) => ComponentChildren
  /** Whether a failure is shown; not where another part of the page says the same. @default true */
  failing?: boolean
  children?: (data: T) => ComponentChildren
}

/** What a panel asked for: why there is no answer, that it takes a while, or the answer itself. */
export function Answered<T>({ asked, reading, said, failing = true, children }: Props<T>) {
  const { data, error, busy, retry } = asked
  const slow = useSlow(busy)
  return (
    <>
      {error !== null && failing && <Failure error={error} remedies={{ retry }} />}
      <p class="hint" role="status">
        {slow ? reading : error === null && data !== null && said(data)}
      </p>
      {error === null && data !== null && children?.(data)}
    </>
  )
}

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
