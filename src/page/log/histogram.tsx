import { useEffect, useRef, useState } from 'preact/hooks'
import { type Client, type Histogram, type LogQuery, ProblemError } from '../../client.ts'
import { count } from '../ui/format.ts'
import { useSlow } from '../ui/store.ts'
import type { Totals } from './finder.tsx'
import { wallAt } from './record.ts'

interface Props {
  client: Client
  /** Without the level: every level is counted, and those below the chosen one are not drawn. */
  query: LogQuery
  level: string
  /** Whether the lines are there: they come first, and the node counts after. */
  ready: boolean
  /** Whether the log is followed. */
  live: boolean
  /** Minutes east of UTC, as the log's own times have it. */
  zone: number
  /** The moments of the first and last record in view. */
  seen: [number, number] | null
  /** Changes when the colours do. */
  theme: string
  range: (from: number, to: number) => void
  jump: (until: number) => void
  counted: (totals: Totals | null) => void
}

/** Records over time, stacked by level. Dragging selects a time range, a click goes to that moment. */
export function HistogramView(props: Props) {
  const { client, query, level, ready, live, zone, seen, theme } = props
  const canvas = useRef<HTMLCanvasElement>(null)
  const [data, setData] = useState<Histogram | null>(null)
  const [busy, setBusy] = useState(true)
  const [problem, setProblem] = useState<string | null>(null)
  const [width, setWidth] = useState(0)
  const [hover, setHover] = useState<number | null>(null)
  const [drag, setDrag] = useState<[number, number] | null>(null)
  const slow = useSlow(busy)
  const key = JSON.stringify([query, live])
  const counted = useRef('')

  useEffect(() => {
    if (!ready || counted.current === key) return
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = async () => {
      setBusy(true)
      const start = performance.now()
      try {
        const buckets = Math.max(20, Math.min(240, Math.round((canvas.current?.clientWidth ?? 800) / 7)))
        const found = await client.histogram({ ...query, buckets }, { signal: abort.signal })
        setData(found)
        setProblem(null)
        props.counted({ counts: totals(found), complete: found.complete })
        counted.current = key
        // A log that is followed is counted again, where that costs the node little.
        if (live && performance.now() - start < 500) timer = setTimeout(load, 30_000)
      } catch (error) {
        if (abort.signal.aborted) return
        counted.current = key
        setData(null)
        props.counted(null)
        setProblem(
          error instanceof ProblemError && error.code === 'no-time'
            ? 'The records of this log carry no time, so there is no chart of them.'
            : error instanceof ProblemError && error.status === 404
              ? null
              : (error as Error).message,
        )
      } finally {
        if (!abort.signal.aborted) setBusy(false)
      }
    }
    void load()
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [client, key, ready, live])

  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)))
    observer.observe(canvas.current!.parentElement!)
    return () => observer.disconnect()
  }, [])

  useEffect(() => {
    if (canvas.current !== null && width > 0) draw(canvas.current, width, data, level, seen, drag, hover)
  }, [data, width, level, seen?.[0], seen?.[1], drag, hover, theme])

  const timeAt = (x: number): number => {
    if (data === null || width === 0) return 0
    return data.from + (Math.min(Math.max(x, 0), width) / width) * (data.to - data.from)
  }
  const place = (event: PointerEvent): number => event.clientX - canvas.current!.getBoundingClientRect().left
  const bucket = data === null || hover === null ? null : bucketAt(data, timeAt(hover))
  return (
    <div class={`histogram${problem === null ? '' : ' none'}`}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={data === null ? 'Chart of records over time' : summary(data, zone)}
        onPointerDown={(event) => {
          if (data === null || event.button !== 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          setDrag([place(event), place(event)])
        }}
        onPointerMove={(event) => {
          setHover(place(event))
          if (drag !== null) setDrag([drag[0], place(event)])
        }}
        onPointerLeave={() => setHover(null)}
        onPointerCancel={() => setDrag(null)}
        onPointerUp={() => {
          if (drag === null || data === null) return
          const [from, to] = drag[0] < drag[1] ? drag : [drag[1], drag[0]]
          setDrag(null)
          if (to - from >= 4) props.range(Math.floor(timeAt(from)), Math.ceil(timeAt(to)))
          else {
            const hit = bucketAt(data, timeAt(from))
            if (hit !== null) props.jump(hit.time + data.step)
          }
        }}
      />
      <p class="legend">
        {problem !== null ? (
          <span>{problem}</span>
        ) : data === null ? (
          <span role="status">{slow ? 'Counting records…' : ''}</span>
        ) : drag !== null && Math.abs(drag[1] - drag[0]) >= 4 ? (
          <span>
            {wallAt(timeAt(Math.min(...drag)), zone).slice(5, 19)} to{' '}
            {wallAt(timeAt(Math.max(...drag)), zone).slice(5, 19)}
          </span>
        ) : bucket !== null ? (
          <span>
            {wallAt(bucket.time, zone).slice(5, 19)}
            {data.levels.map((name, index) =>
              bucket.counts[index] ? (
                <span class={`n-${name}`} key={name}>
                  {' '}
                  {count(bucket.counts[index])} {name === 'none' ? 'other' : name}
                </span>
              ) : null,
            )}
          </span>
        ) : (
          <>
            <span>{data.buckets.length === 0 ? 'No records' : wallAt(data.from, zone).slice(0, 19)}</span>
            <span>{slow ? 'Counting records…' : data.complete ? '' : 'Only the newest part is counted'}</span>
            <span>{data.buckets.length === 0 ? '' : wallAt(data.to, zone).slice(0, 19)}</span>
          </>
        )}
      </p>
    </div>
  )
}

