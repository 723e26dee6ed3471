import type {
  ConfigBlame,
  ConfigComparison,
  ConfigVersion,
  FleetNode,
  Histogram,
  Level,
  LevelHistogram,
  LevelWord,
  LogComparison,
  LogFields,
  LogFile,
  LogFileDetail,
  LogGroups,
  NodeInfo,
  TaggedLogFile,
} from '../../kit/answers.ts'
import type { Clock } from '../../kit/limits/clock.ts'
import type { ByteStream, Fetch, Signal, Url } from './web.ts'

export type * from '../../kit/answers.ts'

/** The configuration as TOML, with secrets masked, and the node. */
export interface NodeConfig {
  config: string
  node: NodeInfo
  /** With `detail`: the fields of `node` that were set or read, rather than derived from nodestate itself. */
  known?: (keyof NodeInfo)[] | undefined
  /** With `at`: when this version was first seen, in milliseconds since the Unix epoch. */
  time?: number | undefined
}

/** The levels, from the least to the most severe. */
export const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const satisfies readonly Level[]

/** This level and above, or exactly the listed ones: `=warn,fatal`. */
export type LevelFilter = Level | `=${Level}` | `=${Level},${string}`

/** One record of a log. A continuation (a stack trace) is part of the message, after a line feed. */
export interface LogRecord {
  time?: string | null
  level?: LevelWord | null
  source?: { file: string; line?: number | null } | null
  tags?: string[] | null
  message?: string | null
  context?: unknown
  /** The original text, if it did not parse. */
  raw?: string | null
  /** True if the record holds JSON that is too deep, too wide or too long to be parsed; it is part of the message. */
  unparsed?: boolean
  /** The message with its ANSI colours, if it has any and `ansi` was requested. */
  ansi?: string | null
  /** Its log, and on a fleet its node, if several were requested. */
  file?: string
  node?: string
  /** True if it belongs to a page that was given without it. */
  late?: boolean
  /** False if it does not match and is there only as context of a record that does. */
  match?: boolean
}

/** Which records of a log: every field narrows it. */
export interface LogQuery {
  /** At a fleet's own address: the node, or several, by id or pattern. */
  node?: string | readonly string[] | undefined
  /** A name, or several: their records are then merged by time. A name with `*` or `?` is a pattern. */
  file: string | readonly string[]
  /** At or after: ISO 8601, the log's own format, or a duration back from now (`15m`, `7d ago`). */
  since?: string | undefined
  /** Before. */
  until?: string | undefined
  /** This level and above; `=warn,fatal` for exactly these. */
  level?: LevelFilter | undefined
  /** Records that contain this text, or all of these. */
  q?: string | readonly string[] | undefined
  /** Records that match this pattern, or all of these. */
  regex?: string | readonly string[] | undefined
  /** Records that contain none of these texts. */
  not?: string | readonly string[] | undefined
  /** Records that match none of these patterns. */
  notregex?: string | readonly string[] | undefined
  /** Records whose field has this value: `shard:17`, `!shard:17` for the others, `path~/api/*`, `status>=500`. */
  where?: string | readonly string[] | undefined
  /** Records whose message has this pattern, as `fields` writes it: `slow query took <*>`. */
  pattern?: string | undefined
  /** The file together with its rotated predecessors. */
  rotated?: boolean | undefined
  /** How the log is written; by default as UTF-8, or as its byte order mark says. */
  encoding?: 'utf-8' | 'latin1' | 'utf-16le' | 'utf-16be' | undefined
  /** Records whose message has ANSI colours also have the coloured message, as `ansi`. */
  ansi?: boolean | undefined
  /** Records also have their original text, as `raw`. */
  raw?: boolean | undefined
  /** A page or groups for a coordinator, which merges them with those of other nodes. */
  lane?: boolean | undefined
}

/** Which part of the selected records. */
export interface ViewQuery extends LogQuery {
  /** At most this many bytes. */
  size?: number | undefined
  /** At most this many lines. */
  lines?: number | undefined
  /** At most this many lines from `since`, a cursor or the start on: the counterpart of `lines`. */
  first?: number | undefined
  /** With a filter: also so many records before and after each match, at most 100. `lines` and `first` count matches then. */
  context?: number | undefined
  /** A page older than this cursor. */
  before?: string | undefined
  /** A page newer than this cursor. */
  after?: string | undefined
}

