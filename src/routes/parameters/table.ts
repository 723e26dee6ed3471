import type { Parameter } from '../../core/parameter.ts'
import { CONFIG_PARAMETERS, LIST_PARAMETERS, TAIL_PARAMETERS } from '../../core/parameters.ts'
import { FILTER, FILTER_PARAMETERS, TIME } from './filter-table.ts'
import { FLEET_PARAMETERS, OTHER_PARAMETERS } from './fleet-table.ts'

export { FLEET_PARAMETERS }

export const DEFAULT_BUCKETS = 100
/** The number of groups when a request does not say. */
export const DEFAULT_GROUPS = 20
/** The number of versions of a configuration when a request does not say: a free Worker may make 50 requests. */
export const DEFAULT_VERSIONS = 40
const LONGEST_COLUMNS = 4000
/** The longest cursor: a file name of 255 bytes, each of them escaped twice. */
const LONGEST_CURSOR = 12_000

const LINES = { on: ['view'], role: 'part', type: 'integer', value: 'N' } as const
/** How many parts of an answer there may be. */
const UP_TO_1000 = { role: 'part', type: 'integer', min: 1, max: 1000, value: 'N' } as const

/** A field that records are grouped by, or whose numbers they are compared by. */
const FIELD = {
  on: ['groups'],
  role: 'shape',
  type: 'text',
  maxLength: 200,
  notEmpty: true,
  expects: 'a field, as where has it, such as path or duration',
  value: 'FIELD',
} as const

/** What says how a view is sent. */
const SHAPE = { on: ['view'], role: 'shape', type: 'flag', value: 'true', example: 'true' } as const

const CURSOR = {
  on: ['view'],
  role: 'cursor',
  type: 'text',
  maxLength: LONGEST_CURSOR,
  value: 'C',
  example: 'ZjBoMS80MDk2LzAvMC8wLy9icm9rZXIubG9n',
} as const

/**
 * Every parameter. Parsing, problem details, the `unknown-parameter` note, links, docs/api.md and
 * /openapi.json are made from these rows.
 */
