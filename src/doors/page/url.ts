/** A condition, named as the API names it. */
export interface Term {
  kind: 'q' | 'regex' | 'not' | 'notregex' | 'where' | 'pattern'
  /** A text, a pattern, `field:value` (`!field:value` for those without it), or a kind of message: `took <*>`. */
  value: string
}

/**
 * What the user looks at, as the address's fragment: a link shows a colleague the same records, and what was searched
 * for stays out of access logs and Referer headers. The token is never part of it. Members that are as here are not in
 * the address.
 */
export const NOTHING = {
  /** The chosen log, or null for the node's own page. */
  file: null as string | null,
  /** Further logs that are read together with it. */
  others: [] as string[],
  /** On a fleet's page: the nodes whose logs are read together, as ids or patterns. */
  nodes: [] as string[],
  /** On a fleet's page: the nodes whose configurations are compared, as ids or patterns. */
  compare: [] as string[],
  /** Fields as columns, as the log suggests if there are none; `-` stands for none at all. */
  columns: [] as string[],
  /** Conditions on a record's text and fields; the first text or pattern is the one in the search field. */
  terms: [] as Term[],
  /** On a node's own page: '' for the configuration, `all` for its versions, or the time of one in milliseconds. */
  history: '',
  level: '',
  since: '',
  until: '',
  /** What the chart counts apart, where several logs are read together: '' for levels. */
  by: '',
  /** The comparison beside the records: its question, as a query string. */
  different: '',
  /** A place in the log: a cursor; `offset` records from it. */
  at: '',
  /** The time of the record at that place, ISO 8601: where to look when the cursor is gone. */
  time: '',
  rotated: false,
  /** How the log is written, if its bytes do not say: `latin1`, `utf-16le`, `utf-16be`. */
  encoding: '',
  /** Show all lines and only mark the hits. */
  all: false,
  follow: false,
  /** The place is a record, which the link highlights and expands. */
  record: false,
  offset: 0,
}

export type Look = typeof NOTHING

export type Place = Pick<Look, 'at' | 'offset' | 'record' | 'time'>

/** The same question of another log, at the same moment. */
export function carry(look: Look, file: string, time = look.time): Look {
  return { ...carryTo(look, [file], { nodes: [], time }), by: '' }
}

/** The same question of several logs and nodes, which are read as one. */
export function carryTo(look: Look, files: string[], { nodes = look.nodes, time = look.time } = {}): Look {
  const [file = null, ...others] = files
  return {
    ...look,
    ...NOWHERE,
    different: '',
    encoding: '',
    history: '',
    file,
    others,
    nodes,
    time,
  }
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

/** The name in place of columns where none are wanted, not even those that the log suggests. */
export const NO_COLUMNS = '-'

/** No place: the end of the log. */
export const NOWHERE: Place = { at: '', offset: 0, record: false, time: '' }

/** The node's own page, as a link. */
export const HOME = '#'

const KINDS: readonly string[] = ['q', 'regex', 'not', 'notregex', 'where', 'pattern']

/** What lists are called in the address, where each of their values has the name once. */
const SHORT: Record<string, string> = {
  others: 'file',
  nodes: 'node',
  columns: 'column',
}

export function readLook(hash: string): Look {
  const params = new URLSearchParams(hash.replace(/^#/, ''))
  const members = Object.entries(NOTHING).map(([name, none]) => {
    const text = params.get(name)
    if (typeof none === 'boolean') return [name, text === String(!none) ? !none : none]
    if (typeof none === 'number') return [name, Number.isSafeInteger(Number(text)) ? Number(text) : none]
    if (!Array.isArray(none)) return [name, text ?? none]
    return [name, [...new Set(params.getAll(SHORT[name] ?? name).filter(Boolean))]]
  })
  const look: Look = Object.fromEntries(members)
  const terms = [...params].filter(([kind, value]) => KINDS.includes(kind) && value !== '')
  return {
    ...look,
    others: look.others.slice(1),
    terms: terms.map(([kind, value]) => ({ kind, value }) as Term),
  }
}

export function writeLook(look: Look): string {
  // The node's own page has no question, but the way back to a log keeps it.
  const { history, compare } = look
  const shown = look.file === null ? { ...NOTHING, history, compare } : look
  const params = new URLSearchParams()
  for (const [name, none] of Object.entries(NOTHING)) {
    const value = shown[name as keyof Look]
    if (name === 'terms') for (const term of shown.terms) params.append(term.kind, term.value)
    else if (Array.isArray(value)) for (const each of value) params.append(SHORT[name] ?? name, `${each}`)
    else if (value !== none) params.set(name, String(value))
  }
  return params.size === 0 ? '' : `#${params}`
}

/** What decides which records are loaded, as one text (the place in them is not part of it). */
export function queryKey(look: Look): string {
  const { file, others, nodes, level, since, until, terms, rotated, encoding, all } = look
  return JSON.stringify([file, others, nodes, level, since, until, terms, rotated, encoding, all])
}
