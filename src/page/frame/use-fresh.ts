import { useEffect, useState } from 'preact/hooks'
import { ProblemError } from '../../client.ts'

/** Runs at once, and again after the number of milliseconds it returns; pauses while the tab is hidden. */
export function useFresh(run: (signal: AbortSignal) => Promise<number | null>, when: unknown[]): void {
  useEffect(() => {
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let due = false
    const turn = async () => {
      due = false
      const pause = await run(abort.signal)
      if (abort.signal.aborted || pause === null) return
      timer = setTimeout(() => {
        if (document.hidden) due = true
        else void turn()
      }, pause)
    }
    const shown = () => {
      if (!document.hidden && due) void turn()
    }
    document.addEventListener('visibilitychange', shown)
    void turn()
    return () => {
      abort.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', shown)
    }
  }, when)
}

/** What can be asked, and who handles a refusal. */
export interface Asking {
  /** Counts up when everything should be reloaded. */
  session: number
  /** True for an error that the sign-in handles. */
  refused: (error: unknown) => boolean
}

/** Milliseconds until the next try after a failure, or null where the sign-in handles it. */
export function pauseAfter(failure: unknown, signal: AbortSignal, { refused }: Asking): number | null {
  if (signal.aborted || refused(failure)) return null
  // There is nothing here, as at the root of a fleet.
  return failure instanceof ProblemError && failure.status === 404 ? 60_000 : 4_000
}

/** An answer that is asked for again every `seconds`; `ask` is null where there is nobody to ask. */
export function useAnswer<T>(
  ask: ((signal: AbortSignal) => Promise<T>) | null,
  seconds: number,
  asking: Asking,
): { answer: T | null; error: Error | null } {
  const [answer, setAnswer] = useState<T | null>(null)
  const [error, setError] = useState<Error | null>(null)
  useFresh(
    async (signal) => {
      if (ask === null) return null
      try {
        setAnswer(await ask(signal))
        setError(null)
        return seconds * 1000
      } catch (failure) {
        const pause = pauseAfter(failure, signal, asking)
        if (pause !== null) setError(failure as Error)
        return pause
      }
    },
    [asking.session],
  )
  return { answer, error }
}