/** The columns of CSV. */
export interface Columns {
  /** Members of a record or names of fields. @default time, level, message; with several logs file, on a fleet node first */
  columns?: readonly string[] | undefined
}

/** A source that is not in an answer. */
export interface Missing {
  /** A log, a node or `node/log`; `+2` counts those that are not named. */
  name: string
  /** The code of the problem; empty if there is none. */
  reason: string
}

/** What an answer lacks: if both are empty, it is whole. */
export interface Completeness {
  /** What is special about the answer, as short words. */
  notes: string[]
  /** The sources that are not in it. */
  missing: Missing[]
}

/** A list, and what it lacks. */
export interface Entries<T> extends Completeness {
  entries: T[]
}

/** One page of a log. */
export interface View<T> extends Completeness {
  /** The text, or the records. */
  content: T
  /** Pass it as `before` for the page before; null at the log's first byte. */
  prev: string | null
  /** Pass it as `after` for what comes after this page. */
  next: string | null
  /** False when the scan's budget ended before the page was full; `prev` continues from there. */
  complete: boolean
  /** On a fleet, ISO 8601: up to this moment every source has shipped all that the token may see. */
  settled: string | null
}

/** What a follow reports: records, changes of the file, and the state of the connection. */
export type FollowEvent<T = string> =
  | { type: 'record'; id: string | null; data: T }
  | { type: 'rotated' | 'truncated' | 'gap'; id: string | null; data: string }
  | ({ type: 'open' } & Completeness)
  | { type: 'lost'; error: Error; retryIn: number }

export interface ClientOptions {
  /** Where the app is mounted, such as `http://127.0.0.1:9000/` or `https://host/nodes/db-4`. */
  base: string | Url
  /** The bearer token, or a function that is called for it with every request. @default none */
  token?: string | null | (() => string | null) | undefined
  /** @default the global fetch */
  fetch?: Fetch | undefined
}

export interface CallOptions {
  signal?: Signal | undefined
}

export interface ConfigQuery {
  detail?: boolean | undefined
  /** The version that held at this time, written like `since` of a log. */
  at?: string | number | undefined
}

export interface FollowOptions extends CallOptions {
  /** Continue after this cursor: a record's id, or a view's `next`. Takes precedence over `lines` and `size`. */
  lastId?: string | null | undefined
  /** `true` for records; `'text'` for their JSON text, as `lines` has it; otherwise the text of the log. @default false */
  json?: boolean | 'text' | undefined
  /** First pause before a reconnect, in milliseconds; doubles up to 30 s. @default 500 */
  backoff?: number | undefined
  /** A connection that is silent for this many milliseconds, heartbeats included, counts as lost. @default 60000 */
  silence?: number | undefined
  /** Time and timers. @default the system's */
  clock?: Clock | undefined
  /** Spreads the pauses. @default Math.random */
  random?: (() => number) | undefined
}

/** A file's bytes. If it is made of several logs, `missing` names those that are not in it. */
export interface Download extends Completeness {
  name: string
  /** Size in bytes, if the server sends it. */
  size: number | null
  body: ByteStream
}

export interface HistogramQuery extends LogQuery {
  /** At most this many buckets. */
  buckets?: number | undefined
  /** Buckets of exactly this width: `40s`, or milliseconds. */
  step?: string | number | undefined
  /** With `step`: an instant at which a bucket begins, in milliseconds since the Unix epoch. */
  origin?: number | undefined
  /** What the counts are split by. */
  by?: 'level' | 'file' | 'node' | undefined
}

/** How records are grouped. */
export interface GroupsQuery extends LogQuery {
  /** The field that they are grouped by. */
  by: string
  /** A numeric field: each group has the distribution of its numbers. */
  of?: string | undefined
  /** The order of the groups, the largest first. @default 'count' */
  sort?: 'count' | 'errors' | 'median' | 'p95' | 'max' | undefined
  /** At most this many groups. @default 20 */
  limit?: number | undefined
}

