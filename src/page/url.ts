/** A condition beside the search field, named as the API names it. */
export interface Term {
  kind: 'q' | 'regex' | 'not' | 'notregex' | 'where'
  /** A text, a pattern, or `field:value` (`!field:value` for those without it). */
  value: string
}

/**
 * What the reader looks at, as the address's fragment: a link shows a colleague the same records, and what was
 * searched for stays out of access logs and Referer headers. The token is never part of it.
 */
export interface Look {
  /** The chosen log, or null for the node's own page. */
  file: string | null
  find: string
  regex: boolean
  level: string
  since: string
  until: string
  /** Further conditions, shown as chips. */
  terms: Term[]
  /** Fields that are shown as columns. */
  columns: string[]
  /** Whether the message is shown beside them. */
  message: boolean
  /** Texts to highlight without filtering, each in its own colour. */
  marks: string[]
  /** A condition for the chart alone: this value over time. */
  chart: string
  rotated: boolean
  /** Show all lines and only mark the hits. */
  all: boolean
  follow: boolean
  /** A place in the log: a cursor, and the number of records from it. */
  at: string
  offset: number
  /** The place is a record, which the link highlights and expands. */
  record: boolean
  /** The time of the record at that place, ISO 8601: where to look when the cursor is gone. */
  time: string
  /** Bytes of the first tail; 0 for the default. */
  size: number
}

/** A place as a link names it. */
export type Place = Pick<Look, 'at' | 'offset' | 'record' | 'time'>

export const NOTHING: Look = {
  file: null,
  find: '',
  regex: false,
  level: '',
  since: '',
  until: '',
  terms: [],
  columns: [],
  message: true,
  marks: [],
  chart: '',
  rotated: false,
  all: false,
  follow: false,
  at: '',
  offset: 0,
  record: false,
  time: '',
  size: 0,
}

/** The same question of another log, at the same moment. */
export function carry(look: Look, file: string, time = look.time): Look {
  return { ...look, ...NOWHERE, chart: '', size: 0, file, time }
}

/** No place: the end of the log. */
export const NOWHERE: Place = { at: '', offset: 0, record: false, time: '' }

/** The node's own page, as a link. */
export const HOME = '#'

const KINDS = ['q', 'regex', 'not', 'notregex', 'where'] as const

export function readLook(hash: string): Look {
  const params = new URLSearchParams(hash.replace(/^#/, ''))
  const text = (name: string) => params.get(name) ?? ''
  const number = (name: string) => {
    const value = Number(params.get(name) ?? 0)
    return Number.isSafeInteger(value) ? value : 0
  }
  const terms = [...params].flatMap(([name, value]) =>
    (KINDS as readonly string[]).includes(name) && value !== ''
      ? [{ kind: name as Term['kind'], value }]
      : [],
  )
  // The first text or pattern is in the search field; everything else is a chip.
  const first = terms.find((term) => term.kind === 'q' || term.kind === 'regex')
  return {
    file: params.get('file'),
    find: first?.value ?? '',
    regex: first?.kind === 'regex',
    level: text('level'),
    since: text('since'),
    until: text('until'),
    terms: terms.filter((term) => term !== first),
    columns: [...new Set(params.getAll('column').filter(Boolean))],
    message: text('message') !== 'false',
    marks: params.getAll('mark').filter(Boolean),
    chart: text('chart'),
    rotated: text('rotated') === 'true',
    all: text('all') === 'true',
    follow: text('follow') === 'true',
    at: text('at'),
    offset: number('offset'),
    record: text('record') === 'true',
    time: text('time'),
    size: Math.max(0, number('size')),
  }
}

export function writeLook(look: Look): string {
  const params = new URLSearchParams()
  if (look.file === null) return ''
  params.set('file', look.file)
  if (look.find !== '') params.set(look.regex ? 'regex' : 'q', look.find)
  for (const term of look.terms) params.append(term.kind, term.value)
  for (const mark of look.marks) params.append('mark', mark)
  for (const column of look.columns) params.append('column', column)
  if (!look.message) params.set('message', 'false')
  for (const name of ['level', 'since', 'until', 'chart', 'at', 'time'] as const) {
    if (look[name] !== '') params.set(name, look[name])
  }
  for (const name of ['rotated', 'all', 'follow', 'record'] as const) if (look[name]) params.set(name, 'true')
  for (const name of ['offset', 'size'] as const) if (look[name] !== 0) params.set(name, String(look[name]))
  return `#${params}`
}

/** What decides which records are loaded, as one text (the place in them is not part of it). */
export function queryKey(look: Look): string {
  const { file, find, regex, level, since, until, terms, rotated, all } = look
  return JSON.stringify([file, find, regex, level, since, until, terms, rotated, all])
}
