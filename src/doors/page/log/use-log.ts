import type { RefObject } from 'preact'
import { useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import type { Client } from '../../client.ts'
import type { Change } from '../config/change.ts'
import type { ListedFile } from '../files/order.ts'
import { hand } from '../ui/store.ts'
import { type Look, queryKey } from '../url.ts'
import type { Totals } from './chart/totals.ts'
import { clockOf, useZone } from './find/clock.ts'
import { rangeOf, type TimeRange } from './find/moment.ts'
import { useLogKeys } from './keys.ts'
import { useColumns, usePreferences } from './preferences.ts'
import type { Goal } from './reader/places.ts'
import { Reader } from './reader/reader.ts'
import type { ScreenOptions } from './reader/screen.ts'
import { zoneOf } from './record/record.ts'
import type { Sources } from './record/source.ts'
import { useActs } from './use-acts.ts'

export interface LogProps {
  client: Client
  look: Look
  node: string
  /** The id of the node in its fleet, where this is the page of one of several nodes. */
  own?: string | null
  file?: ListedFile | null
  isRotated?: boolean
  /** The logs that are read as one, or null for a single one. */
  sources: Sources | null
  /** Shows all other logs and nodes as well; null where there are none. */
  toOthers: ((time: string) => void) | null
  /** Set if the log is not listed any more, with the file that took its place. */
  gone?: { heir: string | null } | null
  /** Told how to find out the moment on the screen. */
  moment: RefObject<() => string>
  /** The newest changes of the configuration, on a fleet of every node that is read; null where there are none. */
  changes?: ((most: number, signal: AbortSignal) => Promise<Change[]>) | null
  open: (file: string) => void
  home: () => void
  /** Changes the look, as a step that the back button undoes. */
  go: (look: Look) => void
  /** Moves to another place in the same look, without a history step. */
  note: (look: Look) => void
  say: (message: string) => void
  failed: (error: Error | null) => void
}

/** The state of a log on the screen, and what can be done with it. */
export function useLog(props: LogProps) {
  const { client, look, file = null, gone = null, go, note, say } = props
  const box = useRef<HTMLElement>(null)
  const current = useRef(look)
  current.current = look
  const [totals, setTotals] = useState<Totals | null>(null)
  const [attempt, setAttempt] = useState(0)
  /** Whether the filters are shown where there is little room. */
  const [unfolded, setUnfolded] = useState(false)
  /** The changes of the configuration that were clicked in the chart. */
  const [change, setChange] = useState<{ time: number; group: Change[] } | null>(null)
  const preferences = usePreferences()
  const columns = useColumns()
  const [zone, setZone] = useZone()
  const requests = useRef(false)
  const { reader, goal } = useReader(box, attempt, {
    client,
    look,
    wrap: preferences.wrap,
    fields: look.columns,
    classes: `${columns.classes.join(' ')} ${requests.current}`,
    zone,
    sources: props.sources,
    others: props.toOthers !== null,
    moved(place) {
      const next = { ...current.current, ...place }
      if (JSON.stringify(next) !== JSON.stringify(current.current)) note(next)
    },
    say,
  })
  const made = reader.current
  requests.current = made?.columns.requests ?? false
  const fields = made?.columns.fields.map(({ name }) => name) ?? []
  const known = file?.first ?? file?.last ?? null
  const own = made?.zone ?? (known === null ? null : zoneOf(known))
  const clock = useMemo(() => clockOf(zone, own ?? 0), [zone, own])
  useLastingRange(look, own, (range) => note({ ...current.current, ...range }))
  const acts = useActs({ reader, goal, current, toOthers: props.toOthers, go, note, say })
  useLogKeys(reader, box, { ...acts, ...preferences })

  const loaded = made?.window
  const live = loaded?.live ?? 'off'
  const failure = loaded?.failure ?? null
  const ready = loaded !== undefined && loaded.loading !== 'open'
  useEffect(() => props.failed(failure), [failure])
  useEffect(() => () => props.failed(null), [])
  useEffect(() => {
    if (gone !== null && reader.current?.following) acts.toggleFollow()
  }, [gone === null])
  props.moment.current = () => reader.current?.moment() ?? ''
  return {
    ...props,
    file,
    gone,
    box,
    reader,
    made,
    acts,
    clock,
    /** The fields that are columns, and whether the message is one beside them. */
    fields,
    message: !requests.current,
    setZone,
    columns,
    preferences,
    totals,
    setTotals,
    unfolded,
    setUnfolded,
    change,
    showChange(group: Change[] | null) {
      setChange(group && { time: group[0]!.time, group })
      if (group !== null) void reader.current?.errorAfter(group[0]!.time)
    },
    failure,
    live,
    ready,
    tryAgain: () => setAttempt(attempt + 1),
  }
}

export type Log = ReturnType<typeof useLog>

/** A reader for what the look asks for: a new one with every question or attempt, told when only the display changes. */
function useReader(
  box: RefObject<HTMLElement | null>,
  attempt: number,
  options: Omit<ScreenOptions, 'changed'>,
) {
  const { client, look } = options
  const reader = useRef<Reader | null>(null)
  const goal = useRef<Goal | null | undefined>(undefined)
  // A record that another view handed over.
  useState(() => {
    const handed = hand.take('goal')
    if (handed !== null) goal.current = JSON.parse(handed) as Goal
  })
  const [, redraw] = useReducer((n: number) => n + 1, 0)

  useEffect(() => {
    let pending = 0
    const changed = () => {
      cancelAnimationFrame(pending)
      pending = requestAnimationFrame(() => redraw(0))
    }
    const made = new Reader(box.current!, { ...options, changed })
    reader.current = made
    const wanted = goal.current
    goal.current = undefined
    void made.start(wanted)
    return () => {
      cancelAnimationFrame(pending)
      made.close()
      reader.current = null
    }
  }, [client, queryKey(look), attempt])

  useEffect(() => reader.current?.display(options))

  return { reader, goal }
}

/** A link must mean the same tomorrow: a time of day becomes a date. An age stays what it is. */
function useLastingRange(look: Look, zone: number | null, note: (range: TimeRange) => void): void {
  useEffect(() => {
    if (zone === null || (look.since === '' && look.until === '')) return
    const range = rangeOf(look, clockOf('log', zone))
    if (!('wrong' in range) && (range.since !== look.since || range.until !== look.until)) note(range)
  }, [zone, look.since, look.until])
}
