import type { Grant } from '../core/access/grant.ts'
import { claim } from '../core/http/caller.ts'
import { bad } from '../core/http/params.ts'
import { taggedEntry } from '../core/list-parts.ts'
import type { Query } from '../core/query.ts'
import { each } from '../kit/limits/each.ts'
import { LogError } from '../log/error.ts'
import { includeFilter } from '../log/files/include.ts'
import type { LogReader } from '../log/merge/reader.ts'
import {
  checkPicked,
  ELSEWHERE_AT_ONCE,
  literalPattern,
  type Missing,
  MOST_SOURCES,
  mayBePattern,
  type Picked,
  pickSources,
  type Source,
  tooMany,
} from '../log/merge/source.ts'
import { followLimits, type LogOptions, type ProcessLimits } from '../log/options.ts'
import { parseZone, UTC } from '../log/time.ts'
import type { ViewContext } from '../log/view/context.ts'
import { type Detailer, detailer } from '../log/view/detail.ts'
import type { CompareRoute } from '../routes/compare/compare.ts'
import { type MergedRoute, mergedJson, type Sources, sourceHeaders } from '../routes/merged/route.ts'
import { MERGED } from '../routes/merged/routes.ts'
import { StoreError } from '../store/store.ts'
import type { CompareRoute as ConfigRoute } from './compare.ts'
import type { HandOnOptions } from './forward.ts'
import type { FleetHomes } from './homes.ts'
import { type FleetNodes, unknownNode } from './nodes.ts'
import type { Peer } from './peer.ts'
import type { FleetPeers } from './peers.ts'
import { peerReaders } from './reader.ts'

export interface FleetLogsOptions {
  nodes: FleetNodes
  homes: FleetHomes
  options: LogOptions
  limits: ProcessLimits
  /** How configurations are compared. */
  configs: ConfigRoute
  /** The nodes that live, and what their answers may take. */
  peers: Pick<FleetPeers, 'get'>
  handing: HandOnOptions
  /** How many nodes one list has at most. */
  mostListed: number
}

/** How many files the list of several nodes has at most, without and with details. */
const MOST_FILES = 100_000
const MOST_DETAILED = 10_000

/** The nodes that are asked for a token; those that do not answer are added to `missing`. */
interface Asked {
  ids: readonly string[]
  grant: Grant
  missing: Missing[]
}

/** The logs of several nodes: `node` says which. */
export class FleetLogs {
  readonly #options: FleetLogsOptions
  readonly #readerAt: ReturnType<typeof peerReaders>
  /** A reader remembers what its peer cannot do. */
  readonly #readers = new WeakMap<Peer, LogReader>()
  /** What is known about the files of each node that was listed with details. */
  readonly #details = new WeakMap<ViewContext['files'], Detailer>()

  constructor(options: FleetLogsOptions) {
    this.#options = options
    this.#readerAt = peerReaders(options.handing)
  }

  /** Answers one of the resources, over the logs of the wanted nodes. */
  answer(
    name: keyof typeof MERGED | 'list' | 'compare',
    request: Request,
    query: Query,
    grant: Grant,
  ): Promise<Response> {
    claim(request)
    if (name === 'list') return this.#list(request, query, grant)
    const { timezone, limits = {} } = this.#options.options
    const { clock, count } = this.#options.limits
    const zone = timezone === undefined ? UTC : parseZone(timezone)!
    const pick = (asked: Query, signal: AbortSignal) => this.#pick(asked, grant, signal)
    const following = followLimits(this.#options.options)
    const route = {
      clock,
      zone,
      maxSize: limits.maxSize,
      pick,
      readerOf: (source: Source) => this.#readerOf(source),
      following,
      count,
      sharing: { owner: this, viewer: JSON.stringify([grant.files, grant.nodes]) },
    }
    return name === 'compare'
      ? this.#compare(request, query, route, grant)
      : MERGED[name](request, query, route)
  }

  /** Who reads a log, if its node lives and the token may see all of its files. */
  #readerOf({ context }: Source): LogReader | undefined {
    const id = this.#options.homes.readerOf(context)
    const peer = id === undefined ? undefined : this.#options.peers.get(id)
    if (!peer) return undefined
    const reader = this.#readers.get(peer) ?? this.#readerAt(peer)
    this.#readers.set(peer, reader)
    return reader
  }

