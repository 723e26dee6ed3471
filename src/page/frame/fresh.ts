import { useEffect } from 'preact/hooks'

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
