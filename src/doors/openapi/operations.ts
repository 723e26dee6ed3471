import type { Resource } from '../../core/parameter.ts'
import {
  COMPARISON,
  CONFIG_BLAME,
  CONFIG_COMPARISON,
  CONFIG_VERSION,
  FIELDS,
  FLEET_NODE,
  GROUPS,
  HISTOGRAM,
  LINE,
  NODE,
  RECORD,
  ROWS,
} from './examples.ts'
import type { HeaderName, REQUEST_HEADERS } from './headers.ts'
import type { SCHEMAS } from './schemas.ts'

/** A body: its media type, JSON unless it says otherwise, and what it is. */
export type Body = { type?: string; example?: unknown } & (
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
    200: { description, headers: [], bodies: [{ type: TEXT, text: `\`${text}\``, example: `${text}\n` }] },
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
      [{ schema: 'Config', example: { config: '[http]\nport = 3000\n', node: NODE } }],
    ),
  },
  {
    path: '/api/v1/config/history',
    id: 'listConfigVersions',
    summary: "The versions of the node's configuration, and what changed in each",
    resource: 'history',
    answers: tagged('The versions, newest first.', [
      { schema: 'ConfigVersion', list: true, example: [CONFIG_VERSION] },
    ]),
  },
  {
    path: '/api/v1/config/compare',
    id: 'compareConfigs',
    summary: 'The keys that differ between the configurations of the nodes of a fleet',
    resource: 'compare',
    answers: tagged('The nodes that were compared, those that were not, and the keys that differ.', [
      { schema: 'ConfigComparison', example: CONFIG_COMPARISON },
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
        bodies: [{ schema: 'ConfigBlame', example: CONFIG_BLAME }],
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
        { schema: 'LogFile', list: true, example: [{ name: 'broker.log', size: 4096 }] },
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
        { type: TEXT, text: 'Lines as they are in the file.', example: LINE },
        { type: 'application/x-ndjson', schema: 'LogRecord', example: `${JSON.stringify(RECORD)}\n` },
        {
          type: 'text/csv; charset=utf-8; header=present',
          text: 'A header and one row per record.',
          example: ROWS,
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
      [{ schema: 'Histogram', example: HISTOGRAM }],
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
      [{ schema: 'LogFields', example: FIELDS }],
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
        { schema: 'LogGroups', example: GROUPS },
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
        bodies: [{ schema: 'LogComparison', example: COMPARISON }],
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
        bodies: [{ schema: 'FleetNode', list: true, example: [FLEET_NODE] }],
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
            example: '# TYPE nodestate_followers gauge\nnodestate_followers 3\n',
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
