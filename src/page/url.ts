/**
 * What the reader looks at, as the address's fragment: a link shows a colleague the same lines, and what was
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
  rotated: boolean
  /** Show all lines and only mark the hits. */
  all: boolean
  follow: boolean
  /** A place in the log: a cursor, and so many records from it. */
  at: string
  offset: number
  /** Bytes of the first tail; 0 for the default. */
  size: number
}

export const NOTHING: Look = {
  file: null,
  find: '',
  regex: false,
  level: '',
  since: '',
  until: '',
  rotated: false,
  all: false,
  follow: false,
  at: '',
  offset: 0,
  size: 0,
}

/** The node's own page, as a link. */
export const HOME = '#'

export function readLook(hash: string): Look {
  const params = new URLSearchParams(hash.replace(/^#/, ''))
  const text = (name: string) => params.get(name) ?? ''
  const number = (name: string) => {
    const value = Number(params.get(name) ?? 0)
    return Number.isSafeInteger(value) ? value : 0
  }
  return {
    file: params.get('file'),
    find: text('q') || text('regex'),
    regex: text('q') === '' && text('regex') !== '',
    level: text('level'),
    since: text('since'),
    until: text('until'),
    rotated: text('rotated') === 'true',
    all: text('all') === 'true',
    follow: text('follow') === 'true',
    at: text('at'),
    offset: number('offset'),
    size: Math.max(0, number('size')),
  }
}

export function writeLook(look: Look): string {
  const params = new URLSearchParams()
  if (look.file === null) return ''
  params.set('file', look.file)
  if (look.find !== '') params.set(look.regex ? 'regex' : 'q', look.find)
  for (const name of ['level', 'since', 'until', 'at'] as const) {
    if (look[name] !== '') params.set(name, look[name])
  }
  for (const name of ['rotated', 'all', 'follow'] as const) if (look[name]) params.set(name, 'true')
  for (const name of ['offset', 'size'] as const) if (look[name] !== 0) params.set(name, String(look[name]))
  return `#${params}`
}

/** Whether two looks load the same records (the place in them may differ). */
export function sameQuery(a: Look, b: Look): boolean {
  const names = ['file', 'find', 'regex', 'level', 'since', 'until', 'rotated', 'all'] as const
  return names.every((name) => a[name] === b[name])
}
