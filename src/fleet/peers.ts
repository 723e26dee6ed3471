import type { Clock } from '../limits/clock.ts'
import type { FleetHome } from './homes.ts'
import { isNodeId, type LivingNodes } from './nodes.ts'
import { Peer, type PeerOptions } from './peer.ts'
import type { HomeState } from './state.ts'

/** The nodes that live: peers, and the node that the service itself runs on. */
export interface Living {
  peers: FleetPeers
  self: (FleetHome & { id: string }) | null
}

/** The peers of a fleet; a function is called for every request: return the same list while nothing has changed. */
export type PeersSource = readonly PeerOptions[] | (() => readonly PeerOptions[])

/** Each peer keeps a few kilobytes, and its connections while they are used. */
export const MOST_PEERS = 1000

/** The living nodes of a fleet, by id. A peer that stays in the list keeps its connections and what is known of it. */
export class FleetPeers {
  readonly #source: PeersSource
  readonly #clock: Clock
  #listed: readonly PeerOptions[] | null = null
  #peers = new Map<string, { peer: Peer; options: PeerOptions }>()

  /** Throws a TypeError about peers that cannot be used. */
  constructor(source: PeersSource, clock: Clock) {
    this.#source = source
    this.#clock = clock
    this.#now()
  }

  get(id: string): Peer | undefined {
    return this.#now().get(id)?.peer
  }

  ids(): string[] {
    return [...this.#now().keys()]
  }

  all(): Peer[] {
    return [...this.#now().values()].map(({ peer }) => peer)
  }

  #now() {
    const listed = typeof this.#source === 'function' ? this.#source() : this.#source
    if (listed === this.#listed) return this.#peers
    checkPeers(listed)
    const peers = new Map<string, { peer: Peer; options: PeerOptions }>()
    for (const options of listed) {
      const known = this.#peers.get(options.id)
      const isSame = known?.options.url === options.url && known.options.token === options.token
      peers.set(options.id, isSame ? known : { peer: new Peer(options, this.#clock), options })
    }
    this.#listed = listed
    this.#peers = peers
    return peers
  }
}

/** What the list of nodes asks of those that live. */
export function livingNodes({ peers, self }: Living): LivingNodes {
  return {
    ids: () => (self ? [...peers.ids(), self.id] : peers.ids()),
    state: (id) => (self?.id === id ? stateOfSelf(self) : peers.get(id)?.state()),
    offset: (id) => (self?.id === id ? 0 : (peers.get(id)?.wire.health.offset ?? null)),
  }
}

async function stateOfSelf(self: FleetHome): Promise<HomeState> {
  const node = await self.node().catch(() => null)
  return { node, shipped: null, lag: null, counts: null, error: null, live: true }
}

function checkPeers(peers: readonly PeerOptions[]): void {
  if (peers.length > MOST_PEERS)
    throw new TypeError(`Cannot use the option peers: there are ${peers.length}, and at most ${MOST_PEERS}.`)
  const ids = new Set<string>()
  for (const { id, url } of peers) {
    if (!isNodeId(id))
      throw new TypeError(`Cannot use the option peers: ${JSON.stringify(id)} is not an id such as db-1.`)
    if (ids.has(id)) throw new TypeError(`Cannot use the option peers: the id ${id} is given twice.`)
    if (!URL.canParse(url)) throw new TypeError(`Cannot use the option peers: ${id} has no valid address.`)
    ids.add(id)
  }
}
