import type { TokenSource } from './access/guard.ts'
import type { NodeInfo } from './answers.ts'
import type { Loki } from './doors/loki/files.ts'
import type { Mcp } from './doors/mcp/service.ts'
import {
  any,
  type Check,
  type Checked,
  type Checks,
  calling,
  checkOptions,
  flag,
  having,
  type NeededOf,
  type OptionsOf,
  type StrictOf,
  texts,
} from './kit/checked.ts'
import type { Metrics } from './kit/observe/metrics.ts'
import type { Tracer } from './kit/observe/tracer.ts'
import { READING } from './log/options.ts'
import type { NodeFacts } from './node/identity.ts'
import type { VersionSource } from './node/versions.ts'
import type { Page } from './routes/page.ts'
import type { Store } from './store/store.ts'

/** Options whose absence opens something: `token: env.TOKEN` without the variable must not serve logs to everyone. */
const PROTECTING = {
  /** When set, every request under `/api/` needs `Authorization: Bearer …`; undefined is refused. @default none */
  token: token(),
  /**
   * Several tokens with names, scopes, files and nodes; `token` also works, and allows everything. Called for every request:
   * return the same array while nothing has changed. @default none
   */
  tokens: calling<TokenSource>('returns the tokens'),
  /**
   * Names a client that needs no token, such as by its certificate, from what the server passes beside the request; null
   * for the others, who need a token, and get no answer where there is none. @default nobody is known otherwise
   */
  identify: calling<(bindings: unknown) => string | null>('returns a name or null'),
  /** Host names to answer to. @default any */
  allowHosts: texts,
  /** Shell patterns; a file that matches none of them is neither listed nor read. @default every file */
  include: texts,
}

/** How requests are answered and observed. */
const ANSWERING = {
  /** Called with the name of the token of a request, before it is answered. @default nothing */
  onAccess: calling<(request: Request, name: string) => void>('takes a request and a name'),
  /** Origins whose pages may read the API. @default none */
  corsOrigins: texts,
  /** The web page at `/`: `import { page } from 'nodestate/page'`. @default none, and it is not bundled */
  page: given<Page | (() => Page | Promise<Page>)>('page', 'html'),
  /** Loki's read API below `/loki/`: `import { loki } from 'nodestate/loki'`. @default none, and it is not bundled */
  loki: given<Loki | (() => Promise<Loki>)>('loki', 'answer'),
  /** MCP at `/mcp`, for assistants: `import { mcp } from 'nodestate/mcp'`. @default none, and it is not bundled */
  mcp: given<Mcp | (() => Promise<Mcp>)>('mcp', 'answer'),
  /** Counts requests and store calls, and shows them at `/metrics`; see `nodestate/metrics`. @default none */
  metrics: having<Metrics>('what createMetrics of nodestate/metrics returns', 'request', 'store', 'show'),
  /** Whether `/metrics` needs no token. @default false */
  metricsOpen: flag,
  /** A tracer of OpenTelemetry's API, such as `trace.getTracer('nodestate')`: one span for each request. @default none */
  observe: having<Tracer>("a tracer of OpenTelemetry's API", 'startSpan'),
  /** Called for every failure of the service itself (status 500 and above). @default console.error */
  onError: calling<(error: unknown, request: Request) => void>('takes an error and a request'),
}

/** What an app and a fleet have in common. */
const SHARED = {
  /** What the system says about the node. @default the version of this package, online since now */
  facts: any<Partial<NodeFacts>>(),
  /**
   * Whether each folder of dated objects, as log shippers write them, is one log; needs `nested: true` of `fsStore`. A text is
   * the name of the log where the store itself is such a folder. @default false
   */
  join: join(),
  ...ANSWERING,
  ...READING,
}

/** What a node cannot be shown without. */
export const NODE = {
  /** Where the log files are. */
  logs: store(),
  /** The node's configuration as TOML text; a function is called for every request. */
  config: config(),
}

/** What else is known of a node. */
export const DESCRIBED = {
  /**
   * The home whose `configs/` holds earlier versions of the configuration, or a function that tells when the
   * configuration was last written, in milliseconds since the Unix epoch. @default written when the app was made
   */
  versions: any<VersionSource>(),
  /** The node's own description. Unset fields are derived from `facts` and the configuration. @default {} */
  node: any<Partial<NodeInfo> | (() => Partial<NodeInfo> | Promise<Partial<NodeInfo>>)>(),
}

/** What the apps of a node and of a fleet have in common. */
export type SharedOptions = StrictOf<typeof PROTECTING> & OptionsOf<typeof SHARED>
/** The options of a node state service. */
export type AppOptions = NeededOf<typeof NODE> & OptionsOf<typeof DESCRIBED> & SharedOptions
/** Throws a TypeError about an option of `createApp` that cannot be used. */
export function checkAppOptions(options: AppOptions): void {
  checkShared(options, { ...NODE, ...DESCRIBED }, { what: 'createApp', needed: Object.keys(NODE) })
  refuseJoin(options)
}

/** Checks the options of an app or a fleet: those of `own`, and those that both have. */
export function checkShared(options: object, own: Checks, of: Checked): void {
  const given = options as Readonly<Record<string, unknown>> | null | undefined
  if (typeof given !== 'object' || given === null)
    throw new TypeError('Cannot create the app: pass an object with its options, such as { logs, config }.')
  for (const name of Object.keys(PROTECTING))
    if (Object.hasOwn(given, name) && (given[name] === undefined || given[name] === null))
      throw new TypeError(
        `Cannot use the option ${name}: it is ${given[name]}; give it a value, or leave it out.`,
      )
  if (given.nested !== undefined && !('nested' in own))
    throw new TypeError(
      'Cannot use the option nested here: say it to the store, as in fsStore(path, { nested: true }).',
    )
  checkOptions(options, { ...own, ...PROTECTING, ...SHARED }, of)
}

/** Folders of dated objects are hidden by a store that shows no folders. */
export function refuseJoin({ join = false, logs }: Pick<AppOptions, 'join' | 'logs'>): void {
  if (join !== false && logs.nested === false)
    throw new TypeError(
      'Cannot use the option join: the store shows no folders; give it nested: true, as in fsStore(path, { nested: true }).',
    )
}

function store(): Check<Store> {
  return having("a store, such as fsStore('/var/log/db') of nodestate/store/fs", 'list', 'stat', 'read')
}

function config(): Check<string | (() => string | Promise<string>)> {
  return (value) =>
    typeof value === 'string' || typeof value === 'function'
      ? null
      : 'TOML text, or a function that returns it'
}

function token(): Check<string> {
  return (value) =>
    typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)
      ? null
      : 'printable ASCII without spaces, and not empty'
}

function join(): Check<boolean | string> {
  return (value) =>
    typeof value === 'boolean' || (typeof value === 'string' && value !== '') ? null : 'true, false or a name'
}

/** What an entry of this package exports, a function that loads it, or false. */
function given<T>(name: string, member: string): Check<T | false> {
  return (value) => {
    const isOne = typeof value === 'object' && value !== null && member in value
    return isOne || value === false || typeof value === 'function' ? null : `what nodestate/${name} exports`
  }
}
