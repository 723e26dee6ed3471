import { useEffect, useState } from 'preact/hooks'
import { ProblemError } from '../../client.ts'

/** What can be asked, and who handles a refusal. */
export interface Asking {
  /** Counts up when everything should be reloaded. */
  session: number
  /** True for an error that the sign-in handles. */
  refused: (error: unknown) => boolean
}

/**
 * Runs at once, and again after the number of milliseconds it returns, or a while after it failed; pauses while the tab
 * is hidden. Returns why the last run failed.
 */
export function useFresh(
  run: (signal: AbortSignal) => Promise<number | null>,
  { session, refused }: Asking,
): Error | null {
  const [error, setError] = useState<Error | null>(null)
  useEffect(() => {
    const abort = new AbortController()
    const { signal } = abort
    let timer: ReturnType<typeof setTimeout> | undefined
    let due = false
    const turn = async () => {
      due = false
      let pause: number | null
      try {
        pause = await run(signal)
        setError(null)
      } catch (failure) {
        if (signal.aborted || refused(failure)) return
        setError(failure as Error)
        // There is nothing here, as at the root of a fleet.
        pause = failure instanceof ProblemError && failure.status === 404 ? 60_000 : 4_000
      }
      if (signal.aborted || pause === null) return
      timer = setTimeout(() => {
        due = document.hidden
        if (!due) void turn()
      }, pause)
    }
    const shown = () => {
      if (!document.hidden && due) void turn()
    }
    document.addEventListener('visibilitychange', shown, { signal })
    void turn()
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [session])
  return error
}

/** An answer that is asked for again every `seconds`; `ask` is null where there is nobody to ask. */
export function useAnswer<T>(
  ask: ((signal: AbortSignal) => Promise<T>) | null,
  seconds: number,
  asking: Asking,
): { answer: T | null; error: Error | null } {
  const [answer, setAnswer] = useState<T | null>(null)
  const error = useFresh(async (signal) => {
    if (ask === null) return null
    setAnswer(await ask(signal))
    return seconds * 1000
  }, asking)
  return { answer, error }
}
