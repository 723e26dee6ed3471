import { type Answer, type Body, type Operation, TEXT } from './operations.ts'

const SENTENCE: Body = { type: TEXT, text: 'A sentence, as Loki answers errors.' }

/** A problem, as elsewhere, where the request does not come as far as a query. */
const EITHER: Body[] = [SENTENCE, { type: 'application/problem+json', schema: 'Problem' }]

const failure = (description: string): Answer => ({ description, headers: [], bodies: [SENTENCE] })
const LISTING: Record<number, Answer> = {
  400: failure('The query or another parameter is not valid.'),
  503: {
    description: 'The storage does not answer, or too many searches are running.',
    headers: ['Retry-After'],
    bodies: EITHER,
  },
}
const SEARCH = {
  ...LISTING,
  413: failure('A compressed file is too large to be searched.'),
  501: {
    description: "The runtime cannot decompress a file, or the service was made without Loki's API.",
    headers: [],
    bodies: EITHER,
  },
  502: failure('A compressed file or a shipped log is damaged.'),
  504: failure('The search took more than one request may.'),
}

const TIME = 'nanoseconds or seconds since the epoch, or RFC 3339'
/** Parameters with their meaning, an example and, where it is not text, their schema. */
const PARAMETERS = {
  query: ['A query in LogQL.', '{file="broker.log"} |= "slow"'],
  selector: ['A selector in LogQL.', '{file="broker.log"}'],
  match: ['A selector in LogQL; the series of all selectors are listed.', ['{file="broker.log"}']],
  start: [`Start of the range: ${TIME}; an hour before its end by default.`, '1794708600000000000'],
  end: [`End of the range: ${TIME}; now by default.`, '1794708660000000000'],
  since: ['Length of the range, where it has no start.', '15m'],
  time: [`The instant: ${TIME}; now by default.`, '1794708660000000000'],
  step: ['Step of a count, as a duration or in seconds; about 250 points by default.', '10s'],
  interval: ['Entries are not thinned out: anything but 0 is refused.', '0'],
  limit: ['Number of entries.', 100, { type: 'integer', minimum: 1, maximum: 5000, default: 100 }],
  direction: [
    'Newest or oldest entries first.',
    'backward',
    { type: 'string', enum: ['backward', 'forward'] },
  ],
  name: ['The label.', 'file', { type: 'string', enum: ['file', 'level', 'node'] }],
} as const satisfies Record<string, readonly [meaning: string, example: unknown, schema?: object]>

const SPELLINGS: Record<string, string> = { selector: 'query', match: 'match[]' }

function parameter(key: keyof typeof PARAMETERS): object {
  const [description, example, schema = { type: 'string' }] = PARAMETERS[key]
  return {
    name: SPELLINGS[key] ?? key,
    in: key === 'name' ? 'path' : 'query',
    required: key === 'query' || key === 'name',
    description,
    schema: key === 'match' ? { type: 'array', items: schema } : schema,
    example,
  }
}

interface Route {
  path: string
  id: string
  summary: string
  parameters?: (keyof typeof PARAMETERS)[]
  /** What it answers with 200. */
  body: Body
  errors?: Record<number, Answer>
}

const NOW = 1_794_708_660
const ROUTES: Route[] = [
  {
    path: 'query_range',
    id: 'lokiQueryRange',
    summary: 'The records that a query selects, or counts of them over time',
    parameters: ['query', 'start', 'end', 'since', 'limit', 'direction', 'interval', 'step'],
    body: {
      schema: 'LokiResult',
      example: {
        status: 'success',
        data: {
          resultType: 'streams',
          result: [
            {
              stream: { file: 'broker.log', level: 'warn', node: 'db-4' },
              values: [[`${NOW}000000000`, 'slow query took 812 ms']],
            },
          ],
          stats: {
            summary: {
              execTime: 0.004,
              totalLinesProcessed: 1,
              totalBytesProcessed: 22,
              linesProcessedPerSecond: 250,
              bytesProcessedPerSecond: 5500,
              totalEntriesReturned: 1,
            },
          },
        },
      },
    },
    errors: SEARCH,
  },
  {
    path: 'query',
    id: 'lokiQuery',
    summary: 'The result of a query at one instant',
    parameters: ['query', 'time', 'limit', 'direction', 'interval'],
    body: { schema: 'LokiResult' },
    errors: SEARCH,
  },
  {
    path: 'labels',
    id: 'lokiLabels',
    summary: 'The labels',
    body: { schema: 'LokiNames', example: { status: 'success', data: ['file', 'level', 'node'] } },
  },
  {
    path: 'label/{name}/values',
    id: 'lokiLabelValues',
    summary: 'The values of a label',
    parameters: ['name', 'selector'],
    body: { schema: 'LokiNames', example: { status: 'success', data: ['broker.log'] } },
    errors: LISTING,
  },
  {
    path: 'series',
    id: 'lokiSeries',
    summary: 'The streams that selectors select',
    parameters: ['match'],
    body: { schema: 'LokiSeries' },
    errors: LISTING,
  },
  {
    path: 'index/stats',
    id: 'lokiStats',
    summary: 'How much a query would read',
    parameters: ['selector'],
    body: { schema: 'LokiStats', example: { streams: 1, chunks: 1, bytes: 4096, entries: 0 } },
    errors: LISTING,
  },
  {
    path: 'status/buildinfo',
    id: 'lokiBuildInfo',
    summary: 'The version of the API, from which clients tell what it can do',
    body: { schema: 'LokiBuildInfo' },
  },
]

export const LOKI: Operation[] = ROUTES.map(({ path, id, summary, parameters = [], body, errors }) => ({
  path: `/loki/api/v1/${path}`,
  id,
  summary,
  parameters: parameters.map(parameter),
  answers: {
    200: { description: 'As Loki answers.', headers: [], bodies: [body] },
    ...(errors ?? { 503: LISTING[503]! }),
  },
  problems: ['unauthorized', 'forbidden', 'not-included', 'unknown-host', 'too-many-failures', 'internal'],
}))
