import type { Parameter } from './row.ts'

/** The records around each match of a view. */
export const CONTEXT = {
  name: 'context',
  on: ['view'],
  role: 'part',
  type: 'integer',
  max: 100,
  value: 'N',
  meaning:
    'With a filter: also N records before and after each match, 0 to 100; see [Around a match](#around-a-match). `lines` and `first` then count matching records. Not together with `follow`, `download` or `format=csv`.',
  example: '3',
} as const satisfies Parameter
