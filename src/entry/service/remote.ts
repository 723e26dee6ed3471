import type { Token } from '../../core/access/grant.ts'
import { createApp, watchOf } from '../../core/app.ts'
import { Problem, problemResponse } from '../../core/http/problem.ts'
import type { AppOptions } from '../../core/options.ts'
import { assignId, idFields } from '../../kit/observe/request-id.ts'
import { VERSION } from '../../kit/version.ts'
import { onRetries } from '../../store/remote/retry.ts'
import type { Store } from '../../store/store.ts'
import { loadSettings } from '../settings.ts'
import { EDGE_MEMORY, edgeLogOptions } from './limits.ts'
import { type Environment, nameOf, parseBucket } from './location.ts'
import { authOf, served } from './served.ts'
import { type OpenStore, openSources, refuseMixed } from './sources.ts'

/** Requests cannot share I/O here, and memory is metered. */
const EDGE_HOME = { memory: EDGE_MEMORY, shared: false }

/** A free Worker may make 50 requests: one for the names, one for each node, and a few for those that do not ship. */
const EDGE_FLEET = { pageNodes: 40, listCalls: 48 }

export type Answer = (request: Request) => Response | Promise<Response>

/** What a platform without a file system provides. */
export interface Platform {
  env: Environment
  /** Opens a folder of the bucket that is bound to the deployment; without it only `s3://` locations work. */
  bound?: ((folder: string, nested: boolean) => Store) | undefined
  /** What to set, in the words of the platform. */
  hints: { token: string; home: string }
  /** Milliseconds for which an answer may stay open to follow a log; 0 where answers cannot stay open. */
  followMillis: number
  log(line: string): void
}

/**
 * The service for a platform that has only an environment and buckets. If the configuration cannot
 * work, every request gets a 503 that says what to set: there is no console at startup to print an error to.
 */
export async function composeRemote({ env, bound, hints, followMillis, log }: Platform): Promise<Answer> {
  try {
    const { settings, sources, warnings } = await loadSettings({ env })
    for (const warning of warnings) log(warning)
    const tokens = settings.tokens === null ? null : await readTokens(settings.tokens)
    if (typeof tokens === 'string') return refuse(tokens)
    // Ignoring the setting would leave the service open.
    if (settings.tokenFile !== null)
      return refuse(
        'NODESTATE_TOKEN_FILE names a file, and there are none here: set NODESTATE_TOKEN instead.',
      )
    if (settings.token === null && tokens === null && !settings.insecure) return refuse(hints.token)
    if (settings.peers.length > 0 || settings.peersFrom !== null)
      return refuse('Peers are read by a service on Node, Bun or Deno: unset NODESTATE_PEERS here.')
    if (settings.fleet !== null && !parseBucket(settings.fleet) && !bound) return refuse(hints.home)
    refuseMixed({ settings, sources })
    // A bound bucket is itself a home; the settings may name a folder in it.
    const home = settings.home ?? (settings.logs === null && bound ? '.' : null)
    if (home === null && settings.fleet === null && settings.logs === null) return refuse(hints.home)
    for (const location of [settings.home, settings.logs])
      if (location !== null && !parseBucket(location) && !bound) return refuse(hints.home)
    const named = [home, settings.logs, settings.fleet].some(
      (location) => location !== null && parseBucket(location),
    )
    // A separate chunk: with an R2 binding it is never loaded.
    const openBucket = named ? (await import('./open-bucket.ts')).openBucket : null
    // Counters of an isolate that lives for minutes mean little, so they are off unless requested.
    const isCounted = settings.metrics && sources.metrics !== 'default'
    const capabilities = served({ ...settings, metrics: isCounted }, { runtime: 'edge' })
    const metrics = watchOf({ with: capabilities })
    const openStore: OpenStore = (location, below, nested = settings.nested || settings.join) => {
      const bucket = parseBucket(location)
      const store = bucket
        ? openBucket!(bucket, env, { below, nested })
        : bound!(folder(location, below), nested)
      if (metrics) onRetries(store, metrics.retried)
      return store
    }
    const logOptions = edgeLogOptions(settings)
    const common = {
      with: capabilities,
      facts: { version: VERSION },
      include: settings.include,
      join: settings.join && nameOf(settings.logs ?? home ?? ''),
      ...logOptions,
      ...authOf(settings, tokens && (() => tokens)),
      allowHosts: settings.allowHost,
      corsOrigins: settings.corsOrigin,
      // A request cannot use what another one opened, so each follower polls separately.
      follow: followMillis > 0 && { ...logOptions.follow, maxMillis: followMillis, shared: false },
      onError: (error: unknown, request: Request) =>
        log(
          `${request.method} ${new URL(request.url).pathname} failed: ${String(error)} ${JSON.stringify(idFields(request))}`,
        ),
    } satisfies Partial<AppOptions>
    const { fleet } = settings
    if (fleet !== null) {
      const { createFleet } = await import('../../fleet/fleet.ts')
      const app = createFleet({
        ...common,
        ...EDGE_FLEET,
        store: openStore(fleet, ''),
        nested: settings.nested,
      })
      return (request) => app.fetch(request)
    }
    const place = openSources({ settings: { ...settings, home } }, openStore, EDGE_HOME)
    const app = createApp({
      logs: place.logs!,
      config: place.config ?? (() => Promise.reject(new Problem('not-configured', hints.home))),
      ...(place.versions && { versions: place.versions }),
      node: place.node,
      ...common,
    })
    return (request) => app.fetch(request)
  } catch (error) {
    // The message may name buckets and hosts: it is for the log.
    log(`Cannot start: ${error instanceof Error ? error.message : String(error)}`)
    return refuse(
      'The settings of the service are not valid; its log tells which, correct them and deploy again.',
    )
  }
}

/** The tokens in a text, as there are no files here; or why there are none, which quotes nothing of it. */
async function readTokens(text: string): Promise<readonly Token[] | string> {
  const { parseTokens, TokensError } = await import('../../core/access/tokens.ts')
  try {
    return parseTokens(text)
  } catch (error) {
    const why = error instanceof TokensError ? ` ${error.message}` : ''
    return `NODESTATE_TOKENS must hold the text of a tokens file, because there are no files here.${why}`
  }
}

function refuse(detail: string): Answer {
  return (request) => {
    const response = problemResponse(new Problem('not-configured', detail), request.headers.get('Accept'))
    assignId(request, null)?.(response)
    return response
  }
}

/** A folder of a bucket: no slash at its ends, and `.` is the bucket itself. */
function folder(location: string, below: string): string {
  return [...location.split('/'), below].filter((part) => part !== '' && part !== '.').join('/')
}
