import { useEffect, useRef, useState } from 'preact/hooks'
import { type Client, type Histogram, type HistogramQuery, ProblemError } from '../../../client.ts'

interface Options {
  client: Client
  query: HistogramQuery
  /** Pixels for the bars; 0 until it is known. */
  width: number
  /** Whether the lines are loaded: they come first, and counting comes after. */
  ready: boolean
  /** Whether the log is followed. */
  live: boolean
  counted: (data: Histogram | null) => void
}

/** Records over time: an estimate at once if the node has one, then the exact counts. */
export function useCounts(options: Options) {
  const { client, query, width, ready, live } = options
  const [data, setData] = useState<Histogram | null>(null)
  const [busy, setBusy] = useState(true)
  const [problem, setProblem] = useState<Error | null>(null)
  const key = JSON.stringify([query, live])
  const done = useRef('')
  const widthNow = useRef(width)
  widthNow.current = width

  useEffect(() => {
    if (!ready || width === 0 || done.current === key) return
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = (found: Histogram | null) => {
      setData(found)
      options.counted(found)
    }
    const load = async (first: boolean) => {
      setBusy(true)
      const start = performance.now()
      const buckets = Math.max(20, Math.min(240, Math.round(widthNow.current / 7)))
      const ask = (estimate: boolean) =>
        client.histogram({ ...query, buckets, estimate: estimate || undefined }, { signal: abort.signal })
      try {
        let found = await ask(first)
        setProblem(null)
        if (found.estimated) {
          show(found)
          found = await ask(false)
        }
        show(found)
        done.current = key
        // A followed log is counted again if that costs the node little.
        if (live && performance.now() - start < 500) timer = setTimeout(() => void load(false), 30_000)
      } catch (error) {
        if (abort.signal.aborted) return
        done.current = key
        show(null)
        setProblem(error instanceof ProblemError && error.status === 404 ? null : (error as Error))
      } finally {
        if (!abort.signal.aborted) setBusy(false)
      }
    }
    void load(true)
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [client, key, ready, live, width === 0])

  return { data, busy, problem }
}
