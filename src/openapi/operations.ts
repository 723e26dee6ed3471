import type { ProblemCode } from '../http/problem.ts'
import type { Resource } from '../routes/parameters/row.ts'
import type { HeaderName, REQUEST_HEADERS } from './headers.ts'
import type { SCHEMAS } from './schemas.ts'

/** A body: its media type, and what it is. */
export type Body = { type: string; example?: unknown } & (
  | { schema: keyof typeof SCHEMAS; list?: true }
  | { text: string }
  | { any: string }
)

export interface Answer {
  description: string
  headers: HeaderName[]
  bodies: Body[]
}

export interface Operation {
  path: string
  id: string
  summary: string
  /** Where its query parameters are in the table. */
  resource?: Resource
  /** Parameters that are not in the table, as OpenAPI has them. */
  parameters?: object[] | undefined
  requestHeaders?: (keyof typeof REQUEST_HEADERS)[]
  /** Answers that are not problems, by status. */
  answers: Record<number, Answer>
  problems: ProblemCode[]
  /** Whether it is answered without a token. */
  open?: true
}

/** Problems that any request under /api/ may get. */
const ANY: ProblemCode[] = ['unauthorized', 'forbidden', 'unknown-host', 'internal']
/** Below `/nodes/{id}/` of a fleet, there may be no such node. */
const API: ProblemCode[] = [...ANY, 'unknown-node']
const STORAGE: ProblemCode[] = [
  'storage-unavailable',
  'storage-denied',
  'storage-throttled',
  'storage-timeout',
]
const FILE: ProblemCode[] = [
  'bad-parameter',
  'unknown-file',
  ...STORAGE,
  'storage-changed',
  'bad-segment',
  'missing-segment',
]
const SEARCH: ProblemCode[] = [
  'bad-pattern',
  'no-time',
  'no-level',
  'archive-budget',
  'bad-archive',
  'not-viewable',
  'too-busy',
]
const UNCHANGED: Answer = {
  description: 'The client has the current version (`If-None-Match`).',
  headers: ['ETag', 'X-Nodestate-Note'],
  bodies: [],
}
const NODE = {
  hostIp: '192.0.2.4',
  hostName: 'db-4',
  grpcPort: 2891,
  httpPort: 3000,
  version: '0.4.1',
  onlineTime: 1_794_708_600_000,
}
const LINE =
  '2026-11-15 02:10:00.123\tINFO\tquery/broker.go:12\t[Broker] [Query]: request 7 took 12 ms\t{"shard":3}\n'
const RECORD = {
  time: '2026-11-15T02:10:00.123Z',
  level: 'info',
  source: { file: 'query/broker.go', line: 12 },
  tags: ['Broker', 'Query'],
  message: 'request 7 took 12 ms',
  context: { shard: 3 },
}

