/** The bodies of answers that the service makes and the client takes. */

/** The description of a node: these fields, in this order, and no others. */
export interface NodeInfo {
  hostIp: string
  hostName: string
  grpcPort: number
  httpPort: number
  version: string
  /** When it came online, in milliseconds since the Unix epoch. */
  onlineTime: number
}

/** A node of a fleet. Values that are unknown, or that the scopes of the token do not cover, are null. */
export interface FleetNode {
  id: string
  /** Needs the scope `config`. */
  node: NodeInfo | null
  /** Whether there is a description. */
  described: boolean
  /** When its shipper last wrote, ISO 8601, and how many seconds ago, by the storage's clock. Needs the scope `logs`. */
  shipped: string | null
  age: number | null
  /** Bytes that are only on the node's disk, in the files that the token may see. Needs the scope `logs`. */
  lag: number | null
  /**
   * How many errors and warnings its logs had in the last hour, by the times of the records, and when the last record was
   * written, in milliseconds since the Unix epoch: in the files that the token may see. Null if neither the shipper nor the
   * node counts them, and without the scope `logs`.
   */
  errors: number | null
  warnings: number | null
  lastLine: number | null
  /** The same for the last 24 hours; null if nobody counts them. Older services do not have it. */
  day?: NodeDay | null
  /** Only of a peer: whether it answers. If it does not, the rest is what its copy in the bucket says, if it has one. */
  live?: boolean
  /** Only of a peer that does not answer: when it last did, in milliseconds since the Unix epoch; null if it never did. */
  answered?: number | null
  /** Only of a peer that answers: the fields of `node` that were set or read. The others describe nodestate and its host. */
  known?: (keyof NodeInfo)[]
  /** Only of a peer: how far its clock is ahead of the coordinator's, in milliseconds, exact to about half a second. */
  clock?: number | null
  /** The code of the problem that kept the node from being read; `not-asked` if there was no time to ask it. */
  error: string | null
}

/** The errors and warnings of a node in the last 24 hours. */
export interface NodeDay {
  /** When the first step begins, in milliseconds since the Unix epoch, and how long each is. */
  from: number
  step: number
  /** How many there were in each step; null where that is not known. */
  errors: (number | null)[]
  warnings: (number | null)[]
}

export type Level = 'debug' | 'info' | 'warn' | 'error' | 'fatal'

/** The level of a record: one of the levels, or the record's own word if that is none of them. */
export type LevelWord = Level | (string & {})

/** A log file as the plain list has it. */
export interface LogFile {
  /** The node, in the list of a fleet. */
  node?: string
  name: string
  /** Bytes as stored. */
  size: number
}

/** A log file as the detailed list has it. */
export interface LogFileDetail extends LogFile {
  /** ISO 8601, in the zone of the logs. */
  modified: string
  /** How it is stored: `plain`, `gzip`, `zstd` … */
  kind: string
  /** Time of the first and of the last record, ISO 8601; null if unknown. */
  first: string | null
  last: string | null
  /** The log that the file is a part of: the name of its active file, or what that would be called. */
  log?: string | null | undefined
  /** Set if the file does not look like text, such as a core dump. */
  binary?: boolean | undefined
}

/** A log file as the list with `etag=true` has it. */
export interface TaggedLogFile extends LogFile {
  /** ISO 8601. */
  modified: string
  /** Changes whenever the bytes do; the `ETag` of a download. */
  etag: string
  /** An identity that survives renaming, if the store has one; a download has it as `X-Nodestate-File`. */
  id?: string | undefined
  /** Set for a log that is made of many objects: it has no bytes to download, only text. */
  joined?: boolean | undefined
}

/** Records over time, by level, log or node. */
export interface Histogram {
  /** Where the first bucket begins and the last one ends, in milliseconds since the Unix epoch. */
  from: number
  to: number
  /** Milliseconds per bucket. */
  step: number
  /** False if the budget ran out; counting goes backwards, so the oldest records are missing. */
  complete: boolean
  /** The names of the columns of `counts`, by what `by` says; `none` is for records without a level. */
  levels?: string[] | undefined
  files?: string[] | undefined
  nodes?: string[] | undefined
  buckets: { time: number; counts: number[] }[]
}

/** Records over time, by level. */
export type LevelHistogram = Histogram & { levels: string[] }

/** The fields and message patterns of the newest records that match the filters. */
export interface LogFields {
  /** The number of records examined. */
  records: number
  /** True if there are more records than were examined. */
  sampled: boolean
  /** False if a budget ran out, or an archive ends early: records that should have been examined are missing. */
  complete: boolean
  /** The most frequent first, each with its most frequent values. */
  fields: LogField[]
  patterns: MessagePattern[]
}

/** A field with its most frequent values. */
export interface LogField {
  name: string
  /** Records that have it. */
  count: number
  values: { value: string; count: number }[]
  /** How its values are distributed, if most of them are numbers. */
  numbers?: NumberSummary | undefined
}

