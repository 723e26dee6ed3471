import { decode, type Visit } from '../../log/format/format.ts'
import { visitJson } from '../../log/format/json/members.ts'
import { lineEnd } from '../../log/format/lines.ts'
import { fits } from '../../log/format/read/json-fit.ts'
import type { Reader } from '../../log/pattern/pattern.ts'
import { type Bytes, visitMembers } from '../../log/where/where.ts'
import type { Labels } from './labels.ts'

/** A record on its way through the stages. */
export interface Passing {
  record: Bytes
  reader: Reader
  stream: Labels
  labels: Map<string, string>
}

/**
 * Adds the fields of a record to its labels, under the names that Loki gives them; `names` are those that matter, null
 * for all. Loki's two parsers read JSON and logfmt; here either reads a record in the format of its log. Always true,
 * because a record that cannot be read passes, too, with an error.
 */
export function readFields(
  { record, reader, stream, labels }: Passing,
  parser: 'json' | 'logfmt',
  names: ReadonlySet<string> | null,
): true {
  const { bytes, from, to } = record
  const { zone } = reader
  const format = reader.format.inner ?? reader.format
  const add: Visit = (path, value, isLeaf = true) => {
    const name = labelName(path)
    const own = Object.hasOwn(stream, name) ? `${name}_extracted` : name
    if (isLeaf && (names === null || names.has(own))) labels.set(own, value())
    return false
  }
  const isJson = bytes[from] === 0x7b
  const end = lineEnd(bytes, from, to)
  if (isJson) visitJson(bytes, from, end, add)
  else {
    const parsed = format.members ? undefined : format.fields(decode(bytes, from, to), zone)
    const { source, tags } = parsed ?? {}
    if (source) add('source', () => `${source.file}:${source.line}`)
    if (tags) add('tag', () => tags.join(' '))
    visitMembers(record, { format, zone }, add, parsed)
  }
  if (parser === 'json' && (names === null || names.has('__error__'))) {
    const isWrong = isJson ? !isObject(decode(bytes, from, end)) : format.name === 'json'
    if (isWrong) fail(labels, 'JSONParserErr', 'the record is not a JSON object')
  }
  return true
}

function isObject(text: string): boolean {
  if (!fits(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The name of a label for a field: Loki's have letters, digits and underscores, and do not begin with a digit. */
function labelName(path: string): string {
  return /^[A-Za-z_]\w*$/.test(path) ? path : path.trim().replace(/^(?=\d)|\W/g, '_')
}

/** Marks a record as Loki does, unless it is marked already. */
export function fail(labels: Map<string, string>, error: string, details: string): void {
  if (labels.has('__error__')) return
  labels.set('__error__', error)
  labels.set('__error_details__', details)
}
