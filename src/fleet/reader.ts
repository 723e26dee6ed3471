import { concurrencyLimit } from '../kit/limits/concurrency-limit.ts'
import { parseShallow } from '../kit/limits/shallow-json.ts'
import { LogError } from '../log/error.ts'
import { countedThere } from '../log/groups/count.ts'
import type { LogReader } from '../log/merge/reader.ts'
import { type ProcessLimits, SCAN_MILLIS } from '../log/options.ts'
import { peerError } from '../store/peer/wire.ts'
import { AttemptTimer } from '../store/remote/retry.ts'
import { StoreError } from '../store/store.ts'
import { BEFORE_MS, countAt, type HandOnOptions, rangeAt } from './forward.ts'
import type { Peer } from './peer.ts'
import { type AskPeer, RemoteLane } from './remote-lane.ts'

/** A count within its limits, as JSON. Of all peers, two such answers are held at once. */
const LONGEST_GROUPS = 16 * 1024 * 1024
const HELD_GROUPS = 2

/** Reads logs at their peers. */
export function peerReaders(options: Omit<HandOnOptions, 'followers'>): (peer: Peer) => LogReader {
  const group = groupsAt(options)
  return (peer) => {
    const ask = laneAt(peer, options.limits)
    return {
      lane: (source, asked) => new RemoteLane(source, { ...asked, ask }),
      count: countAt(peer, options),
      range: rangeAt(peer, options),
      group: group(peer),
    }
  }
}

/** Groups the records of logs at their peers; null if they must be grouped here. */
function groupsAt({ limits, scanMillis }: Omit<HandOnOptions, 'followers'>) {
  const held = concurrencyLimit({ most: HELD_GROUPS })
  return (peer: Peer): LogReader['group'] =>
    async (query, signal) => {
      const timer = new AttemptTimer(limits.clock, signal)
      timer.start(scanMillis + BEFORE_MS)
      try {
        const answer = await peer.wire.send({ path: `api/v1/log/groups?${query}` }, timer)
        if (answer.status === 200 && isLane(answer))
          return await held.run(
            async () => countedThere(await peer.wire.json(answer, timer, LONGEST_GROUPS)),
            signal,
          )
        if (answer.status === 429 || answer.status === 503) throw await peerError(peer.wire, answer, timer)
        await answer.body?.cancel()
      } catch (error) {
        signal?.throwIfAborted()
        if (timer.isLate) throw new StoreError('timeout', 'The peer did not answer in time', { cause: error })
        if (isBusy(error)) throw error
      } finally {
        timer.end()
      }
      return null
    }
}

/** A page of 2 MiB of short records has a head of about that. */
const LONGEST_HEAD = 4 * 1024 * 1024
const LF = 10

/** Reads pages of a timeline at its peer; null if they must be read here. Throws if the peer is too slow or too busy. */
function laneAt(peer: Peer, { clock }: ProcessLimits): AskPeer {
  return async ({ query, most, millis, grow }, signal) => {
    const timer = new AttemptTimer(clock, signal)
    timer.start(Math.min(millis, SCAN_MILLIS) + BEFORE_MS)
    try {
      const answer = await peer.wire.send({ path: `api/v1/log/view?${query}` }, timer)
      if (answer.status === 200 && isLane(answer)) {
        const bytes = await peer.wire.bytes(answer, timer, LONGEST_HEAD + most, grow)
        const end = bytes.indexOf(LF)
        const body = bytes.subarray(end + 1)
        if (end < 0 || body.length > most) return null
        return { head: parseShallow(new TextDecoder().decode(bytes.subarray(0, end))), body }
      }
      if (answer.status === 429 || answer.status === 503) throw await peerError(peer.wire, answer, timer)
      await answer.body?.cancel().catch(() => {})
    } catch (error) {
      signal?.throwIfAborted()
      if (timer.isLate) throw new StoreError('timeout', 'The peer did not answer in time', { cause: error })
      if (error instanceof LogError || isBusy(error)) throw error
    } finally {
      timer.end()
    }
    return null
  }
}

const isLane = ({ headers }: Response) =>
  /^application\/octet-stream\b/.test(headers.get('Content-Type') ?? '') &&
  !/\bunknown-parameter\b/.test(headers.get('X-Nodestate-Note') ?? '')

const isBusy = (error: unknown) => error instanceof StoreError && error.code === 'throttled'