/** A distribution of numbers; the quantiles are within 2 %. */
export interface NumberSummary {
  count: number
  min: number
  median: number
  p95: number
  max: number
  /** Durations are in milliseconds and sizes in bytes; null for other numbers. */
  unit: 'ms' | 'bytes' | null
}

/** Records grouped by the values of a field. */
export interface LogGroups {
  by: string
  /** The field whose numbers each group has; null if none was requested. */
  of: string | null
  unit: NumberSummary['unit']
  /** Records that have the field. */
  records: number
  /** False if a budget ran out, or bytes are missing: records that should have been counted are not. */
  complete: boolean
  /** In the order that was requested; equal ones by value. */
  groups: LogGroup[]
  /** The records of all other values, if there are any. */
  other?: { count: number; errors: number } | undefined
}

/** Records with the same value. The numbers are there if they were requested, and null if no record has one. */
export interface LogGroup {
  value: string
  count: number
  /** Records with the level error or fatal. */
  errors: number
  min?: number | null
  median?: number | null
  p95?: number | null
  max?: number | null
}

/** What sets the records of a range apart from those of its base. */
export interface LogComparison {
  range: ComparedPeriod
  base: ComparedPeriod
  /** False if a budget ran out, or an archive ends early: records that should have been compared are missing. */
  complete: boolean
  /** The most telling first, twelve at most; none if the range resembles its base. */
  findings: LogFinding[]
}

/** From a moment to before another, in milliseconds since the Unix epoch, and how many records there are. */
export interface ComparedPeriod {
  from: number
  to: number
  records: number
}

export interface LogFinding {
  kind: 'pattern' | 'field' | 'level' | 'config' | 'silent'
  /** The pattern, `FIELD:VALUE` (or the field whose numbers moved), the level, the key, or the log. */
  what: string
  /** How many records, or changes of a key, there are in the range, and in the base. */
  count: number
  base: number
  /** The node and the log, if all of them are from one. */
  node?: string | undefined
  file?: string | undefined
  /** The message of one record; of a key, its values before and after. */
  example?: string | undefined
  /** The query string of a view that shows the records; in the base, if they are gone. */
  query?: string | undefined
}

/** Messages that differ only in their numbers, names and the like. */
export interface MessagePattern {
  /** The constant words; the varying parts are `<*>`. */
  pattern: string
  count: number
  level: LevelWord | null
  /** Times of the first and the last of these messages, ISO 8601. */
  first: string | null
  last: string | null
  /** The beginning of one of these messages; older nodes do not have it. */
  example?: string | undefined
  /** Of several logs: the log, and on a fleet the node, if all of these messages are from one. */
  file?: string | undefined
  node?: string | undefined
  /** How many there were in each of 24 equal parts of the time between the first and the last examined record. */
  over?: number[] | undefined
}

/** A key whose value changed: TOML texts, absent where the key is not set. */
export interface ConfigChange {
  key: string
  before?: string | undefined
  after?: string | undefined
}

/** A version of the configuration. */
export interface ConfigVersion {
  /** When it was first seen, in milliseconds since the Unix epoch. */
  time: number
  /** The same for versions with the same masked text. */
  etag: string
  /** Bytes of the masked text. */
  size: number
  /** What changed since the version before. */
  changes: ConfigChange[]
  /** Why the changes are not known: this version or the one before it cannot be compared. */
  error?: 'not-toml' | 'too-large' | undefined
}

/** What differs between the configurations of nodes. */
export interface ConfigComparison {
  /** The nodes that were compared. */
  nodes: string[]
  /** Why other nodes were not compared, by id: `no-config`, `too-large`, `not-toml`, `budget`, `storage-…`. */
  missing: Record<string, string>
  /** First those where few nodes differ from a clear majority, last the expected ones. */
  keys: DifferentKey[]
}

/** The settings of a node, those that changed last first. */
export interface ConfigBlame {
  /** False if versions, errors or other nodes that should have been looked at are missing. */
  complete: boolean
  keys: BlamedKey[]
}

/** A setting, and when it last changed. */
export interface BlamedKey {
  key: string
  /** TOML text; absent if it is not set any more. */
  value?: string | undefined
  /** When this value was first seen, in milliseconds since the Unix epoch; null if no change is known. */
  changed: number | null
  /** The value before, if it was set. */
  before?: string | undefined
  /** Errors per hour of all logs, in the hour before the change and in the one after it: for the newest changes. */
  errors?: { before: number; after: number } | undefined
  /** Other values, and the nodes of the fleet that have them; absent where the key is not set. */
  others?: { value?: string | undefined; nodes: string[] }[] | undefined
}

/** A key that is not the same on all nodes. */
export interface DifferentKey {
  key: string
  /** TOML texts, those of most nodes first; absent where the key is not set. */
  values: { value?: string | undefined; nodes: string[] }[]
  /** Whether the values differ on purpose. */
  expected: boolean
}
