import { BoundedMap } from '../../../kit/limits/bounded-map.ts'

/**
 * The names of fields, the same for all text formats. A group of a pattern that has one of these names becomes the field;
 * a digit at its end (`thread2`) only keeps the groups of one pattern apart, and the first of them with a value counts.
 * `-`, `[unknown]` and nothing are no value. The unit at the end of a `duration_…` group makes it milliseconds; several of them
 * (`duration_s`, `duration_s2`) add up.
 */
export type HeadGroups = Record<string, string | undefined>

/** What one millisecond is in each unit that a group can have. */
const UNITS: Record<string, number> = { s: 1000, ms: 1, us: 0.001, ns: 0.000001 }

/** Fields whose values are numbers, if they look like one. */
const NUMBERS = new Set(
  'pid status bytes duration port connection received counter tid query_time lock_time thread_id'.split(' '),
)

/** Old names of fields: conditions on them still work. */
export const FORMER_NAMES: Record<string, string> = {
  user_name: 'user',
  database_name: 'db',
  dbname: 'db',
  process_id: 'pid',
  connection_from: 'client',
  remote_host: 'client',
}

const NAMED_GROUP = /\(\?<(\w+)>/g

/** A pattern with numbered groups instead of named ones, and their names by number. */
export function unnamed(source: string): { source: string; names: readonly string[] } {
  const names = ['', ...[...source.matchAll(NAMED_GROUP)].map(([, name]) => name!)]
  return { source: source.replace(NAMED_GROUP, '('), names }
}

/** Adds the fields of a pattern's groups to a context; fields that it has stay as they are. */
export function addFields(context: Record<string, unknown>, groups: HeadGroups): void {
  for (const group of Object.keys(groups)) {
    const value = groups[group]?.trim()
    if (value === undefined || value === '' || value === '-' || value === '[unknown]') continue
    const kind = kindOf(group)
    if (kind === 'text') put(context, group, value)
    else if (kind === 'number') put(context, group, numberOf(value))
    else addOther(context, group.replace(/\d+$/, ''), value)
  }
}

function addOther(context: Record<string, unknown>, name: string, value: string): void {
  if (name === 'request') addRequest(context, value)
  else if (name === 'target') addTarget(context, value)
  else if (name.startsWith('duration_')) addDuration(context, value, name.slice(9))
  else if (name === 'client' || name === 'remote') put(context, 'client', hostOf(value))
  else put(context, name, isNumber(name) ? numberOf(value) : value)
}

/** What the field of a group is made of: its text as it is, a number, or more than that. */
export function kindOf(group: string): FieldKind {
  const known = KINDS.get(group)
  if (known !== undefined) return known
  const kind = isNumber(group) ? 'number' : OTHERS.test(group) ? 'other' : 'text'
  // V8 copies short texts; a longer one may be a part of a line, and keep all of it in memory.
  if (group.length <= 12) KINDS.set(group, kind)
  return kind
}

type FieldKind = 'text' | 'number' | 'other'
/** A log may name its fields itself. */
const KINDS = new BoundedMap<string, FieldKind>(1000)
const OTHERS = /^(?:request|target|client|remote|duration_.*|.*\d)$/

const isNumber = (name: string) => NUMBERS.has(name) || name.startsWith('rows_')

function put(context: Record<string, unknown>, name: string, value: unknown): void {
  if (!Object.hasOwn(context, name)) context[name] = value
}

/** A number, if the text is one that JSON could hold exactly; else the text. */
export function numberOf(text: string): number | string {
  return /^[+-]?\d{1,15}(?:\.\d{1,12})?$/.test(text) ? Number(text) : text
}

/** Sums are rounded to a nanosecond: 1.005 s is 1005 ms, not 1004.9999999999999. */
export function addDuration(context: Record<string, unknown>, text: string, unit: string): void {
  const ms = Number(text) * UNITS[unit]!
  if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY)) return
  const before = typeof context.duration === 'number' ? context.duration : 0
  context.duration = rounded(before + ms)
}

/** Most are whole, and rounding to a nanosecond takes longer than all of the rest. */
function rounded(ms: number): number {
  const whole = Math.round(ms)
  return Math.abs(ms - whole) < 4e-7 ? whole : Number(ms.toFixed(6))
}

/** `GET /path?query HTTP/1.1`; anything else is no HTTP request, and has none of these fields. */
const REQUEST = /^([A-Z][A-Z_-]{1,30}) (\S.*?)(?: (HTTP\/\d(?:\.\d)?))?$/

function addRequest(context: Record<string, unknown>, request: string): void {
  const [, method, target, protocol] = REQUEST.exec(request) ?? []
  if (method === undefined || (protocol === undefined && !/^[/*]|^https?:/.test(target!))) return
  put(context, 'method', method)
  addTarget(context, target!)
  if (protocol !== undefined) put(context, 'protocol', protocol)
}

/** A request's target: its path and its query, both as they are written. */
function addTarget(context: Record<string, unknown>, target: string): void {
  const local = target.replace(/^https?:\/\/[^/?]*(?=[/?]|$)/, '')
  const mark = local.indexOf('?')
  const path = mark < 0 ? local : local.slice(0, mark)
  put(context, 'path', path === '' ? '/' : path)
  if (mark >= 0 && mark + 1 < local.length) put(context, 'query', local.slice(mark + 1))
}

/** An address without its port: `10.0.0.7:51234`, `[::1]:80`, PostgreSQL's `10.0.0.7(51234)`. */
function hostOf(address: string): string {
  const [, bracketed] = /^\[([\da-fA-F:.]+)\](?::\d+)?$/.exec(address) ?? []
  if (bracketed !== undefined) return bracketed
  return address.replace(/^([^:]+):\d{1,5}$/, '$1').replace(/\(\d{1,5}\)$/, '')
}

/** 5xx is an error, 4xx a warning, everything else is information. */
export function levelOfStatus(status: number): number {
  return status >= 500 && status < 600 ? 3 : status >= 400 && status < 500 ? 2 : 1
}
