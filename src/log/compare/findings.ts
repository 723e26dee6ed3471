import { type Group, Patterns } from '../fields/patterns.ts'
import { LEVELS } from '../format/detect.ts'
import {
  addTo,
  type Exposure,
  evidence,
  leastEvidence,
  ratio,
  type Tally,
  tally,
  unitOf,
} from './evidence.ts'
import { FieldNumbers, movedNumbers } from './numbers.ts'
import type { ComparedLog, Sample, SampledRecord } from './sample.ts'

/** What is compared: the range, or its base. */
export interface Side {
  samples: readonly Sample[]
  /** Milliseconds, times the number of nodes. */
  exposure: number
}

/** Something that differs, before it is shown. */
export interface Difference {
  kind: 'pattern' | 'field' | 'level' | 'silent'
  what: string
  count: number
  base: number
  /** What selects its records, besides the filters of the request; nothing for all records of its log. */
  term: { pattern?: string; where?: string; level?: string }
  /** Where its records are: in the base, if they are gone from the range. */
  in: 'range' | 'base'
  /** The log that all of its records are from. */
  log: ComparedLog | null
  /** The node, if they are from several logs of one. */
  node: string | null
  example?: string | undefined
  /** What is more telling has more. */
  score: number
}

/** Patterns are found if they are this many times as frequent, levels and shares of values if they are so. */
const PATTERN_RATIO = 10
const LEVEL_RATIO = 2
const VALUE_RATIO = 3
/** Or a share of values, if it changes by this much. */
const VALUE_CHANGE = 0.25
/** The least share that a value must have on one side: where there are few values, less; if all of its records are severe, any. */
const VALUE_SHARE = 0.02
const FEW_SHARE = 0.002
const FEW_VALUES = 50
/** Different values of a field that are counted, fields, and how many numbers are not values any more. */
const DISTINCT = 2000
const FIELDS = 200
const NUMBERS = 20
/** How long an example is at most. */
const EXAMPLE = 300

/** What is judged of each side, and how many records there are in all, which is what a view shows. */
interface Sided {
  range: Tally
  base: Tally
  shown: { range: number; base: number }
}

const newSided = (): Sided => ({ range: tally(), base: tally(), shown: { range: 0, base: 0 } })

function count(counts: Sided, side: 'range' | 'base', weight: number, isJudged: boolean): void {
  counts.shown[side] += weight
  if (isJudged) addTo(counts[side], weight)
}

const figures = ({ shown }: Sided) => ({ count: Math.round(shown.range), base: Math.round(shown.base) })

/** What differs between two sides, the most telling first. */
export function differences(range: Side, base: Side, isByNode: boolean): Difference[] {
  const silent = silentLogs(range, base, isByNode)
  const names = new Set(silent.map(({ log }) => keyOf(log!, isByNode)))
  // What is gone with a log is not told again.
  const isHeard = (log: ComparedLog) => !names.has(keyOf(log, isByNode))
  const sides = { range, base }
  const { found, explained } = patternsOf(sides, isHeard)
  const isJudged = (record: SampledRecord) => isHeard(record.log) && !explained.has(record)
  const all = [...silent, ...found, ...levelsOf(sides, isHeard), ...fieldsOf(sides, isJudged)]
  return all.sort((a, b) => b.score - a.score || (a.what < b.what ? -1 : 1))
}

type Compared = { range: Side; base: Side }

const exposureOf = ({ range, base }: Compared): Exposure => ({ range: range.exposure, base: base.exposure })
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)
/** On other nodes, a log has the same name. */
const keyOf = (log: ComparedLog, isByNode: boolean) => (isByNode ? log.file : log.name)

/** Logs that the range has no records of, or none in its second half. */
function silentLogs(range: Side, base: Side, isByNode: boolean): Difference[] {
  const logs = new Map<string, { log: ComparedLog; count: number; late: number; base: number }>()
  const entry = (log: ComparedLog) => {
    const key = keyOf(log, isByNode)
    const known = logs.get(key) ?? { log, count: 0, late: 0, base: 0 }
    logs.set(key, known)
    return known
  }
  for (const { log, parts } of range.samples) {
    const counted = entry(log)
    counted.count += sum(parts)
    counted.late += sum(parts.slice(parts.length / 2))
  }
  for (const { log, parts } of base.samples) entry(log).base += sum(parts)
  const exposure = { range: range.exposure / 2, base: base.exposure }
  const found: Difference[] = []
  for (const { log, count, late, base: before } of logs.values()) {
    const sure = evidence(0, before, exposure)
    if (late > 0 || before === 0 || sure < leastEvidence(logs.size)) continue
    found.push({
      kind: 'silent',
      what: log.file,
      count,
      base: before,
      term: {},
      in: 'base',
      log,
      node: log.node,
      score: 420 + cap(sure),
    })
  }
  return found
}

