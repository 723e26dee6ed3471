import { bad } from '../../http/params.ts'
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

/** What it cannot be given with. */
const OTHERS = ['follow', 'download', 'lane'] as const

type Given = { readonly [N in (typeof OTHERS)[number]]?: boolean | undefined } & {
  readonly context?: number | undefined
}

/** Throws if the records around matches were requested of an answer that cannot have them. */
export function checkContext(query: Given, isSearch: boolean): void {
  if (query.context === undefined) return
  const other = OTHERS.find((name) => query[name])
  if (other) throw bad('context', `was given together with ${other}; leave one of the two out`)
  if (!isSearch)
    throw bad(
      'context',
      'was given without a filter; add one of level, q, regex, not, notregex, where and pattern, or leave it out',
    )
}
