import { StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import { type LanePlace, type LaneState, laneKey, type MergedCursor, nodeKey, ordered } from './cursor.ts'
import type { Lane } from './lane.ts'
import { GoneError, type Missing, type Source } from './source.ts'

/** What the places of a page depend on in its request. */
interface PlacesRequest {
  cursor: { place: MergedCursor } | null
  unlisted?: readonly string[] | undefined
  live?: boolean | undefined
}

/** What became of the logs of a page. */
interface Outcome {
  lanes: readonly Lane[]
  failed: ReadonlyMap<Lane, unknown>
  forward: boolean
  /** The records of the page, oldest first. */
  records: readonly { placed: number }[]
}

/** A new log is found up to this long after its first line, when followers have newer lines of the others already. */
const UNSEEN_MS = 5000

/** Where a source begins: one that the cursor does not know begins at its moment. Null without a cursor. */
export function stateIn({ cursor, live }: PlacesRequest, source: Source): LaneState | null {
  if (!cursor) return null
  const { time, lanes } = cursor.place
  const state = lanes.get(laneKey(source)) ?? lanes.get(nodeKey(source.node))
  const unseen = live ? UNSEEN_MS : 0
  return state ?? { place: { kind: 'time', time: time - unseen }, behind: false }
}

/** Whether a time comes after another one in the direction of reading. */
export function isBeyond(time: number, other: number, forward: boolean): boolean {
  return forward ? time > other : time < other
}

/** The cursors of a page. */
export class Places {
  readonly #request: PlacesRequest
  readonly #cursor: MergedCursor | undefined
  readonly #unlisted: readonly string[]
  readonly #outcome: Outcome

  constructor(request: PlacesRequest, outcome: Outcome) {
    this.#request = request
    this.#cursor = request.cursor?.place
    this.#unlisted = request.unlisted ?? []
    this.#outcome = outcome
  }

  /** Where the pages before and after begin; no page before if there is none. */
  async around(): Promise<{ prev: MergedCursor | null; next: MergedCursor }> {
    const { lanes, failed, forward, records } = this.#outcome
    const times = this.#times()
    const onward = this.#others(times.near)
    const back = new Map(onward)
    await Promise.all(
      lanes.map(async (lane) => {
        const key = laneKey(lane.source)
        if (failed.has(lane)) {
          const state = { place: this.#kept(lane, times.near), behind: true }
          onward.set(key, state)
          back.set(key, state)
          return
        }
        onward.set(key, { place: await lane.onward(), behind: this.#isBehind(lane) })
        const behind = stateIn(this.#request, lane.source)?.behind === true
        back.set(key, { place: await lane.backward(), behind })
      }),
    )
    const ahead = { time: times.onward, lanes: ordered(onward) }
    const behind = { time: times.near, lanes: ordered(back) }
    const [before, next] = forward ? [behind, ahead] : [ahead, behind]
    const isStart = lanes.every(
      (lane) => failed.has(lane) || before.lanes.get(laneKey(lane.source))?.place.kind === 'start',
    )
    // A log that cannot be read has a page before this one, unless nothing else has and nothing came of this one.
    const waits = records.length > 0 && [...failed.values()].some((error) => error instanceof StoreError)
    return { prev: isStart && !waits ? null : before, next }
  }

  /** The place after each record of the page: `next`, with the places of the logs as they were then. */
  async *after(
    taken: readonly { lane: Lane; index: number }[],
    next: MergedCursor,
  ): AsyncGenerator<MergedCursor> {
    const { lanes: all, failed, forward, records } = this.#outcome
    const lanes = new Map(next.lanes)
    const set = async (lane: Lane, index: number) => {
      const place = await (forward ? lane.onward(index) : lane.backward(index))
      lanes.set(laneKey(lane.source), { place, behind: false })
    }
    for (const lane of all) if (!failed.has(lane)) await set(lane, forward ? lane.given : lane.next)
    let time = this.#cursor?.time ?? Number.NEGATIVE_INFINITY
    for (const [i, { lane, index }] of taken.entries()) {
      await set(lane, forward ? index + 1 : index)
      time = Math.max(time, records[i]!.placed)
      yield { time, lanes }
    }
  }

  /** The logs that are not in the page, and why. */
  missing(): Missing[] {
    // The list may be a second old: then a log that was deleted shows by its place.
    const isGone = (error: unknown) => error instanceof LogError && error.code === 'cursor-gone'
    const failed = [...this.#outcome.failed].map(([{ source }, error]) => ({
      name: source.name,
      error: isGone(error) ? new GoneError(laneKey(source)) : error,
    }))
    // A log of a node that could not be listed may still be there.
    const gone = this.#unlisted.length > 0 ? [] : this.#unknown()
    return [...failed, ...gone.map(([key, { name = '' }]) => ({ name, error: new GoneError(key) }))]
  }

  /** The moments that the cursors of both sides stand for. */
  #times(): { onward: number; near: number } {
    const { lanes, forward, records } = this.#outcome
    const now = lanes[0]!.source.context.now()
    const from = this.#cursor?.time
    const [first, last] = forward ? [records[0], records.at(-1)] : [records.at(-1), records[0]]
    const reached = last?.placed ?? from ?? now
    // Late records do not turn the time back.
    const onward = from !== undefined && isBeyond(from, reached, forward) ? from : reached
    return { onward, near: from ?? first?.placed ?? now }
  }

  /** Whether some of a log's records still belong to pages that were given without them. */
  #isBehind(lane: Lane): boolean {
    if (stateIn(this.#request, lane.source)?.behind !== true) return false
    return lane.head ? isBeyond(this.#cursor!.time, lane.head.placed, this.#outcome.forward) : lane.isOpen
  }

  /** The logs of the cursor that are not there, and the nodes that could not be listed. */
  #others(time: number): Map<number, LaneState> {
    const isHidden = this.#unlisted.length > 0
    const others = new Map(
      this.#unknown().map(([key, state]) => [key, isHidden ? { ...state, behind: true } : state]),
    )
    for (const node of this.#unlisted) {
      const key = nodeKey(node)
      const place = this.#cursor ? { kind: 'time' as const, time } : this.#divided(time)
      if (!others.has(key)) others.set(key, { place, behind: true })
    }
    return others
  }

  /** What the cursor says of logs that are not there. */
  #unknown(): [key: number, state: LaneState][] {
    const keys = this.#outcome.lanes.flatMap(({ source }) => [laneKey(source), nodeKey(source.node)])
    const known = new Set(keys)
    return [...(this.#cursor?.lanes ?? [])].filter(([key]) => !known.has(key))
  }

  /** Where a log that could not be read continues: at its place, or where the first page divided it. */
  #kept(lane: Lane, time: number): LanePlace {
    const error = this.#outcome.failed.get(lane)
    if (error instanceof LogError && error.code === 'cursor-gone') return { kind: 'time', time }
    return stateIn(this.#request, lane.source)?.place ?? this.#divided(time)
  }

  /** Without a cursor, all that a log has now belongs before the end of the page, or after its beginning. */
  #divided(time: number): LanePlace {
    const { lanes, forward } = this.#outcome
    const now = lanes[0]!.source.context.now()
    return forward ? { kind: 'start' } : { kind: 'time', time: Math.max(now, time + 0.001) }
  }
}
