import type { PeerHealth } from '../../store/peer/wire.ts'
import { type Clock, inTime } from '../limits/clock.ts'
import type { Registry, Sample } from './registry.ts'

/** A peer, as far as its metrics are concerned. */
export interface WatchedPeer {
  id: string
  wire: { health: PeerHealth }
  /** Asks it something small, so that its health is known. */
  probe(): Promise<unknown>
}

/** How old what is known of a peer may be; one that is used is never asked for its metrics alone. */
const FRESH_MS = 15_000
/** How long a scrape waits for peers that are asked. */
const PATIENCE_MS = 2500

/** Adds the metrics of the peers to a registry. Returns what to wait for before the registry is read. */
export function peerMetrics(
  registry: Registry,
  peers: () => readonly WatchedPeer[],
  clock: Clock,
): () => Promise<void> {
  const samples = (read: (health: PeerHealth) => number | null) => () =>
    peers().flatMap(({ id, wire }): Sample[] => {
      const value = read(wire.health)
      return value === null ? [] : [{ value, labels: { node: id } }]
    })
  registry.gauge(
    'nodestate_peer_up',
    'Whether a peer answered the last request to it.',
    samples(({ up }) => (up === null ? null : Number(up))),
  )
  registry.gauge(
    'nodestate_peer_latency_seconds',
    'Seconds until the last answer of a peer began.',
    samples(({ millis }) => millis && millis / 1000),
  )
  registry.gauge(
    'nodestate_peer_clock_offset_seconds',
    "How far the clock of a peer is ahead of this service's, exact to about half a second.",
    samples(({ offset }) => offset && offset / 1000),
  )
  registry.counted(
    'nodestate_peer_failures',
    'Requests that a peer did not answer.',
    samples(({ failures }) => failures),
  )
  return async () => {
    const isStale = ({ wire: { health } }: WatchedPeer) =>
      health.up === null || clock.elapsed() - health.at >= FRESH_MS
    const probes = peers()
      .filter(isStale)
      .map((peer) => peer.probe().catch(() => {}))
    if (probes.length > 0) await inTime(clock, PATIENCE_MS, Promise.all(probes))
  }
}
