import { bad } from '../../../core/http/params.ts'
import type { LogRecord, View } from '../../client.ts'
import type { Arguments } from '../arguments.ts'
import { whyEmpty } from '../empty.ts'
import { type Answer, counted, written } from '../text/answer.ts'
import { recordLines } from '../text/records.ts'
import {
  type Call,
  CURSOR,
  FILTERS,
  MAX_CHARS,
  MOST_READ,
  own,
  queryOf,
  searched,
  type Tool,
} from '../tool.ts'

const ORDER = {
  ...own.text('order', 'Which end of the range to take records from.', 'oldest'),
  type: 'choice',
  words: ['newest', 'oldest'],
  default: 'newest',
} as const

export const searchLogs: Tool = {
  name: 'search_logs',
  title: 'Search logs',
  description:
    'Records of logs that match filters, in order of time: the newest of the range, or with order=oldest the first ones. Several logs and nodes are merged into one timeline. Call log_patterns first to see what there is.',
  scopes: ['logs'],
  parameters: [
    ...FILTERS,
    own.integer('limit', { min: 1, max: 200, default: 50 }, 'How many records at most.'),
    ORDER,
    CURSOR,
    MAX_CHARS,
  ],
  run: searchFor,
}

/** A cursor of a tool says in which direction it leads. */
export function placeOf(cursor: string): { direction: 'older' | 'newer'; place: string } {
  const [, direction, place] = /^(older|newer):(.+)$/s.exec(cursor) ?? []
  if (place === undefined)
    throw bad('cursor', 'is not one of an earlier answer; copy it as it is, or leave it out')
  return { direction: direction as 'older' | 'newer', place }
}

async function searchFor(args: Arguments, call: Call): Promise<string> {
  const query = queryOf(args, call)
  const from = args.cursor === undefined ? null : placeOf(args.cursor as string)
  const isOldest = from ? from.direction === 'newer' : args.order === 'oldest'
  const most = args.max_chars as number
  for (let limit = args.limit as number; ; ) {
    const part = isOldest ? { first: limit, after: from?.place } : { lines: limit, before: from?.place }
    const page = await call.client.records({ ...query, ...part, size: MOST_READ }, call)
    const answer = answerOf(page, { isOldest, limit })
    answer.head.push(...searched(query, call))
    answer.lines =
      page.content.length === 0 && page.complete && !from
        ? await whyEmpty(query, call)
        : recordLines(page.content, [query.file].flat().join(', ')).map(({ text }) => text)
    const text = written(answer, most)
    if (text !== false) return text
    if (limit === 1) return cutRecord(answer, most)
    // The page must end where the text does, so that its cursor leads to the next record.
    limit = Math.max(
      1,
      Math.min(limit - 1, Math.floor((limit * most * 0.9) / answer.lines.join('\n').length)),
    )
  }
}

function answerOf(
  page: View<LogRecord[]>,
  { isOldest, limit }: { isOldest: boolean; limit: number },
): Answer {
  const count = page.content.length
  const isFull = count >= limit
  const hasMore = isOldest ? isFull || !page.complete : page.prev !== null
  const end = isOldest ? 'first' : 'newest'
  const settled = page.settled ? [`settled: every node has shipped its records up to ${page.settled}`] : []
  return {
    head: [
      `${counted(count, 'record')}${hasMore ? `, the ${end} ones; more ${isOldest ? 'may ' : ''}exist` : ', all that match'}`,
      ...settled,
    ],
    lines: [],
    notes: page.notes,
    missing: page.missing,
    more: hasMore ? (isOldest ? `newer:${page.next}` : `older:${page.prev}`) : null,
  }
}

/** A single record that is too long for the answer: as much of it as fits. */
export function cutRecord(answer: Answer, most: number): string {
  const all = answer.lines.join('\n')
  for (let size = most; size > 100; size = Math.floor(size * 0.8)) {
    const kept = `${all.slice(0, size)}[+${Math.max(0, all.length - size)} chars]`
    const text = written({ ...answer, lines: [kept] }, most)
    if (text !== false) return text
  }
  return written({ ...answer, lines: [] }, most) || ''
}
