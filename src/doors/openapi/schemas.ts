/** The bodies of answers as JSON Schema. The types of `nodestate/client` are checked against these. */

const text = (description?: string) => ({ type: 'string', description }) as const
const textOrNull = (description?: string) => ({ type: ['string', 'null'], description }) as const
const integer = (description?: string, bounds: { minimum?: number; maximum?: number } = {}) =>
  ({ type: 'integer', description, ...bounds }) as const
const integerOrNull = (description?: string) => ({ type: ['integer', 'null'], description }) as const
const number = (description?: string) => ({ type: 'number', description }) as const
const numberOrNull = (description?: string) => ({ type: ['number', 'null'], description }) as const
const flag = (description: string) => ({ type: 'boolean', description }) as const
const list = <I extends object>(items: I, description?: string) =>
  ({ type: 'array', items, description }) as const

/** An object with members that are always there, and members that may be missing. */
function object<R extends object, O extends object = object>(always: R, sometimes?: O) {
  const names = Object.keys(always) as (keyof R)[]
  const required = names.length > 0 ? { required: names } : ({} as { required: (keyof R)[] })
  return { type: 'object', ...required, properties: { ...always, ...sometimes } as R & O } as const
}

/** A schema whose objects have no other members. */
const closed = <S extends object>(schema: S) => ({ ...schema, additionalProperties: false }) as const

const PORT = { minimum: 0, maximum: 65_535 }
const NODE_FIELDS = {
  hostIp: text('IP address of the node.'),
  hostName: text('Host name of the node.'),
  grpcPort: integer("Port of the node's gRPC server.", PORT),
  httpPort: integer("Port of the node's HTTP server.", PORT),
  version: text("Version of the node's software."),
  onlineTime: integer('When the node came online, in milliseconds since the Unix epoch.', { minimum: 0 }),
}
const KNOWN = list(
  { enum: Object.keys(NODE_FIELDS) as (keyof typeof NODE_FIELDS)[] },
  'The fields of `node` that were set or read from the configuration: with `detail=true`, or of a peer that answers.',
)
const NODE = closed({ ...object(NODE_FIELDS), description: 'The description of the node that answers.' })

const CONFIG = object(
  { config: text("The node's configuration as TOML, with secrets masked."), node: NODE },
  {
    known: KNOWN,
    time: integer('With `at`: when this version was first seen, in milliseconds since the Unix epoch.'),
  },
)

const CONFIG_CHANGE = object(
  { key: text('The dotted path of the key, as TOML writes it.') },
  {
    before: text('Its value before as TOML; absent if it was not set.'),
    after: text('Its value as TOML; absent if it is not set any more.'),
  },
)
const CONFIG_VERSION = object(
  {
    time: integer('When the version was first seen, in milliseconds since the Unix epoch.'),
    etag: text('The same for versions with the same masked text.'),
    size: integer('Bytes of the masked text.', { minimum: 0 }),
    changes: list(
      closed(CONFIG_CHANGE),
      'What changed since the version before, by key; nothing if only comments, order or layout changed.',
    ),
  },
  {
    error: {
      enum: ['not-toml', 'too-large'],
      description: 'Why the changes are not known: this version or the one before it cannot be compared.',
    } as const,
  },
)

const CONFIG_BLAME = object({
  complete: flag('False when versions, errors or nodes that should have been looked at are missing.'),
  keys: list(
    closed(
      object(
        {
          key: text(),
          changed: {
            type: ['integer', 'null'],
            description:
              'When this value was first seen, in milliseconds since the Unix epoch; null if no change is known.',
          } as const,
        },
        {
          value: text('TOML text; absent if the key is not set any more.'),
          before: text('The value before, if it was set.'),
          errors: object({
            before: integer('Errors of all logs in the hour before the change.'),
            after: integer('Errors per hour after it, of an hour at most.'),
          }),
          others: list(object({ nodes: list(text()) }, { value: text() }), 'Other values, and who has them.'),
        },
      ),
    ),
  ),
})

const CONFIG_COMPARISON = object({
  nodes: list(text(), 'The nodes that were compared, by id.'),
  missing: {
    type: 'object',
    description:
      'Why other nodes were not compared: `no-config`, `too-large`, `not-toml`, `budget`, or the code of a storage problem.',
    additionalProperties: text(),
  } as const,
  keys: list(
    closed(
      object({
        key: text('The dotted path of the key, as TOML writes it.'),
        values: list(
          closed(
            object(
              { nodes: list(text(), 'The nodes that have this value, by id.') },
              { value: text('The value as TOML; absent for the nodes where the key is not set.') },
            ),
          ),
          'The values, those of most nodes first.',
        ),
        expected: flag('Whether the values differ on purpose, such as ids, addresses and ports.'),
      }),
    ),
    'The keys that differ: first those where few nodes differ from a clear majority, last the expected ones.',
  ),
})