export const PARAMETERS = [
  ...TAIL_PARAMETERS,
  {
    name: 'detail',
    ...SHAPE,
    on: ['list'],
    meaning: 'Adds `modified`, `kind`, `log`, `first` and `last` to each entry.',
  },
  ...LIST_PARAMETERS,
  ...CONFIG_PARAMETERS,
  {
    name: 'at',
    of: 'insight',
    ...TIME,
    on: ['config'],
    meaning:
      'The version of the configuration that held at T; see [History](#history) and [Times](#times). Adds `time`.',
    example: '2026-11-14T02:10:00Z',
  },
  {
    name: 'limit',
    ...UP_TO_1000,
    on: ['history'],
    default: DEFAULT_VERSIONS,
    meaning: 'At most the newest N versions.',
    example: '10',
  },
  {
    name: 'lines',
    ...LINES,
    meaning: 'At most the last N lines. Together with `size`, the smaller limit applies.',
    example: '100',
  },
  {
    name: 'first',
    ...LINES,
    meaning:
      'At most the first N lines after `since`, after a cursor, or from the start of the log. Not together with `lines` or `download`, nor with `follow` of a single log.',
    example: '20',
  },
  {
    name: 'context',
    ...LINES,
    max: 100,
    meaning:
      'With a filter: also N records before and after each match, 0 to 100; see [Around a match](#around-a-match). `lines` and `first` then count matching records. Not together with `follow`, `download` or `format=csv`.',
    example: '3',
  },
  ...FILTER_PARAMETERS,
  {
    name: 'before',
    ...CURSOR,
    meaning: 'The page that ends at this cursor; see [Cursors](#cursors).',
  },
  {
    name: 'after',
    ...CURSOR,
    meaning: 'The page that starts at this cursor; see [Cursors](#cursors).',
  },
  {
    name: 'encoding',
    ...FILTER,
    type: 'choice',
    words: ['utf-8', 'latin1', 'utf-16le', 'utf-16be'],
    value: 'latin1',
    meaning:
      'How the log is written: `utf-8`, `latin1`, `utf-16le` or `utf-16be`. Default: UTF-8, or UTF-16 if a byte order mark says so; see [Encodings](#encodings).',
    example: 'latin1',
  },
  {
    name: 'rotated',
    ...SHAPE,
    on: ['view', 'histogram', 'fields', 'groups', 'difference'],
    role: 'log',
    meaning: 'The file together with the files it was rotated into, oldest first, as one log.',
  },
  {
    name: 'format',
    on: ['view'],
    role: 'shape',
    type: 'choice',
    words: ['text', 'ndjson', 'csv'],
    value: 'ndjson',
    meaning:
      'One JSON record per line, or with `format=csv` one row of a table; see [CSV](#csv). `Accept: application/x-ndjson` and `Accept: text/csv` ask for the same; `format` takes precedence over them.',
    example: 'ndjson',
  },
  {
    name: 'columns',
    on: ['view'],
    role: 'shape',
    type: 'text',
    maxLength: LONGEST_COLUMNS,
    value: 'NAMES',
    meaning:
      'With `format=csv`, the columns: members of a record or names of fields, separated by commas; at most 100. Default: `time,level,message`, with several logs `file` first, on a fleet `node,file`.',
    example: 'time,level,status,path',
  },
  {
    name: 'ansi',
    ...SHAPE,
    meaning:
      'With `format=ndjson`, a record whose message has terminal colours also has the message with its colours, as `ansi`.',
  },
  {
    name: 'raw',
    ...SHAPE,
    meaning: 'With `format=ndjson`, each record also has its original text, as `raw`.',
  },
  {
    name: 'download',
    ...SHAPE,
    meaning:
      'The whole filtered view as an attachment, oldest first, streamed to its end (`.txt`, or `.ndjson` and `.csv` by its format). It has no byte or time budget, and counts as one running search.',
  },
  {
    name: 'follow',
    of: 'follow',
    ...SHAPE,
    meaning: 'Sends the selected tail, stays open and sends what is appended; see [Following](#following).',
  },
  {
    name: 'lane',
    of: 'timeline',
    ...SHAPE,
    on: ['view', 'histogram', 'groups'],
    meaning:
      'What a coordinator asks its [peers](#peers): a page, the range of a chart, or groups, in a form to be merged.',
  },
  {
    name: 'buckets',
    ...UP_TO_1000,
    on: ['histogram'],
    role: 'shape',
    default: DEFAULT_BUCKETS,
    meaning: 'At most this many buckets, 1 to 1000.',
    example: '60',
  },
  {
    name: 'step',
    on: ['histogram'],
    role: 'shape',
    type: 'text',
    maxLength: 32,
    expects: 'a duration such as 40s or 5m, or a number of milliseconds of 1 or more',
    value: 'D',
    meaning:
      'Buckets of exactly this width, a duration (`40s`) or milliseconds; `buckets` is then ignored. At most 10,000 buckets.',
    example: '40s',
  },
  {
    name: 'origin',
    on: ['histogram'],
    role: 'shape',
    type: 'integer',
    value: 'MS',
    meaning:
      'With `step`: an instant at which a bucket begins, in milliseconds since the Unix epoch. Default: full steps of the wall clock.',
    example: '1794708600000',
  },
  {
    name: 'by',
    on: ['histogram'],
    role: 'shape',
    type: 'choice',
    words: ['level', 'file', 'node'],
    value: 'level',
    meaning:
      'What the counts are split by: `level`, `file` (the log, over all nodes) or, on a fleet, `node`. Default: `level`.',
    example: 'file',
  },
  {
    name: 'by',
    ...FIELD,
    required: true,
    meaning: 'The field that records are grouped by; records without it are not counted.',
    example: 'path',
  },
  {
    name: 'of',
    ...FIELD,
    meaning: 'A numeric field: each group has the minimum, median, 95th percentile and maximum of it.',
    example: 'duration',
  },
  {
    name: 'sort',
    on: ['groups'],
    role: 'shape',
    type: 'choice',
    words: ['count', 'errors', 'median', 'p95', 'max'],
    default: 'count',
    value: 'p95',
    meaning:
      'The order of the groups, the largest first: `count`, `errors`, or with `of` one of `median`, `p95` and `max`. Equal ones are in the order of their values.',
    example: 'p95',
  },
  {
    name: 'limit',
    ...UP_TO_1000,
    on: ['groups'],
    default: DEFAULT_GROUPS,
    meaning: 'At most this many groups, 1 to 1000.',
    example: '20',
  },
  {
    name: 'base-since',
    ...TIME,
    on: ['difference'],
    meaning:
      'The start of the base. Default: as long before its end as the range is long, at least an hour; with `base-node`, `since`.',
    example: '2026-11-14T02:10:00Z',
  },
  {
    name: 'base-until',
    ...TIME,
    on: ['difference'],
    meaning: 'The end of the base. Default: `since`; with `base-node`, `until`.',
    example: '2026-11-14T02:15:00Z',
  },
  {
    name: 'limit',
    ...UP_TO_1000,
    on: ['nodes'],
    default: 200,
    meaning: 'At most this many nodes; at the edge never more than 40.',
    example: '100',
  },
  ...OTHER_PARAMETERS,
] as const satisfies readonly Parameter[]

type Row = (typeof PARAMETERS)[number] | (typeof FLEET_PARAMETERS)[number]
type Value<R> = R extends { repeatable: true }
  ? readonly string[]
  : R extends { type: 'flag' }
    ? boolean
    : R extends { type: 'integer' }
      ? number
      : R extends { words: readonly (infer W)[] }
        ? W
        : string

/** The values that were given, by name. An empty value counts as absent, except for a flag, where it means true. */
export type Values = { readonly [R in Row as R['name']]?: Value<R> | undefined }

/** The rows of one capability that reads them from here. */
export function rowsOfCapability(name: string): Parameter[] {
  const rows: readonly Parameter[] = PARAMETERS
  return rows.filter(({ of = 'search' }) => of === name)
}
