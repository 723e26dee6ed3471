/** A plain reading of what differs, for logs whose patterns and fields are known by how they were made. */

export interface MadeRecord {
  time: number
  level: string
  /** The message with `<*>` for what varies. */
  pattern: string
  message: string
  fields: Record<string, string | number>
  file: string
}

export interface Span {
  from: number
  to: number
}

/** What must be found: kind and what, with its exact counts. */
export interface Expected {
  kind: 'pattern' | 'field' | 'level' | 'silent' | 'config'
  what: string
  count: number
  base: number
}

const inside =
  ({ from, to }: Span) =>
  (record: MadeRecord) =>
    record.time >= from && record.time < to

function counted(
  records: readonly MadeRecord[],
  keysOf: (record: MadeRecord) => string[],
): Map<string, number> {
  const counts = new Map<string, number>()
  for (const record of records) for (const key of keysOf(record)) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

/**
 * Everything that differs so much that any careful reader would call it different: new and gone with thirty records, ten
 * times as frequent with thirty, levels three times as frequent, values whose share changes by a third, silent logs.
 */
export function expectedDifferences(records: readonly MadeRecord[], range: Span, base: Span): Expected[] {
  const all = { range: records.filter(inside(range)), base: records.filter(inside(base)) }
  return expectedBetween(all, (range.to - range.from) / (base.to - base.from))
}

/** The same between any two sides, of which the range is `long` times as large: on other nodes, one of so many. */
export function expectedBetween(
  all: { range: readonly MadeRecord[]; base: readonly MadeRecord[] },
  long: number,
): Expected[] {
  const silent = counted(all.base, ({ file }) => [file])
  const heard = counted(all.range, ({ file }) => [file])
  const gone = new Set(
    [...silent].filter(([file, count]) => count * long >= 30 && !heard.has(file)).map(([file]) => file),
  )
  const found: Expected[] = [...gone].map((what) => ({
    kind: 'silent',
    what,
    count: 0,
    base: silent.get(what)!,
  }))
  const rest = {
    range: all.range.filter(({ file }) => !gone.has(file)),
    base: all.base.filter(({ file }) => !gone.has(file)),
  }
  const odd = new Set<string>()
  /** What is judged without the silent logs, and counted with them, as a view shows it. */
  const each = (
    keysOf: (record: MadeRecord) => string[],
    keep: (record: MadeRecord) => boolean = () => true,
  ) => {
    const [now, before] = [counted(rest.range.filter(keep), keysOf), counted(rest.base.filter(keep), keysOf)]
    const [count, base] = [counted(all.range, keysOf), counted(all.base, keysOf)]
    return [...new Set([...now.keys(), ...before.keys()])].map((what) => ({
      now: now.get(what) ?? 0,
      before: (before.get(what) ?? 0) * long,
      shown: { what, count: count.get(what) ?? 0, base: base.get(what) ?? 0 },
    }))
  }
  const isTimes = (times: number, least: number, one: { now: number; before: number }) =>
    (one.now >= least && one.now >= times * one.before) ||
    (one.before >= least && one.before >= times * one.now)
  for (const one of each(({ pattern }) => [pattern]))
    if (isTimes(10, 30, one)) {
      found.push({ kind: 'pattern', ...one.shown })
      odd.add(one.shown.what)
    }
  for (const one of each(({ level }) => [level]))
    if (isTimes(3, 60, one)) found.push({ kind: 'level', ...one.shown })
  const isPlain = ({ pattern }: MadeRecord) => !odd.has(pattern)
  const [many, few] = [rest.range.filter(isPlain).length, rest.base.filter(isPlain).length * long]
  const values = ({ fields }: MadeRecord) => Object.entries(fields).map(([name, value]) => `${name}:${value}`)
  for (const one of each(values, isPlain))
    if (Math.abs(one.now / many - one.before / few) >= 0.33) found.push({ kind: 'field', ...one.shown })
  return found
}

/** A version of a configuration, from `time` on. */
export interface MadeVersion {
  time: number
  values: Record<string, number>
}

/** The settings that are not at the end of the range what they were at the start of the base, with their changes. */
export function expectedKeys(versions: readonly MadeVersion[], range: Span, base: Span): Expected[] {
  const at = (time: number) => versions.findLast((version) => version.time <= time)?.values ?? {}
  const [before, after] = [at(base.from), at(range.to - 1)]
  const changes = (what: string, { from, to }: Span) =>
    versions.filter(
      ({ time, values }, i) =>
        i > 0 && time >= from && time < to && values[what] !== versions[i - 1]!.values[what],
    ).length
  return Object.keys(after)
    .filter((what) => before[what] !== after[what])
    .map((what) => ({ kind: 'config', what, count: changes(what, range), base: changes(what, base) }))
}

/** A record as a line of a node's log. */
export function lineOf({ time, level, message, fields }: MadeRecord): string {
  const at = new Date(time).toISOString().slice(0, 23).replace('T', ' ')
  return `${at}\t${level.toUpperCase()}\tbroker/x.go:12\t[Broker]: ${message}\t${JSON.stringify(fields)}\n`
}