function levelsOf(sides: Compared, isHeard: (log: ComparedLog) => boolean): Difference[] {
  const exposure = exposureOf(sides)
  return LEVELS.flatMap((name, level) => {
    const counts = newSided()
    for (const side of ['range', 'base'] as const)
      for (const { log, levels } of sides[side].samples) {
        counts.shown[side] += levels[level]!
        if (isHeard(log)) counts[side].count += levels[level]!
      }
    const { range, base } = counts
    const times = ratio(range.count, base.count, exposure)
    const sure = evidence(range.count, base.count, exposure)
    if (range.count + base.count === 0 || sure < leastEvidence(LEVELS.length)) return []
    if (times < LEVEL_RATIO && times > 1 / LEVEL_RATIO) return []
    const side = isIn(times)
    const records = sides[side].samples.flatMap(({ records }) =>
      records.filter((each) => each.level === name),
    )
    return {
      kind: 'level' as const,
      what: name,
      ...figures(counts),
      term: { level: `=${name}` },
      in: side,
      ...originOf(records),
      example: exampleOf(records),
      score: (times > 1 ? 80 : 40) * severityOf(name) + cap(sure),
    }
  })
}

/** Messages that are new, gone, or ten times as frequent, or a tenth; and the records that these explain. */
function patternsOf(
  sides: Compared,
  isHeard: (log: ComparedLog) => boolean,
): { found: Difference[]; explained: Set<SampledRecord> } {
  const patterns = new Patterns()
  const groups = new Map<Group, Sided & { records: Record<'range' | 'base', SampledRecord[]> }>()
  for (const side of ['base', 'range'] as const)
    for (const { log, records } of sides[side].samples)
      for (const record of records) {
        // The same message with another level is the same pattern: levels are compared by themselves.
        const group = patterns.add(record.message, null, null)
        if (!group) continue
        const known = groups.get(group) ?? { ...newSided(), records: { range: [], base: [] } }
        groups.set(group, known)
        count(known, side, record.weight, isHeard(log))
        known.records[side].push(record)
      }
  const exposure = exposureOf(sides)
  const units = { range: unitIn(sides.range), base: unitIn(sides.base) }
  const least = leastEvidence(groups.size)
  const found: Difference[] = []
  const explained = new Set<SampledRecord>()
  for (const [{ words }, counts] of groups) {
    const { range, base, records } = counts
    if (range.count + base.count === 0) continue
    const times = ratio(range.count, base.count, exposure)
    if (times < PATTERN_RATIO && times > 1 / PATTERN_RATIO) continue
    const sure = evidence(range.count, base.count, exposure, unitOfBoth(counts, units))
    if (sure < least) continue
    const side = isIn(times)
    for (const record of [...records.range, ...records.base]) explained.add(record)
    const severity = Math.max(...records[side].map(({ level }) => severityOf(level)))
    const pattern = words.join(' ')
    found.push({
      kind: 'pattern',
      what: pattern,
      ...figures(counts),
      term: { pattern },
      in: side,
      ...originOf(records[side]),
      example: exampleOf(records[side]),
      score: (times > 1 ? 100 : 60) * severity + cap(sure),
    })
  }
  return { found, explained }
}

interface FieldCounts {
  all: Sided
  values: Map<string, Sided & { isMild: boolean }>
  numbers: Record<'range' | 'base', FieldNumbers>
}

