import type { Parameter } from '../../core/parameter.ts'

const LONGEST_PATTERN = 1000

/** What filters have in common. */
export const FILTER = {
  on: ['view', 'histogram', 'fields', 'groups', 'difference'],
  role: 'filter',
  type: 'text',
} as const

export const TIME = {
  ...FILTER,
  maxLength: 64,
  expects:
    'a time such as 2026-11-14T02:10:00Z, 2026-11-14 02:10:00, 02:10 or yesterday 14:00, or a duration back from now such as 15m or 2h ago',
  value: 'T',
} as const

/** What texts and patterns to search for have in common. */
const SEARCHED = { ...FILTER, maxLength: LONGEST_PATTERN, repeatable: true } as const

/** The parameters that say which records are wanted. */
export const FILTER_PARAMETERS = [
  {
    name: 'since',
    ...TIME,
    meaning:
      'Records at or after T; see [Times](#times). A long log in a bucket is bisected: at most 64 small reads, however large it is.',
    example: '2026-11-14T02:10:00Z',
  },
  {
    name: 'until',
    ...TIME,
    meaning: 'Records before T; see [Times](#times).',
    example: '2026-11-14T02:15:00Z',
  },
  {
    name: 'level',
    ...FILTER,
    maxLength: 64,
    expects: 'one of debug, info, warn, error, fatal, or a list of exact levels such as =warn,fatal',
    value: 'L',
    meaning:
      'Records of this level and above: `debug`, `info`, `warn`, `error` or `fatal`. `level==warn,fatal`, a value that begins with `=`, means exactly these levels.',
    example: 'error',
  },
  {
    name: 'q',
    ...SEARCHED,
    value: 'TEXT',
    meaning:
      'Records that contain the text, ignoring case unless the text has a capital letter; at most 1000 characters. Given more than once, every text must occur.',
    example: 'timeout',
  },
  {
    name: 'regex',
    ...SEARCHED,
    value: 'RE',
    meaning:
      'Records that match the pattern, in RE2 syntax and in linear time; at most 1000 characters. Given more than once, or together with `q`, everything must match.',
    example: 'took [0-9]{4,}ms',
  },
  {
    name: 'not',
    ...SEARCHED,
    value: 'TEXT',
    meaning:
      'Records that do not contain the text. Given more than once, none of the texts may occur. Case is treated as for `q`.',
    example: 'heartbeat',
  },
  {
    name: 'notregex',
    ...SEARCHED,
    value: 'RE',
    meaning: 'Records that do not match the pattern. Given more than once, none of the patterns may match.',
    example: 'GET /(healthz|metrics)',
  },
  {
    name: 'where',
    ...SEARCHED,
    notEmpty: true,
    expects:
      'a field, a colon and a value, such as shard:17, !shard:17 or shard:*, a field, a tilde and a pattern, such as path~/api/*, or a comparison with a number, such as status>=500 or took>1.5s',
    value: 'FIELD:VALUE',
    meaning:
      'Records whose field has exactly this value; see [Fields](#fields). `!FIELD:VALUE` selects the others, `FIELD:*` those that have the field, `FIELD~GLOB` those whose value matches a pattern with `*` and `?`, and `FIELD>NUMBER` (also `<`, `<=`, `>=`) compares numbers. Given more than once, all conditions must hold.',
    example: 'shard:17',
  },
  {
    name: 'pattern',
    ...FILTER,
    maxLength: 2500,
    notEmpty: true,
    expects: 'a pattern as /api/v1/log/fields has it, such as slow query took <*>',
    value: 'TEXT',
    meaning:
      'Records whose message has this pattern, as [`fields`](#fields-and-patterns) writes it: the words of its first line, and `<*>` for one that varies.',
    example: 'slow query took <*>',
  },
] as const satisfies readonly Parameter[]