/** Every operation of a node and of a fleet. A resource that the app serves and that is missing here fails a test. */
export const OPERATIONS: Operation[] = [
  {
    path: '/api/v1/config',
    id: 'getConfig',
    summary: "The node's configuration and its description",
    resource: 'config',
    requestHeaders: ['If-None-Match'],
    answers: {
      200: {
        description: 'The configuration as TOML, with secrets masked, and the node.',
        headers: ['ETag', 'X-Nodestate-Note'],
        bodies: [
          {
            type: 'application/json',
            schema: 'Config',
            example: { config: '[http]\nport = 3000\n', node: NODE },
          },
        ],
      },
      304: UNCHANGED,
    },
    problems: [
      ...API,
      'bad-parameter',
      ...STORAGE,
      'bad-config',
      'bad-object',
      'missing-object',
      'not-configured',
    ],
  },
  {
    path: '/api/v1/log/list',
    id: 'listLogs',
    summary: 'The log files of the node',
    resource: 'list',
    requestHeaders: ['If-None-Match'],
    answers: {
      200: {
        description: 'The log files, sorted by name.',
        headers: ['ETag', 'X-Nodestate-Note'],
        bodies: [
          {
            type: 'application/json',
            schema: 'LogFile',
            list: true,
            example: [{ name: 'broker.log', size: 4096 }],
          },
          {
            type: 'application/json',
            schema: 'LogFileDetail',
            list: true,
          },
        ],
      },
      304: UNCHANGED,
    },
    problems: [...API, 'bad-parameter', ...STORAGE],
  },
  {
    path: '/api/v1/log/view',
    id: 'viewLog',
    summary: 'The last part of a log file, or the part that the parameters select',
    resource: 'view',
    requestHeaders: ['If-None-Match', 'Last-Event-ID'],
    answers: {
      200: {
        description: 'The selected part of the log; with `follow=true`, the answer stays open.',
        headers: [
          'ETag',
          'Link',
          'X-Nodestate-Note',
          'Content-Length',
          'Content-Disposition',
          'X-Accel-Buffering',
        ],
        bodies: [
          { type: 'text/plain; charset=utf-8', text: 'Lines as they are in the file.', example: LINE },
          { type: 'application/x-ndjson', schema: 'LogRecord', example: `${JSON.stringify(RECORD)}\n` },
          { type: 'text/event-stream', text: 'With `follow=true`: one event per record, its id a cursor.' },
        ],
      },
      304: UNCHANGED,
    },
    problems: [...API, ...FILE, ...SEARCH, 'bad-cursor', 'cursor-gone', 'unsupported', 'answer-too-large'],
  },
  {
    path: '/api/v1/log/histogram',
    id: 'countRecords',
    summary: 'The number of records over time, by level',
    resource: 'histogram',
    requestHeaders: ['If-None-Match'],
    answers: {
      200: {
        description: 'Counts per bucket of time and level.',
        headers: ['ETag', 'X-Nodestate-Note'],
        bodies: [
          {
            type: 'application/json',
            schema: 'Histogram',
            example: {
              from: 1_794_708_600_000,
              to: 1_794_708_660_000,
              step: 60_000,
              complete: true,
              levels: ['debug', 'info', 'warn', 'error', 'fatal', 'none'],
              buckets: [{ time: 1_794_708_600_000, counts: [0, 12, 0, 1, 0, 0] }],
            },
          },
        ],
      },
      304: UNCHANGED,
    },
    problems: [...API, ...FILE, ...SEARCH, 'unsupported'],
  },
  {
    path: '/api/v1/log/fields',
    id: 'listFields',
    summary: 'The fields of the newest records with their values, and the patterns of their messages',
    resource: 'fields',
    requestHeaders: ['If-None-Match'],
    answers: {
      200: {
        description: 'Fields, values and patterns of a sample of at most 10,000 records.',
        headers: ['ETag', 'X-Nodestate-Note'],
        bodies: [
          {
            type: 'application/json',
            schema: 'LogFields',
            example: {
              records: 300,
              sampled: false,
              fields: [{ name: 'level', count: 300, values: [{ value: 'warn', count: 300 }] }],
              patterns: [
                {
                  pattern: 'slow query took <*>',
                  count: 300,
                  level: 'warn',
                  first: '2026-11-15T01:10:00.000Z',
                  last: '2026-11-15T01:15:00.000Z',
                },
              ],
            },
          },
        ],
      },
      304: UNCHANGED,
    },
    problems: [...API, ...FILE, ...SEARCH, 'unsupported'],
  },
  {
    path: '/api/v1/log/download',
    id: 'downloadLog',
    summary: 'A log file as it is stored, whole or a range of it',
    resource: 'download',
    requestHeaders: ['If-None-Match', 'If-Match', 'Range', 'If-Range'],
    answers: {
      200: {
        description: 'The whole file.',
        headers: ['ETag', 'Content-Length', 'Content-Disposition', 'Accept-Ranges', 'X-Nodestate-Note'],
        bodies: [
          { type: 'application/octet-stream', text: 'The bytes of the file.' },
          { type: 'application/gzip', text: 'The bytes of a `.gz`.' },
          { type: 'application/zstd', text: 'The bytes of a `.zst`.' },
        ],
      },
      206: {
        description: 'The range that `Range` names.',
        headers: [
          'ETag',
          'Content-Length',
          'Content-Range',
          'Content-Disposition',
          'Accept-Ranges',
          'X-Nodestate-Note',
        ],
        bodies: [
          { type: 'application/octet-stream', text: 'Bytes of the file.' },
          { type: 'application/gzip', text: 'Bytes of a `.gz`.' },
          { type: 'application/zstd', text: 'Bytes of a `.zst`.' },
        ],
      },
      304: UNCHANGED,
    },
    problems: [...API, ...FILE, 'precondition-failed', 'range-not-satisfiable', 'answer-too-large'],
  },
  {
    path: '/api/v1/nodes',
    id: 'listNodes',
    summary: 'The nodes of a fleet, by id',
    resource: 'nodes',
    answers: {
      200: {
        description: 'A page of the nodes that the token may see; `Link` has the next page.',
        headers: ['Link', 'X-Nodestate-Note'],
        bodies: [
          {
            type: 'application/json',
            schema: 'FleetNode',
            list: true,
            example: [
              {
                id: 'db-4',
                node: NODE,
                described: true,
                shipped: '2026-11-15T02:10:00.123Z',
                age: 12,
                lag: 0,
                error: null,
              },
            ],
          },
        ],
      },
    },
    problems: [...ANY, 'bad-parameter', ...STORAGE],
  },
  {
    path: '/metrics',
    id: 'getMetrics',
    summary: 'Metrics of the service, where they are turned on',
    answers: {
      200: {
        description: 'All metrics, in the format of Prometheus or of OpenMetrics.',
        headers: [],
        bodies: [
          {
            type: 'text/plain; version=0.0.4; charset=utf-8',
            text: "Prometheus's text format.",
            example: '# TYPE nodestate_followers gauge\nnodestate_followers 3\n',
          },
          {
            type: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
            text: 'OpenMetrics, where `Accept` names it.',
          },
        ],
      },
    },
    problems: [...API, 'unknown-path'],
  },
  {
    path: '/openapi.json',
    id: 'getOpenApi',
    summary: 'This document',
    open: true,
    requestHeaders: ['If-None-Match'],
    answers: {
      200: {
        description: 'The API as OpenAPI 3.1.',
        headers: ['ETag'],
        bodies: [{ type: 'application/json', any: 'An OpenAPI document.' }],
      },
      304: UNCHANGED,
    },
    problems: [],
  },
  {
    path: '/healthz',
    id: 'getHealth',
    summary: 'Whether the service is alive, whatever the state of the storage',
    open: true,
    answers: {
      200: {
        description: 'It is.',
        headers: [],
        bodies: [{ type: 'text/plain; charset=utf-8', text: '`ok`', example: 'ok\n' }],
      },
    },
    problems: [],
  },
  {
    path: '/readyz',
    id: 'getReadiness',
    summary: 'Whether the storage answers; one look counts for two seconds',
    open: true,
    answers: {
      200: {
        description: 'It does.',
        headers: [],
        bodies: [{ type: 'text/plain; charset=utf-8', text: '`ready`', example: 'ready\n' }],
      },
    },
    problems: STORAGE,
  },
]