  /** `GET /api/v1/log/compare`, with the configurations if the token allows that. */
  async #compare(request: Request, query: Query, route: MergedRoute, grant: Grant): Promise<Response> {
    const [{ compareLogs, compared }, { fleetConfig }] = await Promise.all([
      import('../routes/compare/compare.ts'),
      import('./compare.ts'),
    ])
    const { configs } = this.#options
    const config: CompareRoute['config'] = (periods, signal) => fleetConfig(configs, grant, periods, signal)
    const pick = async (asked: Query, signal: AbortSignal) => {
      const { sources, ...rest } = await route.pick(asked, signal)
      return { ...rest, sources: sources.map((source) => compared(source, this.#readerOf(source))) }
    }
    return compareLogs(request, query, {
      ...route,
      pick,
      config: grant.scopes.has('config') ? config : null,
    })
  }

  /** `GET /api/v1/log/list`: the logs of the wanted nodes, by node and name. */
  async #list(request: Request, query: Query, grant: Grant): Promise<Response> {
    const { signal } = request
    if (query.detail && query.etag) throw bad('etag', 'cannot be used with detail; ask for one of them')
    const { ids, missing } = await this.#nodes(query, grant, this.#options.mostListed)
    const notes = new Set<string>()
    let left = query.detail ? MOST_DETAILED : MOST_FILES
    const { found, isCopy } = await this.#each({ ids, grant, missing }, async (node, context) => {
      if (left <= 0) {
        notes.add('list-cut')
        return []
      }
      const { entries: all, note, isCut } = await context.files.list(signal)
      const listed = query.prefix === undefined ? all : all.filter(({ key }) => key.startsWith(query.prefix!))
      const entries = listed.slice(0, Math.max(0, left))
      left -= entries.length
      if (note) notes.add(note)
      if (isCut || entries.length < listed.length) notes.add('list-cut')
      if (query.etag) return entries.map((entry) => ({ node, ...taggedEntry(entry) }))
      if (!query.detail) return entries.map(({ key, size }) => ({ node, name: key, size }))
      const { files, complete } = await this.#detailerOf(context)(entries, signal)
      if (!complete) notes.add('detail-incomplete')
      return files.map((file) => ({ node, ...file }))
    })
    return mergedJson(request, found.flat(), sourceHeaders({ missing, isCopy }, notes))
  }

  #detailerOf(context: ViewContext): Detailer {
    const known = this.#details.get(context.files) ?? detailer(context)
    this.#details.set(context.files, known)
    return known
  }

  async #pick(query: Query, grant: Grant, signal: AbortSignal): Promise<Sources> {
    const { options } = this.#options
    const most = options.limits?.sources ?? MOST_SOURCES
    const files = query.files ?? [query.file!]
    const { ids, missing } = await this.#nodes(query, grant, most)
    const unlisted: Missing[] = []
    const { found, ...rest } = await this.#each({ ids, grant, missing: unlisted }, (node, context) =>
      pickSources({ node, context }, files, signal),
    )
    missing.push(...unlisted)
    const picked: Picked = {
      sources: found.flatMap(({ sources }) => sources),
      missing: [...missing, ...found.flatMap((each) => each.missing)],
      matched: new Set(found.flatMap(({ matched }) => [...matched])),
    }
    checkPicked(picked, files, most)
    return { ...picked, ...rest, unlisted: unlisted.map(({ name }) => name) }
  }

  /** Asks nodes; one whose storage does not answer is named, unless it has a copy. Throws if none answers. */
  async #each<T>({ ids, grant, missing }: Asked, ask: (id: string, context: ViewContext) => Promise<T>) {
    const { homes, nodes } = this.#options
    const answers = new Map<string, T>()
    const copies = new Set<string>()
    const askOne = async (id: string) => {
      try {
        return await ask(id, await homes.context(id, grant))
      } catch (error) {
        const isDead = error instanceof StoreError && homes.live(id) !== undefined
        if (!isDead || !(await nodes.hasHome(id))) throw error
        const answer = await ask(id, homes.copy(id, grant))
        copies.add(id)
        return answer
      }
    }
    const asked = each(ids, ELSEWHERE_AT_ONCE, async (id) => {
      try {
        answers.set(id, await askOne(id))
      } catch (error) {
        if (!(error instanceof StoreError || error instanceof LogError)) throw error
        missing.push({ name: id, error })
      }
    })
    const stored = ids.filter((id) => homes.live(id) === undefined)
    const [first] = await Promise.all([nodes.states(stored, grant), asked])
    // Which of the others are copies is known only now.
    const { absent, settled } =
      copies.size === 0 ? first : await nodes.states([...stored, ...copies], grant, copies)
    const present = ids.filter((id) => answers.has(id) && !absent.has(id))
    if (present.length === 0 && missing.length > 0) throw missing.at(-1)!.error
    return { found: present.map((id) => answers.get(id)!), settled, isCopy: copies.size > 0 }
  }

  async #nodes({ node: wanted = [] }: Query, grant: Grant, most: number) {
    const { nodes } = this.#options
    if (wanted.length === 0)
      throw bad('node', 'is missing; it must be the id of a node, a pattern such as db-*, or * for all')
    const all = wanted.some(mayBePattern) ? await nodes.ids(grant) : []
    const ids = new Set<string>()
    const missing: Missing[] = []
    for (const value of new Set(wanted)) {
      const isWanted = includeFilter([literalPattern(value)])
      const matching = mayBePattern(value) ? all.filter(isWanted) : []
      if (mayBePattern(value) && matching.length === 0) throw unknownNode()
      for (const id of matching) ids.add(id)
      if (mayBePattern(value)) continue
      try {
        await nodes.require(value, grant)
        ids.add(value)
      } catch (error) {
        missing.push({ name: value, error })
      }
    }
    if (ids.size === 0) throw missing[0]!.error
    if (ids.size > most)
      throw tooMany(
        [...ids].map((node) => ({ node })),
        most,
        `This names ${ids.size} nodes, and at most ${most} are read at once`,
      )
    return { ids: [...ids].sort(), missing }
  }
}