const NODE_DAY = {
  ...object({
    from: integer('When the first step begins, in milliseconds since the Unix epoch.'),
    step: integer('The length of a step in milliseconds.'),
    errors: list(integerOrNull(), 'Errors in each step; null where that is not known.'),
    warnings: list(integerOrNull(), 'Warnings in each step.'),
  }),
  type: ['object', 'null'],
  description:
    'The errors and warnings of the last 24 hours; null if neither its shipper nor the node itself counts them.',
} as const

const FLEET_NODE = object(
  {
    id: text("The name of the node's home."),
    node: {
      ...NODE,
      type: ['object', 'null'],
      description: 'The description of the node; null without the scope `config`.',
    } as const,
    described: flag('Whether its home describes the node.'),
    shipped: textOrNull(
      'When its shipper last wrote, ISO 8601. This, `age`, `lag`, `errors`, `warnings`, `lastLine` and `day` are null without the scope `logs`.',
    ),
    age: integerOrNull("Seconds since then, by the storage's clock."),
    lag: integerOrNull("Bytes that are only on the node's disk, in the files that the token may see."),
    errors: integerOrNull(
      'Errors in the last hour, by the times of the records, in the files that the token may see.',
    ),
    warnings: integerOrNull('Warnings in the last hour.'),
    lastLine: integerOrNull('When the last record was written, in milliseconds since the Unix epoch.'),
    day: NODE_DAY,
    error: textOrNull(
      'The code of the problem that kept the home from being read, or `not-asked` if there was no time to ask.',
    ),
  },
  {
    live: flag('Only of a peer: whether it answers.'),
    answered: integerOrNull(
      'Only of a peer that does not answer: when it last did, in milliseconds since the Unix epoch.',
    ),
    known: KNOWN,
    clock: integerOrNull("Only of a peer: milliseconds that its clock is ahead of the coordinator's."),
  },
)

const FILE_FIELDS = {
  name: text('Name of the log file.'),
  size: integer('Size in bytes.', { minimum: 0 }),
}
const FILE_NODE = { node: text('Of a fleet: the node.') }
const LOG_FILE = object(FILE_FIELDS, FILE_NODE)

const LOG_FILE_DETAIL = object(
  {
    ...FILE_FIELDS,
    modified: text('When the file was last written, ISO 8601.'),
    kind: text('How the file is stored, such as `plain`, `gzip` or `zstd`.'),
    first: textOrNull('Time of the first record, ISO 8601; null if unknown.'),
    last: textOrNull('Time of the last record, ISO 8601; null if unknown.'),
  },
  { ...FILE_NODE, binary: flag('True if the file does not look like text.') },
)

const TAGGED_LOG_FILE = object(
  {
    ...FILE_FIELDS,
    modified: text('When the file was last written, ISO 8601.'),
    etag: text('Changes whenever the bytes do; the `ETag` of a download.'),
  },
  {
    ...FILE_NODE,
    id: text('An identity that survives renaming, if the store has one.'),
    joined: flag('True for a log that is made of many objects, which has no bytes to download.'),
  },
)

const SOURCE = object({ file: text() }, { line: integerOrNull() })
const LOG_RECORD = object(
  {},
  {
    time: textOrNull('ISO 8601, in the zone of the logs.'),
    level: textOrNull('`debug`, `info`, `warn`, `error`, `fatal`, or another word.'),
    source: { ...SOURCE, type: ['object', 'null'] } as const,
    tags: { ...list(text()), type: ['array', 'null'] } as const,
    message: textOrNull('The message, continuation lines included.'),
    context: { description: 'What else the record says: any JSON.' },
    raw: textOrNull('The text as it is in the file, where it could not be parsed or with `raw=true`.'),
    unparsed: flag('True where JSON of the record was too large to be parsed.'),
    ansi: textOrNull('With `ansi=true`: the message with its terminal colours.'),
    file: text('Of several logs: the log of the record.'),
    node: text('Of several nodes: the node of the record.'),
    late: flag('True if it belongs to a page that was given without it.'),
    match: flag('With `context`: false if it does not match and is there only as context.'),
  },
)

const HISTOGRAM = object(
  {
    from: integer('Start of the first bucket, in milliseconds since the Unix epoch.'),
    to: integer('End of the last bucket.'),
    step: integer('Width of a bucket in milliseconds.'),
    complete: flag('False when the budget ended the count; the oldest are missing.'),
    buckets: list(object({ time: integer(), counts: list(integer(undefined, { minimum: 0 })) })),
  },
  {
    levels: list(text(), 'The columns of `counts`.'),
    files: list(text(), 'The columns with `by=file`.'),
    nodes: list(text(), 'The columns with `by=node`.'),
  },
)

