import dns from 'node:dns/promises'
import type { PeerOptions } from '../../fleet/peer.ts'
import * as is from '../settings/kinds.ts'
import { shown } from '../settings/row.ts'
import { type Settings, SettingsError } from '../settings.ts'
import { readOrRefuse } from './tls.ts'

/** How long the addresses of a name are valid. */
const LOOKUP_MS = 30_000
const MOST_FOUND = 1000

type PeerSettings = Pick<Settings, 'peers' | 'peersFrom' | 'peerSelf' | 'peerTokenFile'>

/** Whether the settings name other nodes. */
export function hasPeers({ peers, peersFrom }: Pick<PeerSettings, 'peers' | 'peersFrom'>): boolean {
  return peers.length > 0 || peersFrom !== null
}

/** The peers that the settings name, except the node itself; null if they name none. Throws a SettingsError. */
export function openPeers(
  settings: PeerSettings,
  report: (line: string) => void,
): (() => readonly PeerOptions[]) | null {
  const { peers, peersFrom, peerSelf, peerTokenFile } = settings
  if (!hasPeers(settings)) {
    if (peerSelf === null) return null
    throw new SettingsError('usage', 'Cannot use --peer-self alone: name the other nodes with --peer ID=URL.')
  }
  const ids = peers.map(([id]) => id)
  const twice = ids.find((id, i) => ids.indexOf(id) !== i)
  if (twice !== undefined)
    throw new SettingsError('usage', `Cannot use --peer ${shown(twice)} twice: give each node its own id.`)
  const token = peerTokenFile === null ? undefined : tokenIn(peerTokenFile)
  const peerOf = (id: string, url: string): PeerOptions => ({ id, url, ...(token && { token }) })
  const named = peers.filter(([id]) => id !== peerSelf).map(([id, url]) => peerOf(id, url))
  if (peersFrom === null) return () => named
  const found = lookedUp(peersFrom, report)
  let last: { found: readonly Found[]; all: readonly PeerOptions[] } | null = null
  return () => {
    const now = found()
    if (last?.found === now) return last.all
    const known = new Map(last?.all.map((peer) => [peer.id, peer]))
    const isOther = ({ id }: Found) => id !== peerSelf && !named.some((peer) => peer.id === id)
    const added = now.filter(isOther).map(({ id, url }) => {
      const peer = known.get(id)
      return peer?.url === url ? peer : peerOf(id, url)
    })
    last = { found: now, all: [...named, ...added] }
    return last.all
  }
}

interface Found {
  id: string
  url: string
}

/** The nodes that a name stands for. It is looked up again every 30 seconds in which somebody asks. */
function lookedUp(from: string, report: (line: string) => void): () => readonly Found[] {
  let found: readonly Found[] = []
  let at = Number.NEGATIVE_INFINITY
  let failed = false
  const refresh = async () => {
    at = performance.now()
    try {
      const now = await nodesOf(new URL(from))
      if (JSON.stringify(now) !== JSON.stringify(found)) found = now
      failed = false
    } catch {
      // What was found before still holds: a name server that is away must not empty the page.
      if (!failed) report(`Cannot look up the peers at ${from}; those that are known stay.`)
      failed = true
    }
  }
  void refresh()
  return () => {
    if (performance.now() - at >= LOOKUP_MS) void refresh()
    return found
  }
}

/** One node for each target of the name's SRV records, or else for each of its addresses. */
export async function nodesOf({ protocol, hostname, port, pathname }: URL): Promise<Found[]> {
  const urlOf = (host: string) => `${protocol}//${host}${port && `:${port}`}${pathname.replace(/\/+$/, '')}`
  const targets = await dns.resolveSrv(hostname).catch(() => [])
  const nodes = new Map<string, string>()
  for (const { name } of targets) nodes.set(name.split('.')[0]!, urlOf(name))
  if (nodes.size === 0)
    for (const { address, family } of await dns.lookup(hostname.replace(/^\[|\]$/g, ''), { all: true }))
      nodes.set(address.replace(/[.:]+/g, '-'), urlOf(family === 6 ? `[${address}]` : address))
  const usable = [...nodes].filter(([id]) => is.nodeId.parse(id) !== null)
  const sorted = usable.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, MOST_FOUND)
  return sorted.map(([id, url]) => ({ id, url }))
}

/** The token in a file, without the newline that editors leave. */
function tokenIn(path: string): string {
  const token = is.token.parse(readOrRefuse(path, '--peer-token-file').replace(/\r?\n$/, ''))
  if (token !== null) return token
  throw new SettingsError(
    'file',
    `Cannot use --peer-token-file ${shown(path)}: the token must be ${is.token.allowed}.`,
  )
}
