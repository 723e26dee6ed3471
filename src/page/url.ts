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
  /** Further logs that are read together with it. */
  others: string[]
  /** On a fleet's page: the nodes whose logs are read together, as ids or patterns. */
  nodes: string[]
  /** Logs and nodes among them that are not shown at the moment. */
  hidden: string[]
  /** What the chart counts apart, where several logs are read together: '' for levels. */
  by: string
  /** On that page: '' for the configuration, `all` for its versions, or the time of one of them in milliseconds. */
  history: string
  /** On a fleet's page: the nodes whose configurations are compared, as ids or patterns. */
  compare: string[]
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
  others: [],
  nodes: [],
  hidden: [],
  by: '',
  history: '',
  compare: [],
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
  return { ...carryTo(look, [file], { nodes: [], time }), by: '' }
}

/** The same question of several logs and nodes, which are read as one. */
export function carryTo(look: Look, files: string[], { nodes = look.nodes, time = look.time } = {}): Look {
  const [file = null, ...others] = files
  const hidden = look.hidden.filter((name) => files.includes(name) || nodes.includes(name))
  return { ...look, ...NOWHERE, chart: '', history: '', size: 0, file, others, nodes, hidden, time }
}

/** The chosen logs, as names or patterns. */
export function filesOf({ file, others }: Look): string[] {
  return file === null ? [] : [file, ...others]
}

/** A choice of names with one more, or without it. */
export function toggled(names: readonly string[], name: string): string[] {
  return names.includes(name) ? names.filter((each) => each !== name) : [...names, name]
}

/** Whether several logs are read as one. */
export function isMerged({ file, others, nodes }: Look): boolean {
  return file !== null && (others.length + nodes.length > 0 || isPattern(file))
}

/** What is read, in words: `broker.log`, `All logs`, `3 nodes: All logs`. */
export function titleOf(look: Look): string {
  const words = (names: string[], kind: string) =>
    names.length > 1 ? `${names.length} ${kind}` : names[0] === '*' ? `All ${kind}` : (names[0] ?? '')
  const logs = words(filesOf(look), 'logs')
  return look.nodes.length === 0 ? logs : `${words(look.nodes, 'nodes')}: ${logs}`
}

export function isPattern(name: string): boolean {
  return /[*?]/.test(name)
}

/** No place: the end of the log. */
export const NOWHERE: Place = { at: '', offset: 0, record: false, time: '' }

/** The node's own page, as a link. */
export const HOME = '#'

const KINDS = ['q', 'regex', 'not', 'notregex', 'where'] as const

/** Members of a look that are plain in the address, by their kind. */
const TEXTS = ['history', 'level', 'since', 'until', 'chart', 'by', 'at', 'time'] as const
const FLAGS = ['rotated', 'all', 'follow', 'record'] as const
const NUMBERS = ['offset', 'size'] as const
const LISTS = { nodes: 'node', hidden: 'hide', compare: 'compare', columns: 'column', marks: 'mark' } as const

export function readLook(hash: string): Look {
  const params = new URLSearchParams(hash.replace(/^#/, ''))
  const terms = [...params].flatMap(([name, value]) =>
    (KINDS as readonly string[]).includes(name) && value !== ''
      ? [{ kind: name as Term['kind'], value }]
      : [],
  )
  // The first text or pattern is in the search field; everything else is a chip.
  const first = terms.find((term) => term.kind === 'q' || term.kind === 'regex')
  const [file = null, ...others] = new Set(params.getAll('file'))
  const look: Look = {
    ...NOTHING,
    file,
    others,
    find: first?.value ?? '',
    regex: first?.kind === 'regex',
    terms: terms.filter((term) => term !== first),
    message: params.get('message') !== 'false',
  }
  for (const name of TEXTS) look[name] = params.get(name) ?? ''
  for (const name of FLAGS) look[name] = params.get(name) === 'true'
  for (const name of NUMBERS) {
    const value = Number(params.get(name) ?? 0)
    look[name] = Number.isSafeInteger(value) ? value : 0
  }
  look.size = Math.max(0, look.size)
  for (const [name, short] of Object.entries(LISTS))
    look[name as keyof typeof LISTS] = [...new Set(params.getAll(short).filter(Boolean))]
  return look
}

export function writeLook(look: Look): string {
  // The node's own page has no question, but the way back to a log keeps it.
  if (look.file === null) return writeFrom({ ...NOTHING, history: look.history, compare: look.compare })
  return writeFrom(look)
}

function writeFrom(look: Look): string {
  const params = new URLSearchParams()
  for (const file of filesOf(look)) params.append('file', file)
  for (const [name, short] of Object.entries(LISTS))
    for (const value of look[name as keyof typeof LISTS]) params.append(short, value)
  if (look.find !== '') params.set(look.regex ? 'regex' : 'q', look.find)
  for (const term of look.terms) params.append(term.kind, term.value)
  if (!look.message) params.set('message', 'false')
  for (const name of TEXTS) if (look[name] !== '') params.set(name, look[name])
  for (const name of FLAGS) if (look[name]) params.set(name, 'true')
  for (const name of NUMBERS) if (look[name] !== 0) params.set(name, String(look[name]))
  return params.size === 0 ? '' : `#${params}`
}

/** What decides which records are loaded, as one text (the place in them is not part of it). */
export function queryKey(look: Look): string {
  const { others, nodes, hidden, file, find, regex, level, since, until, terms, rotated, all } = look
  return JSON.stringify([file, others, nodes, hidden, find, regex, level, since, until, terms, rotated, all])
}
