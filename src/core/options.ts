import type { NodeInfo } from '../kit/answers.ts'
import {
  any,
  type Check,
  type Checked,
  type Checks,
  calling,
  checkOptions,
  having,
  type NeededOf,
  type OptionsOf,
  type StrictOf,
  texts,
} from '../kit/checked.ts'
import type { Tracer } from '../kit/observe/tracer.ts'
import type { LoadJoined } from '../log/files/files.ts'
import { READING } from '../log/options.ts'
import type { Store } from '../store/store.ts'
import type { Token } from './access/grant.ts'
import type { TokenSource } from './access/guard.ts'
import type { Capability } from './capability.ts'
import type { NodeFacts } from './node/identity.ts'
import type { VersionSource } from './node/versions.ts'
import type { Around } from './routing.ts'

/** Options whose absence opens something: `token: env.TOKEN` without the variable must not serve logs to everyone. */
const PROTECTING = {
  /**
   * Who may ask: a token, several tokens with names, or whatever you know about a request. Without it, everybody. An option
   * that is undefined is refused. @default everybody
   */
  auth: auth(),
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
   * Whether each folder of dated objects, as log shippers write them, is one log; needs `search()`, and `nested: true` of
   * `fsStore`. A text is the name of the log where the store itself is such a folder. @default false
   */
  join: join(),
  /** What is added to the three operations: `full()` of `nodestate/full`, or some of it. @default nothing */
  with: capabilities(),
  /** What happens to a path that is not known: 404, or at `next` the next route of an outer app. @default 'problem' */
  unknown: words('problem', 'next'),
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
  if (options.join && !joinedOf(options))
    throw new TypeError(
      'Cannot use the option join alone: search() of nodestate/search reads joined logs; add it to the option with.',
    )
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
  checkAuth(given.auth)
  const names = ((given.with ?? []) as readonly Capability[]).map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw new TypeError(`Cannot use the option with: ${twice} is in it twice.`)
}

/** Folders of dated objects are hidden by a store that shows no folders. */
export function refuseJoin({ join = false, logs }: Pick<AppOptions, 'join' | 'logs'>): void {
  if (join !== false && logs.nested === false)
    throw new TypeError(
      'Cannot use the option join: the store shows no folders; give it nested: true, as in fsStore(path, { nested: true }).',
    )
}

/** What reads joined logs, if one of the capabilities does. */
export function joinedOf(options: Pick<SharedOptions, 'with'>): LoadJoined | undefined {
  return options.with?.find(({ joined }) => joined)?.joined
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

/** Who may ask. At least one of these. */
const AUTH = {
  /** Every request under `/api/` needs `Authorization: Bearer …` with it, and may see everything. @default none */
  token: token(),
  /**
   * Several tokens with names, scopes, files and nodes. Called for every request: return the same array while nothing has
   * changed. @default none
   */
  tokens: calling<TokenSource>('returns the tokens'),
  /**
   * Names a client that needs no token, by its certificate or by what a middleware found out: a name, or one with scopes,
   * files and nodes; null for the others, who need a token, and get no answer where there is none. @default nobody is known
   */
  identify: calling<Identify>('returns a name or null'),
}
export type Auth = string | StrictOf<typeof AUTH>

/** What is known about a client: its name, for the audit, and what it may see. @default everything */
export type Identity = string | Omit<Token, 'token'>
export type Identify = (request: Request, around: Around) => Identity | null | Promise<Identity | null>

function auth(): Check<Auth> {
  const single = token()
  const check = (value: unknown) => {
    if (typeof value === 'string') return single(value)
    const isSome = typeof value === 'object' && value !== null && Object.keys(value).length > 0
    return isSome ? null : 'a token, or an object with token, tokens or identify'
  }
  return check
}

/** Throws a TypeError about `auth`, which never opens the service by accident. */
function checkAuth(auth: unknown): void {
  if (typeof auth !== 'object' || auth === null) return
  for (const [name, value] of Object.entries(auth))
    if (value === undefined || value === null)
      throw new TypeError(
        `Cannot use the option auth.${name}: it is ${value}; give it a value, or leave it out.`,
      )
  checkOptions(auth, AUTH, { what: 'auth', where: 'auth.' })
}

function token(): Check<string> {
  return (value) =>
    typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)
      ? null
      : 'printable ASCII without spaces, and not empty'
}

function capabilities(): Check<readonly Capability[]> {
  return (value) =>
    Array.isArray(value) && value.every((one) => typeof one?.name === 'string')
      ? null
      : 'a list of capabilities, such as full() of nodestate/full'
}

function words<W extends string>(...words: readonly W[]): Check<W> {
  return (value) => (words.includes(value as W) ? null : words.map((word) => `'${word}'`).join(' or '))
}

function join(): Check<boolean | string> {
  return (value) =>
    typeof value === 'boolean' || (typeof value === 'string' && value !== '') ? null : 'true, false or a name'
}