/** Values whose share of a field changed, and numbers that moved. */
function fieldsOf(sides: Compared, isJudged: (record: SampledRecord) => boolean): Difference[] {
  const fields = countFields(sides, isJudged)
  const units = { range: unitIn(sides.range), base: unitIn(sides.base) }
  const compared = sum([...fields.values()].map(({ values }) => Math.max(1, values.size)))
  const leastSure = leastEvidence(compared)
  const found: Difference[] = []
  for (const [name, { all, values, numbers }] of fields) {
    if (all.range.count === 0 || all.base.count === 0) continue
    const moved = movedNumbers(numbers.range, numbers.base)
    if (moved && moved.evidence >= leastSure)
      found.push(
        fieldDifference(sides, { name, value: null, where: `${name}${moved.condition}`, ...moved }, 'range'),
      )
    if (numbers.base.isNumeric && values.size > NUMBERS) continue
    const exposure = { range: all.range.count, base: all.base.count }
    for (const [value, counts] of values) {
      const { range, base } = counts
      const shares = [range.count / exposure.range, base.count / exposure.base] as const
      const times = ratio(range.count, base.count, exposure)
      const isMoved = times >= VALUE_RATIO || times <= 1 / VALUE_RATIO
      // Severe records are all read and counted, so that a hundred 503 among a million requests are found.
      const isSevere = !counts.isMild && values.size <= FEW_VALUES
      const leastShare = isSevere ? 0 : values.size <= NUMBERS ? FEW_SHARE : VALUE_SHARE
      if (Math.max(...shares) < leastShare) continue
      if (!isMoved && Math.abs(shares[0] - shares[1]) < VALUE_CHANGE) continue
      const unit = isSevere ? Math.max(unitOf(range), unitOf(base)) : unitOfBoth(counts, units)
      const sure = evidence(range.count, base.count, exposure, unit)
      if (sure < leastSure) continue
      const shown = { ...figures(counts), evidence: sure }
      found.push(fieldDifference(sides, { name, value, where: `${name}:${value}`, ...shown }, isIn(times)))
    }
  }
  return found
}

function countFields(
  sides: Compared,
  isJudged: (record: SampledRecord) => boolean,
): Map<string, FieldCounts> {
  const fields = new Map<string, FieldCounts>()
  for (const side of ['base', 'range'] as const)
    for (const { records } of sides[side].samples)
      for (const record of records) {
        const judged = isJudged(record)
        for (const [name, value] of record.fields) {
          const field = fields.get(name) ?? newField()
          if (!fields.has(name) && fields.size >= FIELDS) continue
          fields.set(name, field)
          count(field.all, side, record.weight, judged)
          if (judged) field.numbers[side].add(value)
          const known = field.values.get(value)
          if (!known && field.values.size >= DISTINCT) continue
          const counts = known ?? { ...newSided(), isMild: false }
          counts.isMild ||= severityOf(record.level) === 1
          field.values.set(value, counts)
          count(counts, side, record.weight, judged)
        }
      }
  return fields
}

function newField(): FieldCounts {
  const numbers = { range: new FieldNumbers(), base: new FieldNumbers() }
  return { all: newSided(), values: new Map(), numbers }
}

interface FoundField {
  name: string
  value: string | null
  where: string
  count: number
  base: number
  evidence: number
}

function fieldDifference(sides: Compared, found: FoundField, side: 'range' | 'base'): Difference {
  const { name, value, where, count, base } = found
  const has = ({ fields }: SampledRecord) =>
    fields.some(([own, text]) => own === name && (value === null || text === value))
  const records = sides[side].samples.flatMap(({ records }) => records.filter(has))
  return {
    kind: 'field',
    what: value === null ? name : `${name}:${value}`,
    count: Math.round(count),
    base: Math.round(base),
    // A name with a sign of a condition in it cannot be selected.
    term: /[:~<>=!]/.test(name) || value === '*' ? { where: '' } : { where },
    in: side,
    ...originOf(records),
    example: exampleOf(records),
    score: 150 + cap(found.evidence),
  }
}

const isIn = (times: number) => (times > 1 ? 'range' : 'base')
const cap = (sure: number) => Math.min(99, sure / 4)

const SEVERITY: Record<string, number> = { warn: 2, error: 3, fatal: 4 }
const severityOf = (level: string | null) => SEVERITY[level ?? ''] ?? 1

/** What one record stands for on a side, on average. */
function unitIn({ samples }: Side): number {
  const all = tally()
  for (const { records } of samples) for (const { weight } of records) addTo(all, weight)
  return unitOf(all)
}

/** What one record of both stands for; where there is none, it may be one that was not read. */
function unitOfBoth(counts: Sided, units: { range: number; base: number }): number {
  const unit = (side: 'range' | 'base') => (counts[side].count === 0 ? units[side] : unitOf(counts[side]))
  return Math.max(unit('range'), unit('base'))
}

function originOf(records: readonly SampledRecord[]): Pick<Difference, 'log' | 'node'> {
  const logs = new Set(records.map(({ log }) => log))
  const nodes = new Set(records.map(({ log }) => log.node))
  return { log: logs.size === 1 ? [...logs][0]! : null, node: nodes.size === 1 ? [...nodes][0]! : null }
}

/** The message of a record; the newest one is the last. */
function exampleOf(records: readonly SampledRecord[]): string | undefined {
  const message = records.at(-1)?.message
  return message !== undefined && message.length > EXAMPLE ? `${message.slice(0, EXAMPLE)}…` : message
}
