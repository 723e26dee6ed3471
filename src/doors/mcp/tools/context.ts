import { bad } from '../../../core/http/params.ts'
import type { LogQuery, LogRecord, View, ViewQuery } from '../../client.ts'
import type { Arguments } from '../arguments.ts'
import { type Answer, counted, part, written } from '../text/answer.ts'
import { recordLines } from '../text/records.ts'
import {
  type Call,
  instant,
  MAX_CHARS,
  MOST_READ,
  own,
  SOURCES,
  searched,
  sourcesOf,
  type Tool,
  textOf,
} from '../tool.ts'
import { cutRecord, placeOf } from './search.ts'

export const logContext: Tool = {
  name: 'log_context',
  title: 'Lines around a moment',
  description:
    'All records just before and after a moment, in all chosen logs, without filters: what else happened there. Give the time of a record, with its date, or the cursor of an earlier answer.',
  scopes: ['logs'],
  parameters: [
    ...SOURCES,
    own.text('time', 'The moment, as since takes it.', '2026-11-14T02:10:00.123Z'),
    own.text('cursor', 'A cursor of search_logs, instead of time.', 'older:ZjBoMS8'),
    own.integer('before', { max: 100, default: 10 }, 'How many records before it.'),
    own.integer('after', { max: 100, default: 10 }, 'How many records from it on.'),
    MAX_CHARS,
  ],
  run: around,
}

async function around(args: Arguments, call: Call): Promise<string> {
  if ((args.time === undefined) === (args.cursor === undefined))
    throw bad('time', 'or cursor must be given, and not both; take the time of a record')
  const most = args.max_chars as number
  const sources = sourcesOf(args, call)
  const at = textOf(instant(args.time, call), call)
  const place = args.cursor === undefined ? undefined : placeOf(args.cursor as string).place
  const parts = (before: number, after: number): [ViewQuery, ViewQuery] => [
    { ...sources, ...(place ? { before: place } : { until: at }), lines: before, size: MOST_READ },
    { ...sources, ...(place ? { after: place } : { since: at }), first: after, size: MOST_READ },
  ]
  for (let [before, after] = [args.before as number, args.after as number]; ; ) {
    const [older, newer] = parts(before, after)
    const pages = [
      before > 0 ? await call.client.records(older, call) : null,
      after > 0 ? await call.client.records(newer, call) : null,
    ] as const
    const answer = answerOf(pages, sources, call, at ?? 'the cursor')
    const text = written(answer, most)
    if (text !== false) return text
    if (before + after <= 1) return cutRecord(answer, most)
    ;[before, after] = [Math.floor(before / 2), Math.ceil(after / 2) - (before === 0 && after > 1 ? 1 : 0)]
  }
}

type Page = View<LogRecord[]> | null

function answerOf(
  [older, newer]: readonly [Page, Page],
  sources: Partial<LogQuery>,
  call: Call,
  at: string,
): Answer {
  const records = [older, newer].flatMap((page) => page?.content ?? [])
  const [before, after] = [older?.content.length ?? 0, newer?.content.length ?? 0]
  const [, logs] = searched(sources, call)
  const notes = new Set([older, newer].flatMap((page) => page?.notes ?? []))
  const missing = new Map([older, newer].flatMap((page) => page?.missing ?? []).map((one) => [one.name, one]))
  const zone = call.zone ? `, zone ${call.zone.name}` : ''
  const cursors = [
    older?.prev && `earlier: cursor="older:${older.prev}"`,
    after > 0 && newer && `later: cursor="newer:${newer.next}"`,
  ]
  const places = [sources.file].flat().join(', ')
  return {
    head: [
      `${counted(before, 'record')} before ${part(at)} and ${after} from it on${zone}; more may exist`,
      logs!,
      ...cursors.filter((line) => typeof line === 'string'),
    ],
    lines: [
      ...recordLines(older?.content ?? [], places),
      { text: `== ${part(at)} ==`, records: 0 },
      ...recordLines(newer?.content ?? [], places),
    ]
      .filter(() => records.length > 0)
      .map(({ text }) => text),
    notes: [...notes],
    missing: [...missing.values()],
  }
}