/** A range, and what it is compared with; `until` is now by default. */
export interface CompareQuery extends LogQuery {
  since: string
  /** The base: as long as the range, at least an hour, and directly before it, unless these say otherwise. */
  baseSince?: string | undefined
  baseUntil?: string | undefined
  /** At a fleet's own address: compares with these nodes instead, by id or pattern. */
  baseNode?: string | readonly string[] | undefined
}

/** Which logs are listed. */
export interface ListOptions extends CallOptions {
  /** At a fleet's own address: the nodes, by id or pattern. */
  node?: string | readonly string[] | undefined
  /** Only files whose names come after this one. */
  after?: string | undefined
}

/** What differs between the configurations of nodes; `missing` are the nodes that were not compared. */
export interface Comparison extends Omit<ConfigComparison, 'missing'>, Completeness {}

export type Follow<T> = AsyncGenerator<FollowEvent<T>, void, undefined>

/** A node's HTTP interface, typed. */
export interface Client {
  config(options?: CallOptions & ConfigQuery): Promise<NodeConfig>
  /** The versions of the configuration, newest first. */
  history(options?: CallOptions & { limit?: number | undefined }): Promise<Entries<ConfigVersion>>
  /** What differs between the configurations of nodes of a fleet: ids, or patterns such as `db-*`. */
  compareConfig(nodes: string | readonly string[], options?: CallOptions): Promise<Comparison>
  /** Each setting with when it last changed and the errors around that; at a fleet's own address, of one node. */
  blame(options?: CallOptions & { node?: string | undefined }): Promise<ConfigBlame & Completeness>
  /** All log files, however many answers that takes. */
  list(options?: ListOptions & { detail?: false | undefined }): Promise<Entries<LogFile>>
  /** All log files, with what is known about each. */
  list(options: ListOptions & { detail: true }): Promise<Entries<LogFileDetail>>
  /** All log files as they are now, with the version of each. */
  tagged(options?: ListOptions & { prefix?: string | undefined }): Promise<Entries<TaggedLogFile>>
  /** A page as text; invalid UTF-8 is replaced. */
  view(query: ViewQuery, options?: CallOptions): Promise<View<string>>
  /** A page as JSON text, one record per line: parse the lines you need. */
  lines(query: ViewQuery, options?: CallOptions): Promise<View<string[]>>
  /** A page as records. */
  records(query: ViewQuery, options?: CallOptions): Promise<View<LogRecord[]>>
  /** A page as CSV, with a header. */
  csv(query: ViewQuery & Columns, options?: CallOptions): Promise<View<string>>
  /**
   * The selected tail, then what is appended, until `signal` aborts or you leave the loop. A lost connection is
   * resumed after the last record, forever; a problem that retrying cannot solve (4xx, 501) is thrown.
   */
  follow(query: ViewQuery, options: FollowOptions & { json: true }): Follow<LogRecord>
  follow(query: ViewQuery, options?: FollowOptions & { json?: false | 'text' | undefined }): Follow<string>
  follow(query: ViewQuery, options?: FollowOptions): Follow<string | LogRecord>
  histogram(
    query: HistogramQuery & { by?: 'level' },
    options?: CallOptions,
  ): Promise<LevelHistogram & Completeness>
  histogram(query: HistogramQuery, options?: CallOptions): Promise<Histogram & Completeness>
  fields(query: LogQuery, options?: CallOptions): Promise<LogFields & Completeness>
  /** Records by the values of a field: which path has the most errors, or the slowest requests? */
  groups(query: GroupsQuery, options?: CallOptions): Promise<LogGroups & Completeness>
  /** What sets a range of time apart from the time before it, or nodes from other nodes. */
  compareLogs(query: CompareQuery, options?: CallOptions): Promise<LogComparison & Completeness>
  /** The range of a comparison as one HTML file to hand over, secrets masked. */
  incident(query: CompareQuery, options?: CallOptions): Promise<Download>
  /** The nodes of a fleet; a service that is not a fleet answers 404. */
  nodes(options?: CallOptions): Promise<Entries<FleetNode>>
  /** The selected records as a file, oldest first, to the end of the log. */
  export(
    query: LogQuery & Columns,
    format: 'text' | 'ndjson' | 'csv',
    options?: CallOptions,
  ): Promise<Download>
  download(file: string, options?: CallOptions): Promise<Download>
}