const UNIT = {
  enum: ['ms', 'bytes', null],
  description: 'Durations are in milliseconds, sizes in bytes; null for other numbers.',
} as const
const NUMBERS = object({
  count: integer('Values that are numbers.'),
  min: number(),
  median: number('Within 2 %.'),
  p95: number('Within 2 %.'),
  max: number(),
  unit: UNIT,
})
const FIELD = object(
  {
    name: text('The field, as `where` takes it.'),
    count: integer('Records that have it.'),
    values: list(object({ value: text(), count: integer() })),
  },
  {
    numbers: {
      ...NUMBERS,
      description: 'The distribution of its values, if more than half of them are numbers.',
    },
  },
)
const PATTERN = object(
  {
    pattern: text('The constant words of the messages; `<*>` is what varies.'),
    count: integer(),
    level: textOrNull(),
    first: textOrNull('Time of the first such message, ISO 8601.'),
    last: textOrNull('Time of the last one.'),
    example: text('The beginning of one of these messages.'),
    over: list(
      integer(),
      'How many there were in each of 24 equal parts of the time between the first and the last examined record.',
    ),
  },
  {
    file: text('Of several logs: the one that all of these messages are from.'),
    node: text('On a fleet: the node that all of these messages are from.'),
  },
)
const FIELDS = object({
  records: integer('Records looked at.'),
  sampled: flag('True when there are more records than were looked at.'),
  complete: flag('False when a budget ran out or an archive ends early, so that records are missing.'),
  fields: list(FIELD),
  patterns: list(PATTERN),
})

const GROUP = object(
  { value: text(), count: integer(), errors: integer('Records with the level error or fatal.') },
  {
    min: numberOrNull('With `of`: the smallest number; null if no record of the group has one.'),
    median: numberOrNull('Within 2 %.'),
    p95: numberOrNull('Within 2 %.'),
    max: numberOrNull(),
  },
)
const GROUPS = object(
  {
    by: text(),
    of: textOrNull(),
    unit: UNIT,
    records: integer('Records that have the field.'),
    complete: flag('False when a budget ran out or bytes are missing, so that records are missing.'),
    groups: list(GROUP),
  },
  {
    other: {
      ...object({ count: integer(), errors: integer() }),
      description: 'The records of all values that are not in `groups`, if there are any.',
    },
  },
)
const COMPARED_PERIOD = object({
  from: integer('Start, in milliseconds since the Unix epoch.'),
  to: integer('End, in milliseconds since the Unix epoch.'),
  records: integer('Records that match the filters.', { minimum: 0 }),
})
const FINDING = object(
  {
    kind: { enum: ['pattern', 'field', 'level', 'config', 'silent'] } as const,
    what: text(
      'The pattern, `FIELD:VALUE` (or the field whose numbers moved), the level, the key of the configuration, or the log.',
    ),
    count: integer('Records, or changes of the key, in the range; estimated with the note `sampled`.'),
    base: integer('The same in the base.'),
  },
  {
    node: text('The node that all of it is from.'),
    file: text('The log that all of it is from.'),
    example: text('The message of one record; of a key, its values before and after.'),
    query: text(
      'The query string of `/api/v1/log/view` that shows the records; in the base, if they are gone.',
    ),
  },
)
const COMPARISON = object({
  range: COMPARED_PERIOD,
  base: COMPARED_PERIOD,
  complete: flag('False when a budget ran out or an archive ends early, so that records are missing.'),
  findings: list(FINDING, 'The most telling first, twelve at most.'),
})

export const SCHEMAS = {
  Config: closed(CONFIG),
  ConfigVersion: closed(CONFIG_VERSION),
  ConfigComparison: closed(CONFIG_COMPARISON),
  ConfigBlame: closed(CONFIG_BLAME),
  FleetNode: {
    ...FLEET_NODE,
    description: 'A node of a fleet. What is not known, or not covered by the scopes of the token, is null.',
  },
  LogFile: closed(LOG_FILE),
  LogFileDetail: LOG_FILE_DETAIL,
  TaggedLogFile: closed(TAGGED_LOG_FILE),
  LogRecord: {
    ...LOG_RECORD,
    description: 'One record of a log. What a record does not have is left out.',
  },
  Histogram: HISTOGRAM,
  LogFields: FIELDS,
  LogGroups: GROUPS,
  LogComparison: COMPARISON,
}
