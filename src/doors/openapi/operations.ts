import type { Resource } from '../../core/parameter.ts'
import type { SCHEMAS } from './schemas.ts'

/** A body: its media type, JSON unless it says otherwise, and what it is. */
export type Body = { type?: string } & (
  | { schema: keyof typeof SCHEMAS; list?: true }
  | { text: string }
  | { any: string }
)

interface Answer {
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
  /** Request headers that it reads besides `If-None-Match`, which belongs to a 304. */
  requestHeaders?: (keyof typeof REQUEST_HEADERS)[]
  answers: Record<number, Answer>
  /** Whether it is answered without a token. */
  open?: true
}

/** Answers with a tag, which a client can send back to learn that nothing changed. */
function tagged(description: string, bodies: Body[], headers: HeaderName[] = []): Record<number, Answer> {
  return {
    200: { description, headers: ['ETag', 'X-Nodestate-Note', ...headers], bodies },
    304: {
      description: 'The client has the current version (`If-None-Match`).',
      headers: ['ETag', 'X-Nodestate-Note'],
      bodies: [],
    },
  }
}

/** An answer of plain text that is always the same. */
function word(description: string, text: string): Record<number, Answer> {
  return {
    200: { description, headers: [], bodies: [{ type: TEXT, text: `\`${text}\`` }] },
  }
}

/** A file as it is stored, by its ending. */
function stored(what: string): Body[] {
  return [
    { type: 'application/octet-stream', text: `${what} of the file.` },
    { type: 'application/gzip', text: `${what} of a \`.gz\`.` },
    { type: 'application/zstd', text: `${what} of a \`.zst\`.` },
  ]
}

const TEXT = 'text/plain; charset=utf-8'
const ATTACHED: HeaderName[] = [
  'Content-Length',
  'Content-Disposition',
  'Accept-Ranges',
  'Last-Modified',
  'X-Nodestate-File',
]
/** Every operation of a node and of a fleet. A resource that the app serves and that is missing here fails a test. */
export const OPERATIONS: Operation[] = [
  {
    path: '/api/v1/config',
    id: 'getConfig',
    summary: "The node's configuration and its description",
    resource: 'config',
    answers: tagged(
      'The configuration as TOML, with secrets masked, and the node; with `at`, the version of that time.',
      [{ schema: 'Config' }],
    ),
  },
  {
    path: '/api/v1/config/history',
    id: 'listConfigVersions',
    summary: "The versions of the node's configuration, and what changed in each",
    resource: 'history',
    answers: tagged('The versions, newest first.', [{ schema: 'ConfigVersion', list: true }]),
  },
  {
    path: '/api/v1/config/compare',
    id: 'compareConfigs',
    summary: 'The keys that differ between the configurations of the nodes of a fleet',
    resource: 'compare',
    answers: tagged('The nodes that were compared, those that were not, and the keys that differ.', [
      { schema: 'ConfigComparison' },
    ]),
  },
  {
    path: '/api/v1/config/blame',
    id: 'blameConfig',
    summary: 'Each setting with when it last changed, the errors before and after, and the nodes that differ',
    resource: 'blame',
    answers: {
      200: {
        description: "The settings, those that changed last first; at a fleet's own address, of one node.",
        headers: ['X-Nodestate-Note'],
        bodies: [{ schema: 'ConfigBlame' }],
      },
    },
  },
  {
    path: '/api/v1/log/list',
    id: 'listLogs',
    summary: 'The log files of the node',
    resource: 'list',
    answers: tagged(
      'The log files, sorted by name.',
      [
        { schema: 'LogFile', list: true },
        { schema: 'LogFileDetail', list: true },
        { schema: 'TaggedLogFile', list: true },
      ],
      ['X-Nodestate-Zone'],
    ),
  },
  {
    path: '/api/v1/log/view',
    id: 'viewLog',
    summary: 'The last part of a log file, or the part that the parameters select',
    resource: 'view',
    requestHeaders: ['Last-Event-ID'],
    answers: tagged(
      'The selected part of the log; with `follow=true`, the answer stays open.',
      [
        { type: TEXT, text: 'Lines as they are in the file.' },
        { type: 'application/x-ndjson', schema: 'LogRecord' },
        {
          type: 'text/csv; charset=utf-8; header=present',
          text: 'A header and one row per record.',
        },
        { type: 'text/event-stream', text: 'With `follow=true`: one event per record, its id a cursor.' },
        { type: 'application/octet-stream', text: 'With `lane=true`: a page for a coordinator.' },
      ],
      [
        'Link',
        'X-Nodestate-Missing',
        'X-Nodestate-Settled',
        'Content-Length',
        'Content-Disposition',
        'X-Accel-Buffering',
      ],
    ),
  },
  {
    path: '/api/v1/log/histogram',
    id: 'countRecords',
    summary: 'The number of records over time, by level',
    resource: 'histogram',
    answers: tagged(
      'Counts per bucket of time and level, or of time and log or node.',
      [{ schema: 'Histogram' }],
      ['X-Nodestate-Missing', 'X-Nodestate-Settled'],
    ),
  },
  {
    path: '/api/v1/log/fields',
    id: 'listFields',
    summary: 'The fields of the newest records with their values, and the patterns of their messages',
    resource: 'fields',
    answers: tagged(
      'Fields, values and patterns of a sample of at most 10,000 records.',
      [{ schema: 'LogFields' }],
      ['X-Nodestate-Missing', 'X-Nodestate-Settled'],
    ),
  },
  {
    path: '/api/v1/log/groups',
    id: 'groupRecords',
    summary: 'Records grouped by the values of a field, with the numbers of another',
    resource: 'groups',
    answers: tagged(
      'The first groups in the requested order.',
      [
        { schema: 'LogGroups' },
        { type: 'application/octet-stream', text: 'With `lane=true`: what a coordinator merges.' },
      ],
      ['X-Nodestate-Missing', 'X-Nodestate-Settled'],
    ),
  },
  {
    path: '/api/v1/log/compare',
    id: 'compareLogs',
    summary: 'What sets a range of time apart from the time before it, or nodes from other nodes',
    resource: 'difference',
    answers: {
      200: {
        description: 'What differs, the most telling first; nothing if the range resembles its base.',
        headers: ['X-Nodestate-Note', 'X-Nodestate-Missing', 'X-Nodestate-Settled'],
        bodies: [{ schema: 'LogComparison' }],
      },
    },
  },
  {
    path: '/api/v1/log/incident',
    id: 'saveIncident',
    summary: 'A range of time as one HTML file to hand over, secrets masked',
    resource: 'difference',
    answers: {
      200: {
        description:
          'A file that loads nothing and runs nothing: chart, findings, first errors, records, settings.',
        headers: [
          'X-Nodestate-Note',
          'X-Nodestate-Missing',
          'Content-Disposition',
          'Content-Security-Policy',
          'Referrer-Policy',
        ],
        bodies: [{ type: 'text/html; charset=utf-8', text: 'The file.' }],
      },
    },
  },
  {
    path: '/api/v1/log/download',
    id: 'downloadLog',
    summary: 'A log file as it is stored, whole or a range of it',
    resource: 'download',
    requestHeaders: ['If-Match', 'Range', 'If-Range'],
    answers: {
      ...tagged('The whole file.', stored('The bytes'), ATTACHED),
      206: {
        description: 'The range that `Range` names.',
        headers: ['ETag', 'X-Nodestate-Note', 'Content-Range', ...ATTACHED],
        bodies: stored('Bytes'),
      },
    },
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
        bodies: [{ schema: 'FleetNode', list: true }],
      },
    },
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
          },
          {
            type: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
            text: 'OpenMetrics, where `Accept` names it.',
          },
        ],
      },
    },
  },
  {
    path: '/openapi.json',
    id: 'getOpenApi',
    summary: 'This document',
    open: true,
    answers: tagged('The API as OpenAPI 3.1.', [{ any: 'An OpenAPI document.' }]),
  },
  {
    path: '/healthz',
    id: 'getHealth',
    summary: 'Whether the service is alive, whatever the state of the storage',
    open: true,
    answers: word('It is.', 'ok'),
  },
  {
    path: '/readyz',
    id: 'getReadiness',
    summary: 'Whether the storage answers; one look counts for two seconds',
    open: true,
    answers: word('It does.', 'ready'),
  },
]

