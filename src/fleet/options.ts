import {
  type AppOptions,
  checkShared,
  DESCRIBED,
  NODE,
  refuseJoin,
  type SharedOptions,
} from '../core/options.ts'
import { any, checkOptions, flag, having, type OptionsOf, text, whole } from '../kit/checked.ts'
import type { Store } from '../store/store.ts'
import type { PeersSource } from './peers.ts'

/** The node that the service itself runs on. */
export interface SelfOptions extends Pick<AppOptions, 'logs' | 'config' | 'versions' | 'node'> {
  /** What the node is called here. */
  id: string
}

/** All nodes of a fleet. */
const FLEET = {
  /** Where the homes are, a folder for each node: `db-4/ship.json`, `db-4/segments/…`. @default none; needed unless there are peers */
  store: having<Store>(
    "a store, such as fsStore('/var/lib/homes', { nested: true })",
    'list',
    'stat',
    'read',
  ),
  /**
   * Nodes that run nodestate themselves, by address. One that also has a home is read from it when it does not answer.
   * @default none
   */
  peers: any<PeersSource>(),
  /** The node that the service runs on: without `node`, the service answers as this one. @default none */
  self: any<SelfOptions>(),
  /** Whether the logs of a home may be in folders below it. @default false */
  nested: flag,
  /** Nodes on a page of the list. @default 200, and 1,000 if a request wants that */
  pageNodes: whole(1, 1000),
  /** Requests to the store that one list or comparison of nodes may make, where a platform limits them. @default no limit */
  listCalls: whole(1),
}

/** A fleet: a location with a home for each node, or the nodes themselves, and the options that all node apps share. */
export type FleetOptions = OptionsOf<typeof FLEET> & SharedOptions

/** Throws a TypeError about an option of `createFleet` that cannot be used. */
export function checkFleetOptions(options: FleetOptions): void {
  checkShared(options, FLEET, { what: 'createFleet', needed: options?.peers ? [] : ['store'] })
  const { self, join } = options
  if (self === undefined) return
  const needed = ['id', ...Object.keys(NODE)]
  checkOptions(self, { id: text, ...NODE, ...DESCRIBED }, { what: 'self', needed, where: 'self.' })
  refuseJoin({ join, logs: self.logs })
}
