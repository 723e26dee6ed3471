/** The bodies of answers as JSON Schema. The types of `nodestate/client` are checked against these. */

const NODE = {
  type: 'object',
  description: 'The description of the node that answers.',
  required: ['hostIp', 'hostName', 'grpcPort', 'httpPort', 'version', 'onlineTime'],
  additionalProperties: false,
  properties: {
    hostIp: { type: 'string', description: 'IP address of the node.' },
    hostName: { type: 'string', description: 'Host name of the node.' },
    grpcPort: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      description: "Port of the node's gRPC server.",
    },
    httpPort: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      description: "Port of the node's HTTP server.",
    },
    version: { type: 'string', description: "Version of the node's software." },
    onlineTime: {
      type: 'integer',
      minimum: 0,
      description: 'When the node came online, in milliseconds since the Unix epoch.',
    },
  },
} as const

const CONFIG = {
  type: 'object',
  required: ['config', 'node'],
  additionalProperties: false,
  properties: {
    config: { type: 'string', description: "The node's configuration as TOML, with secrets masked." },
    node: NODE,
    known: {
      type: 'array',
      description: 'With `detail=true`: the fields of `node` that were set or read from the configuration.',
      items: { enum: ['hostIp', 'hostName', 'grpcPort', 'httpPort', 'version', 'onlineTime'] },
    },
  },
} as const

const FLEET_NODE = {
  type: 'object',
  description: 'A node of a fleet. What is not known is null.',
  required: ['id', 'node', 'described', 'shipped', 'age', 'lag', 'error'],
  properties: {
    id: { type: 'string', description: "The name of the node's home." },
    node: { ...NODE, type: ['object', 'null'], description: 'The description of the node.' },
    described: { type: 'boolean', description: 'Whether its home describes the node.' },
    shipped: { type: ['string', 'null'], description: 'When its shipper last wrote, ISO 8601.' },
    age: { type: ['integer', 'null'], description: "Seconds since then, by the storage's clock." },
    lag: {
      type: ['integer', 'null'],
      description: "Bytes that are only on the node's disk, in the files that the token may see.",
    },
    error: {
      type: ['string', 'null'],
      description:
        'The code of the problem that kept the home from being read, or `not-asked` if there was no time to ask.',
    },
  },
} as const

const LOG_FILE = {
  type: 'object',
  required: ['name', 'size'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', description: 'Name of the log file.' },
    size: { type: 'integer', minimum: 0, description: 'Size in bytes.' },
  },
} as const

const LOG_FILE_DETAIL = {
  type: 'object',
  required: ['name', 'size', 'modified', 'kind', 'first', 'last'],
  properties: {
    ...LOG_FILE.properties,
    modified: { type: 'string', description: 'When the file was last written, ISO 8601.' },
    kind: { type: 'string', description: 'How the file is stored, such as `plain`, `gzip` or `zstd`.' },
    first: { type: ['string', 'null'], description: 'Time of the first record, ISO 8601; null if unknown.' },
    last: { type: ['string', 'null'], description: 'Time of the last record, ISO 8601; null if unknown.' },
    binary: { type: 'boolean', description: 'True if the file does not look like text.' },
  },
} as const

const LOG_RECORD = {
  type: 'object',
  description: 'One record of a log. What a record does not have is left out.',
  properties: {
    time: { type: ['string', 'null'], description: 'ISO 8601, in the zone of the logs.' },
    level: {
      type: ['string', 'null'],
      description: '`debug`, `info`, `warn`, `error`, `fatal`, or another word.',
    },
    source: {
      type: ['object', 'null'],
      required: ['file'],
      properties: { file: { type: 'string' }, line: { type: ['integer', 'null'] } },
    },
    tags: { type: ['array', 'null'], items: { type: 'string' } },
    message: { type: ['string', 'null'], description: 'The message, continuation lines included.' },
    context: { description: 'What else the record says: any JSON.' },
    raw: {
      type: ['string', 'null'],
      description: 'The text as it is in the file, where it could not be parsed or with `raw=true`.',
    },
    unparsed: { type: 'boolean', description: 'True where JSON of the record was too large to be parsed.' },
    ansi: {
      type: ['string', 'null'],
      description: 'With `ansi=true`: the message with its terminal colours.',
    },
  },
} as const

