import { closeSync, constants, existsSync, opendirSync, openSync, statSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { createApp, watchOf } from '../../core/app.ts'
import type { Capability } from '../../core/capability.ts'
import { addressOf } from '../../core/http/caller.ts'
import { Problem } from '../../core/http/problem.ts'
import { configTooLarge, HOME_LOGS, HomeError, LARGEST_CONFIG } from '../../core/node/home.ts'
import { unknownHost } from '../../core/node/unknown-host.ts'
import type { AppOptions } from '../../core/options.ts'
import { createFleet } from '../../fleet/fleet.ts'
import { idFields } from '../../kit/observe/request-id.ts'
import { VERSION } from '../../kit/version.ts'
import { fsStore } from '../../store/fs.ts'
import { onRetries } from '../../store/remote/retry.ts'
import { SEGMENTS } from '../../store/segment/names.ts'
import { type Store, StoreError } from '../../store/store.ts'
import { bearerOf, type Fetch, safeTarget, withAccessLog } from '../own-log/access.ts'
import { type Audit, openAudit } from '../own-log/audit.ts'
import { KnownTokens } from '../own-log/known-tokens.ts'
import { type LineWriter, lineFile } from '../own-log/line-file.ts'
import { describe, jsonLine, type LogEntry, origin, textLine } from '../own-log/log-line.ts'
import { openOwnLog } from '../own-log/own-log.ts'
import { codeOf, reasonOf } from '../settings/reason.ts'
import { shown } from '../settings/row.ts'
import { effectiveToml } from '../settings/text.ts'
import { hasSource, type Loaded, refuseOpenBind, type Settings, SettingsError } from '../settings.ts'
import { slowedSignIns } from './failed-sign-ins.ts'
import { nodeLogOptions } from './limits.ts'
import { forLocalHosts, isGuarded, isOpenOnLoopback } from './local-hosts.ts'
import { type Environment, nameOf, parseBucket } from './location.ts'
import { memoryLimit } from './memory-limit.ts'
import { openBucket } from './open-bucket.ts'
import { hasPeers, openPeers } from './peers.ts'
import { authOf, served } from './served.ts'
import { type OpenStore, openSources, refuseMixed } from './sources.ts'
import { readOrRefuse, readTls } from './tls.ts'
import { tokensFile } from './tokens-file.ts'

const STARTED = origin('entry/service/compose.ts', 'Server', 'Start')
const FAILED = origin('entry/service/compose.ts', 'Server', 'Request')
const AUDIT = origin('entry/service/compose.ts', 'Server', 'Audit')
/** What the audit file says is for the operator. */
const AUDIT_MODE = 0o640

/** In a fleet's directory, links may not leave the folder of a home that they are in, such as `db-4/logs/`. */
const HOME_DEPTH = 2
/** What a client takes that asked for a long answer and does not read it. */
const CLIENT_BYTES = 128 * 1024
/** As many clients as a small machine must serve. */
const LEAST_CLIENTS = 512

/** What a runtime can do. */
export interface HostOptions {
  /** It reads into shared memory without a copy. @default false */
  sharedMemory?: boolean
  /** The name in the client certificate of a request, if there is one that its server trusts. @default it cannot say */
  identify?: ((bindings: unknown) => string | null) | null
  /** What `nodestate demo` shows instead of a node. @default the logs and the configuration that the settings name */
  sample?: Sample | null
}

/** A node that is made up, ready to be shown. */
export type Sample = Pick<AppOptions, 'logs' | 'node'> & { config: string; versions: Store }

/**
 * Composes the service from its settings, and from the environment where its buckets are concerned, ready to listen: what
 * Node, Bun and Deno have in common. `stderr` takes the own log where it has no file. Throws a SettingsError.
 */
export function compose(
  loaded: Loaded,
  stderr: LineWriter,
  env: Environment,
  { sharedMemory = false, identify = null, sample = null }: HostOptions = {},
) {
  const { settings, warnings } = loaded
  const { fleet, peerSelf } = settings
  if (sample === null && !hasSource(loaded)) throw new SettingsError('usage', NO_SOURCE)
  refuseOpenBind(settings)
  if (settings.tlsClientCa !== null && identify === null)
    throw new SettingsError(
      'usage',
      'Cannot use --tls-client-ca on this runtime: it does not show client certificates; use Node.',
    )
  if (settings.mcp) refuseMissing('@modelcontextprotocol/server', '--mcp')
  const onlineTime = Date.now()
  const tls = readTls(settings)
  const config = openConfig(settings)
  // Never write to a directory the user named; it belongs to the database.
  const peers = openPeers(settings, (line) => log.warn(STARTED, line))
  const isFleet = fleet !== null || peers !== null
  /** Whether it shows other nodes only. */
  const isCoordinator = isFleet && peerSelf === null
  refuseMixed(loaded)
  const capabilities = served(settings, { isSample: sample !== null })
  const metrics = watchOf({ with: capabilities })
  const openStore: OpenStore = (location, below, nested) => {
    const bucket = parseBucket(location)
    const isNested = nested || settings.nested || settings.join
    const store = bucket
      ? openBucket(bucket, env, { below, nested: isNested })
      : fsStore(join(location, below), { nested: isNested, linkDepth: location === fleet ? HOME_DEPTH : 0 })
    if (metrics) onRetries(store, metrics.retried)
    return store
  }
  const memory = settings.memory ?? memoryLimit()
  const place = sample ?? openSources(loaded, openStore, { memory })
  const home = settings.logs === null ? settings.home : null
  const own = home === null ? settings.logs : joined(home, HOME_LOGS)
  const logs = isCoordinator ? fleet : own
  // A home that a shipper fills has its logs in segments, and may have no log directory.
  const isShipped = home !== null && existsSync(join(home, SEGMENTS))
  const isElsewhere = logs === null || parseBucket(logs) || isShipped
  const notes = [...warnings, ...(isElsewhere ? [] : checkLogs(logs))]
  if (settings.hostName === null && home === null && !isCoordinator && !sample) notes.push(...unknownHost())
  const format = settings.logFormat === 'json' ? jsonLine : textLine
  let known = new KnownTokens(settings.token, null)
  const log = openOwnLog(settings.logLevel, stderr, (entry: LogEntry) => known.mask(format(entry)))
  const tokens =
    settings.tokens === null ? null : tokensFile(settings.tokens, (line) => log.warn(STARTED, line))
  if (tokens) known = new KnownTokens(settings.token, tokens)
  /** The names of the tokens that requests carry, for the access log. */
  const names = new WeakMap<Request, string>()
  const nameOfToken = (request: Request) => names.get(request)
  const { auditFile } = settings
  const audit: Audit | null =
    auditFile === null
      ? null
      : openAudit(auditFile === '-' ? stderr : auditWriter(auditFile, (line) => log.error(AUDIT, line)), {
          tokens: known,
          nameOf: nameOfToken,
        })
  const shownLogs = sample ? 'a sample' : (logs ?? 'of its peers')
  const what = settings.config ?? (settings.home === null ? null : joined(settings.home, 'config.toml'))
  return {
    settings,
    log,
    audit,
    tls,
    /** One line each for stderr; nothing that stops the service. */
    warnings: notes,
    connections: Math.max(LEAST_CLIENTS, Math.floor(memory / CLIENT_BYTES)),
    /** The request handler. The port is the one the system assigned, if 0 was requested. */
    handler(port: number): Fetch {
      const common = {
        with: capabilities,
        facts: { port, onlineTime },
        include: settings.include,
        join: settings.join && nameOf(logs === null || parseBucket(logs) ? (logs ?? '') : resolve(logs)),
        ...nodeLogOptions(settings, memory),
        sharedMemory,
        ...authOf(settings, tokens, identify),
        onAccess: (request: Request, name: string) => void names.set(request, name),
        allowHosts: settings.allowHost,
        corsOrigins: settings.corsOrigin,
        onError(error: unknown, request: Request) {
          const target = safeTarget(request.url, known, { own: bearerOf(request) })
          const context = { ...contextOf(error), ...idFields(request) }
          // Anybody can send the header of a coordinator.
          const level = error instanceof Problem && error.code === 'loop' ? 'warn' : 'error'
          log[level](FAILED, `${request.method} ${target} failed: ${describe(error)}`, context)
        },
      } satisfies Partial<AppOptions>
      const node = {
        // Null only for a coordinator, which has no logs of its own.
        logs: place.logs!,
        config: config ?? place.config ?? effectiveToml({ ...settings, port }),
        ...versionsOf(settings, place),
        node: place.node,
      }
      const app = isFleet
        ? createFleet({
            ...common,
            ...(fleet !== null && { store: openStore(fleet, '', true), nested: settings.nested }),
            ...(peers && { peers }),
            ...(peerSelf !== null && { self: { id: peerSelf, ...node } }),
          })
        : createApp({ ...node, ...common })
      log.info(STARTED, `nodestate ${VERSION} listens`, { host: settings.host, port, logs: shownLogs })
      void loadRest(settings, capabilities)
      let answer: Fetch = (request, env) => app.fetch(request, env)
      if (sample) answer = markedAsSample(answer)
      if (isOpenOnLoopback(settings)) answer = forLocalHosts(answer, hostname())
      if (isGuarded(settings)) answer = slowedSignIns(answer)
      if (audit) answer = audit.watch(answer)
      return withAccessLog(answer, log, { tokens: known, nameOf: nameOfToken })
    },
    /** A client that takes this for a proxy was refused. */
    refusedConnect({ url = '', socket }: IncomingMessage): void {
      const shownUrl = safeTarget(`/${url}`, known).slice(1)
      audit?.refused('CONNECT', shownUrl, addressOf({ address: socket.remoteAddress }), 405)
      log.info(FAILED, `CONNECT ${shownUrl} 405`)
    },
    /** The line that says where to look. */
    welcome(url: string): string {
      if (settings.logFormat === 'json')
        return welcomeJson({ url, version: VERSION, logs: shownLogs, config: what })
      const start = `nodestate ${VERSION} listens on ${url} with the`
      if (sample)
        return `${start.slice(0, -3)}a sample, made up and kept in memory; --logs DIR shows your own logs`
      const place = [fleet !== null && `in ${printable(fleet)}`, peers && 'that are its peers'].filter(
        Boolean,
      )
      if (logs === null || isCoordinator) return `${start} nodes ${place.join(' and those ')}`
      return `${start} logs in ${printable(logs)} and the configuration from ${what === null ? 'its own settings' : printable(what)}`
    },
  }
}

const NO_SOURCE =
  'Nothing to show: name a log directory with --logs DIR, the home of a node with --home, or several nodes with --fleet or --peer. nodestate demo shows a sample.'

/** Scripts see by this header that the node is made up; the page has a mark of its own. */
function markedAsSample(fetch: Fetch): Fetch {
  return async (request, env) => {
    const response = await fetch(request, env)
    response.headers.set('X-Nodestate-Sample', 'true')
    return response
  }
}

/** The same for a program that starts the service and needs its address. */
function welcomeJson(fields: { url: string; version: string; logs: string; config: string | null }): string {
  const time = new Date().toISOString()
  return JSON.stringify({ time, level: 'info', message: `nodestate ${VERSION} listens`, ...fields })
}

/**
 * Preloads what the app would load on first use. A runtime remembers that a module could not be read: if its first use
 * came when no descriptor was left, or while an update replaced the files, it would fail forever.
 */
async function loadRest(
  { fleet, peers, peersFrom, join }: Settings,
  capabilities: readonly Capability[],
): Promise<void> {
  const isFleet = fleet !== null || hasPeers({ peers, peersFrom })
  await Promise.allSettled([
    ...capabilities.map(({ preload }) => preload?.()),
    import('../../store/segments.ts'),
    import('../../core/node/identity.ts'),
    import('../../kit/observe/observer.ts'),
    import('../../kit/observe/ready.ts'),
    import('../../core/config.ts'),
    import('../../log/rotated/kin.ts'),
    import('../../core/list-parts.ts'),
    isFleet && import('../../fleet/compare.ts'),
    import('../../core/node/config.ts'),
    import('../../core/access/guard.ts'),
    import('../../core/access/revocation.ts'),
    join && import('../../log/joined/log.ts'),
    join && import('../../log/joined/tracker.ts'),
  ])
}

/** A known failure logs its code; an unknown one also logs the stack. */
function contextOf(error: unknown): Record<string, unknown> {
  if (error instanceof StoreError || error instanceof HomeError || error instanceof Problem)
    return { code: error.code }
  return { stack: error instanceof Error ? (error.stack ?? null) : null }
}

/** Reads the configuration for each request. It is checked once before the start, when someone is watching. */
function openConfig({ config }: Settings): (() => Promise<string>) | null {
  if (config === null) return null
  refuseUnreadable(config, '--config')
  return async () => {
    try {
      return await readRegular(config)
    } catch (error) {
      if (error instanceof HomeError) throw error
      const code = /^(EACCES|EPERM)$/.test(codeOf(error) ?? '') ? 'denied' : 'unavailable'
      throw new StoreError(code, `Cannot read the configuration ${shown(config)}`, { cause: error })
    }
  }
}

/** Where earlier versions of the configuration are; next to a node there is only the file, and its time. */
function versionsOf(
  { config }: Settings,
  { versions }: { versions: Store | null },
): Pick<AppOptions, 'versions'> {
  if (config !== null) return { versions: async () => (await stat(config)).mtimeMs }
  return versions ? { versions } : {}
}

/** O_NONBLOCK: a FIFO in place of the file would block one of four threads forever, and four would block the service. */
async function readRegular(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new Error('It is not a regular file')
    if (stats.size > LARGEST_CONFIG) throw configTooLarge()
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** Refuses to start without an optional package, rather than to fail with the first request that needs it. */
function refuseMissing(name: string, flag: string): void {
  // The binary has every package inside, where they have no names.
  if (import.meta.url.includes('/$bunfs/')) return
  try {
    createRequire(import.meta.url).resolve(name)
  } catch (error) {
    const message = `Cannot use ${flag}: its package is not installed; run npm i ${name} beside nodestate.`
    throw new SettingsError('file', message, { cause: error })
  }
}

/** As readOrRefuse, without reading a file of any size. */
function refuseUnreadable(path: string, flag: string): void {
  readOrRefuse(path, flag, (path) => {
    closeSync(openSync(path, 'r'))
    return ''
  })
}

/** Reports why the log directory cannot be read, or does not look like one. */
function checkLogs(directory: string): string[] {
  try {
    if (statSync(directory).isDirectory()) return homesIn(directory)
  } catch (error) {
    // A sidecar may start before its database: the directory may still be created.
    const why = codeOf(error) === 'ENOENT' ? 'is not there yet' : `cannot be read (${codeOf(error)})`
    return [`The log directory ${shown(directory)} ${why}: requests for logs get 503 until it is.`]
  }
  throw new SettingsError('file', `Cannot use --logs ${shown(directory)}: it is not a directory.`)
}

/** How many names of the log directory are looked at for homes of nodes. */
const MOST_NAMES = 1000

/** A warning if the directory holds the homes of nodes, not logs. */
function homesIn(directory: string): string[] {
  const isHome = (path: string) =>
    existsSync(join(path, 'node.json')) &&
    [HOME_LOGS, SEGMENTS].some((folder) => existsSync(join(path, folder)))
  const looks = `The log directory ${shown(directory)} looks like`
  if (isHome(directory)) return [`${looks} the home of a node: serve it with --home, or its folder "logs".`]
  const folder = opendirSync(directory)
  try {
    for (let n = 0, entry = folder.readSync(); entry && n < MOST_NAMES; n++, entry = folder.readSync())
      if (entry.isDirectory() && isHome(join(directory, entry.name)))
        return [
          `${looks} a fleet, because ${shown(entry.name)} in it is the home of a node: serve it with --fleet.`,
        ]
  } finally {
    folder.closeSync()
  }
  return []
}

/** The audit file. It must be writable at the start; when it fails later, requests are answered, and the log says so. */
function auditWriter(path: string, report: (line: string) => void): LineWriter {
  const refuse = (reason: string, cause?: unknown) =>
    new SettingsError('file', `Cannot write --audit-file ${shown(path)}: ${reason}.`, { cause })
  // A FIFO would wait for a reader.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw refuse('it is not a regular file')
  try {
    closeSync(openSync(path, 'a', AUDIT_MODE))
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT') throw refuse('its directory does not exist', error)
    if (/^(EACCES|EPERM|EROFS)$/.test(code ?? '')) throw refuse('make it writable for this user', error)
    throw refuse(reasonOf(error), error)
  }
  return lineFile(path, AUDIT_MODE, (error) =>
    report(`Cannot write the audit file, so requests leave no trail: ${describe(error)}`),
  )
}

/** A name below a place; the slash of a bucket is the same everywhere. */
function joined(location: string, name: string): string {
  return parseBucket(location) ? `${location.replace(/\/+$/, '')}/${name}` : join(location, name)
}

/** A path for a line of text: in quotes if it would not read as one word. */
export function printable(path: string): string {
  return /^[\w./~+@:-]+$/.test(path) ? path : shown(path)
}