function bucketAt(data: Histogram, time: number): Histogram['buckets'][number] | null {
  return data.buckets.find((each) => time >= each.time && time < each.time + data.step) ?? null
}

function totals(data: Histogram): Record<string, number> {
  const out: Record<string, number> = {}
  data.levels.forEach((name, index) => {
    out[name] = data.buckets.reduce((sum, bucket) => sum + (bucket.counts[index] ?? 0), 0)
  })
  return out
}

function summary(data: Histogram, zone: number): string {
  const parts = Object.entries(totals(data)).flatMap(([name, sum]) =>
    sum === 0 ? [] : [`${count(sum)} ${name === 'none' ? 'without level' : name}`],
  )
  if (parts.length === 0) return 'Chart of records over time: no records'
  return `Chart of records from ${wallAt(data.from, zone)} to ${wallAt(data.to, zone)}: ${parts.join(', ')}`
}

/** Grave levels stand at the bottom, where their height can be compared. */
const ORDER = ['fatal', 'error', 'warn', 'info', 'debug', 'none']

function draw(
  canvas: HTMLCanvasElement,
  width: number,
  data: Histogram | null,
  level: string,
  seen: [number, number] | null,
  drag: [number, number] | null,
  hover: number | null,
): void {
  const height = canvas.clientHeight
  const scale = devicePixelRatio || 1
  canvas.width = Math.round(width * scale)
  canvas.height = Math.round(height * scale)
  const pen = canvas.getContext('2d')
  if (pen === null) return
  pen.scale(scale, scale)
  const style = getComputedStyle(canvas)
  const colour = (name: string) => style.getPropertyValue(`--h-${name}`)
  pen.fillStyle = colour('axis')
  pen.fillRect(0, height - 1, width, 1)
  if (data === null || data.to <= data.from) return
  const share = width / (data.to - data.from)
  const drawn = level === '' ? ORDER : ORDER.slice(0, ORDER.indexOf(level) + 1)
  const bars = data.buckets.map((bucket) => {
    const parts = drawn.map((name) => ({ name, n: bucket.counts[data.levels.indexOf(name)] ?? 0 }))
    return { time: bucket.time, parts: parts.filter((part) => part.n > 0) }
  })
  const size = (parts: { n: number }[]) => parts.reduce((all, part) => all + part.n, 0)
  // Square root: a single error beside ten thousand lines must still be seen.
  const peak = Math.sqrt(Math.max(1, ...bars.map((bar) => size(bar.parts))))
  const room = height - 3
  for (const { time, parts } of bars) {
    const all = size(parts)
    if (all === 0) continue
    const x = (time - data.from) * share
    const wide = Math.max(1, data.step * share - 1)
    const tall = Math.max(2, (Math.sqrt(all) / peak) * room)
    let y = height - 1
    // Within a bar a level gets its share, but never less than can be seen.
    for (const part of parts) {
      const least = ORDER.indexOf(part.name) <= 2 ? 3 : 1
      const h = parts.length === 1 ? tall : Math.max(least, (part.n / all) * tall)
      pen.fillStyle = colour(part.name)
      pen.fillRect(x, y - h, wide, h)
      y -= h
    }
  }
  if (seen !== null) {
    const from = Math.max(0, (seen[0] - data.from) * share)
    const to = Math.min(width, Math.max((seen[1] - data.from) * share, from + 3))
    pen.fillStyle = colour('seen')
    if (to > 0 && from < width) pen.fillRect(Math.min(from, width - 3), height - 3, Math.max(3, to - from), 3)
  }
  if (drag !== null) {
    pen.fillStyle = colour('drag')
    pen.fillRect(Math.min(...drag), 0, Math.abs(drag[1] - drag[0]), height)
  } else if (hover !== null) {
    pen.fillStyle = colour('axis')
    pen.fillRect(Math.round(hover), 0, 1, height)
  }
}