/** Every header that an answer may have, with its meaning. */
export const HEADERS = {
  'Cache-Control': '`private, no-cache`; a follow adds `no-transform`, and metrics have `no-store`.',
  'X-Content-Type-Options': 'Always `nosniff`.',
  'X-Request-Id':
    'The id of the request: the one that it came with, the trace id of its `traceparent`, or a new one.',
  Vary: 'The request headers that the answer depends on.',
  ETag: 'Changes whenever the answer does. Absent where the answer depends on the clock or was cut by a budget.',
  'Content-Length': 'Length of the body in bytes, where it is known in advance.',
  Link: 'Relative references to the page before (`rel="prev"`) and to what comes after (`rel="next"`).',
  'X-Nodestate-Note':
    'What is special about the answer, as words separated by commas, such as `scan-budget` or `unknown-parameter`.',
  'X-Nodestate-Missing':
    'Of several logs: those that are not in the answer, each with the reason, such as `notes.txt;no-time`. Names are percent-encoded; after 3,000 characters of them, `+3` counts the others.',
  'X-Nodestate-Settled':
    'Of a fleet: up to this moment, every node has shipped all that the token may see; after it, records may still arrive.',
  'X-Accel-Buffering': '`no` on a follow and on an export, so that a proxy does not hold them back.',
  'Content-Disposition': 'Asks a browser to save the file under its name.',
  'Content-Security-Policy': 'Of an incident: it may run and load nothing, should a browser show it.',
  'Referrer-Policy': 'Of an incident: `no-referrer`.',
  'Accept-Ranges': 'Always `bytes`.',
  'Last-Modified': 'When the file was last written.',
  'X-Nodestate-File': 'An identity of the file that survives renaming, if the store has one.',
  'X-Nodestate-Zone': 'With `etag=true`: the zone of times in the logs that do not name one.',
  'Content-Range': 'The range that was sent, or the size of the file when the range is past its end.',
  'WWW-Authenticate': 'Which kind of token is needed.',
  Allow: 'The methods that every resource answers: `GET, HEAD`.',
  'Retry-After': 'Seconds after which to try again.',
} as const

export type HeaderName = keyof typeof HEADERS

/** The headers of every answer. */
export const COMMON: HeaderName[] = ['Cache-Control', 'X-Content-Type-Options', 'X-Request-Id', 'Vary']

/** The request headers that an operation reads, besides `Authorization` and `Accept`. */
export const REQUEST_HEADERS = {
  'If-None-Match': ['The tag of the answer that the client has; 304 while it is unchanged.', '"1-abc"'],
  'If-Match': ['The tag that the file must still have; otherwise 412.', '"1-abc"'],
  'If-Range': ['The range counts only while the file has this tag.', '"1-abc"'],
  Range: ['One range of bytes.', 'bytes=0-99'],
  'Last-Event-ID': [
    'The id of the last event; a follow continues after it.',
    'ZjBoMS80MDk2LzAvMC8wLy9icm9rZXIubG9n',
  ],
} as const satisfies Record<string, readonly [meaning: string, example: string]>