const HISTOGRAM = {
  type: 'object',
  required: ['from', 'to', 'step', 'complete', 'levels', 'buckets'],
  properties: {
    from: {
      type: 'integer',
      description: 'Start of the first bucket, in milliseconds since the Unix epoch.',
    },
    to: { type: 'integer', description: 'End of the last bucket.' },
    step: { type: 'integer', description: 'Width of a bucket in milliseconds.' },
    complete: {
      type: 'boolean',
      description: 'False when the budget ended the count; the oldest are missing.',
    },
    levels: { type: 'array', items: { type: 'string' }, description: 'The columns of `counts`.' },
    buckets: {
      type: 'array',
      items: {
        type: 'object',
        required: ['time', 'counts'],
        properties: {
          time: { type: 'integer' },
          counts: { type: 'array', items: { type: 'integer', minimum: 0 } },
        },
      },
    },
  },
} as const

const FIELDS = {
  type: 'object',
  required: ['records', 'sampled', 'fields', 'patterns'],
  properties: {
    records: { type: 'integer', description: 'Records looked at.' },
    sampled: { type: 'boolean', description: 'True when there are more records than were looked at.' },
    fields: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'count', 'values'],
        properties: {
          name: { type: 'string', description: 'The field, as `where` takes it.' },
          count: { type: 'integer', description: 'Records that have it.' },
          values: {
            type: 'array',
            items: {
              type: 'object',
              required: ['value', 'count'],
              properties: { value: { type: 'string' }, count: { type: 'integer' } },
            },
          },
        },
      },
    },
    patterns: {
      type: 'array',
      items: {
        type: 'object',
        required: ['pattern', 'count', 'level', 'first', 'last'],
        properties: {
          pattern: {
            type: 'string',
            description: 'The constant words of the messages; `<*>` is what varies.',
          },
          count: { type: 'integer' },
          level: { type: ['string', 'null'] },
          first: { type: ['string', 'null'], description: 'Time of the first such message, ISO 8601.' },
          last: { type: ['string', 'null'], description: 'Time of the last one.' },
        },
      },
    },
  },
} as const

/** RFC 9457. */
const PROBLEM = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string', description: 'A stable relative URI that ends in the code of the problem.' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'One sentence that says what to do.' },
  },
} as const

const STATUS = { const: 'success' } as const
const LABELS = { type: 'object', additionalProperties: { type: 'string' } } as const

const LOKI_RESULT = {
  type: 'object',
  required: ['status', 'data'],
  properties: {
    status: STATUS,
    data: {
      type: 'object',
      required: ['resultType', 'result', 'stats'],
      properties: {
        resultType: { enum: ['streams', 'matrix', 'vector'] },
        result: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              stream: LABELS,
              metric: LABELS,
              value: { type: 'array', description: 'Time in seconds, and the value as text.' },
              values: {
                type: 'array',
                description: 'Time in nanoseconds and line of each record, or points like `value`.',
                items: { type: 'array', minItems: 2, maxItems: 2 },
              },
            },
          },
        },
        stats: { type: 'object' },
      },
    },
  },
} as const

const LOKI_NAMES = {
  type: 'object',
  required: ['status', 'data'],
  properties: { status: STATUS, data: { type: 'array', items: { type: 'string' } } },
} as const

const LOKI_SERIES = {
  type: 'object',
  required: ['status', 'data'],
  properties: { status: STATUS, data: { type: 'array', items: LABELS } },
} as const

const LOKI_STATS = {
  type: 'object',
  required: ['streams', 'chunks', 'bytes', 'entries'],
  properties: {
    streams: { type: 'integer' },
    chunks: { type: 'integer' },
    bytes: { type: 'integer', description: 'Size of the files.' },
    entries: { const: 0, description: 'Records are not counted.' },
  },
} as const

const LOKI_BUILD_INFO = {
  type: 'object',
  required: ['version'],
  properties: { version: { type: 'string', description: "Loki's version whose API this is." } },
} as const

export const SCHEMAS = {
  Config: CONFIG,
  FleetNode: FLEET_NODE,
  LogFile: LOG_FILE,
  LogFileDetail: LOG_FILE_DETAIL,
  LogRecord: LOG_RECORD,
  Histogram: HISTOGRAM,
  LogFields: FIELDS,
  Problem: PROBLEM,
  LokiResult: LOKI_RESULT,
  LokiNames: LOKI_NAMES,
  LokiSeries: LOKI_SERIES,
  LokiStats: LOKI_STATS,
  LokiBuildInfo: LOKI_BUILD_INFO,
} as const
