import type { LogGroup, LogGroups } from '../../kit/answers.ts'
import { mainKind, Numbers, type NumbersDump, UNITS } from '../numbers/numbers.ts'
import type { Quantity } from '../where/compare.ts'

/** What groups are ordered by; the larger come first. */
export type GroupOrder = 'count' | 'errors' | 'median' | 'p95' | 'max'

/** What one count may keep in memory, about 30 MB: values, their characters, and bins of numbers. */
export interface GroupLimits {
  values: number
  text: number
  bins: number
}
const LIMITS: GroupLimits = { values: 10_000, text: 4_000_000, bins: 200_000 }

/** A longer value is not kept; `where` cannot select it either. */
const LONGEST_VALUE = 1000

interface Counted {
  count: number
  errors: number
  numbers: Numbers | null
}

interface FieldGroup {
  count: number
  errors: number
  numbers: Numbers
  /** Whether it gave its numbers back, and so is not shown. */
  closed: boolean
}

/** Groups as JSON. The numbers of a group are null if it gave them back. */
export interface GroupsDump {
  isCut: boolean
  examined: number
  records: number
  numbers: number
  other: [count: number, errors: number]
  groups: [value: string, count: number, errors: number, numbers: NumbersDump | null][]
}

/** Records by the values of a field. Each group that is shown is exact; what did not fit into memory is `other`. */
export class Groups {
  /** Whether something did not fit. */
  isCut = false
  /** How many records were looked at, how many of them have the field, and how many a number. */
  #examined = 0
  #records = 0
  #numbers = 0
  readonly #limits: GroupLimits
  readonly #groups = new Map<string, FieldGroup>()
  /** The records of values that are not kept. */
  readonly #other: FieldGroup = { count: 0, errors: 0, numbers: new Numbers(), closed: true }
  #text = 0
  #bins = 0

  constructor(limits = LIMITS) {
    this.#limits = limits
  }

  /** Whether records were looked at and none has the field; with `of`, or none has a number. */
  lacksField(of: string | null): boolean {
    return this.#examined > 0 && (this.#records === 0 || (of !== null && this.#numbers === 0))
  }

  /** Counts a record with its values: usually one. Only tags have several, and records without any are not counted. */
  add(values: readonly string[], isError: boolean, number: Quantity | null): void {
    this.#examined++
    if (values.length === 0) return
    this.#records++
    if (number) this.#numbers++
    for (const value of values) {
      const group = this.#group(value) ?? this.#other
      group.count++
      if (isError) group.errors++
      if (number && !group.closed) this.#grow(group.numbers.add(number))
    }
  }

  /** Adds what was counted in another log. */
  merge(other: Groups): void {
    this.isCut ||= other.isCut
    this.#examined += other.#examined
    this.#records += other.#records
    this.#numbers += other.#numbers
    this.#other.count += other.#other.count
    this.#other.errors += other.#other.errors
    for (const [value, { count, errors, numbers, closed }] of other.#groups)
      this.#take(value, { count, errors, numbers: closed ? null : numbers })
  }

  /** All of it, for another service that merges it with its own. */
  dump(): GroupsDump {
    return {
      isCut: this.isCut,
      examined: this.#examined,
      records: this.#records,
      numbers: this.#numbers,
      other: [this.#other.count, this.#other.errors],
      groups: [...this.#groups].map(([value, { count, errors, numbers, closed }]) => [
        value,
        count,
        errors,
        closed ? null : numbers.dump(),
      ]),
    }
  }

  /** What another service counted, within the limits. Throws a TypeError if it makes no sense. */
  static from(dump: GroupsDump): Groups {
    const found = new Groups()
    const { examined, records, numbers, other, groups } = dump
    const counts = [
      examined,
      records,
      numbers,
      ...other,
      ...groups.flatMap(([, ...counts]) => counts.slice(0, 2)),
    ]
    const isCount = (count: unknown) => Number.isSafeInteger(count) && (count as number) >= 0
    if (!counts.every(isCount) || !groups.every(([value]) => typeof value === 'string'))
      throw new TypeError('not groups')
    found.isCut = dump.isCut === true
    found.#examined = examined
    found.#records = records
    found.#numbers = numbers
    ;[found.#other.count, found.#other.errors] = other
    for (const [value, count, errors, numbers] of groups)
      found.#take(value, { count, errors, numbers: numbers && Numbers.from(numbers) })
    return found
  }

  /** The first groups in an order, equal ones by value. `hasNumbers` if they are shown. */
  top(
    order: GroupOrder,
    limit: number,
    hasNumbers: boolean,
  ): Pick<LogGroups, 'unit' | 'records' | 'groups' | 'other'> {
    const open = [...this.#groups].filter(([, { closed }]) => !closed)
    const kind = mainKind(open.map(([, { numbers }]) => numbers))
    const isAny = open.some(([, { numbers }]) => numbers.countOf(kind) > 0)
    const shown = open.map(([value, { count, errors, numbers }]): LogGroup => {
      if (!hasNumbers) return { value, count, errors }
      const { min = null, median = null, p95 = null, max = null } = numbers.summaryOf(kind) ?? {}
      return { value, count, errors, min, median, p95, max }
    })
    const rank = (group: LogGroup) => group[order] ?? Number.NEGATIVE_INFINITY
    shown.sort((a, b) => compare(rank(b), rank(a)) || (a.value < b.value ? -1 : 1))
    const closed = [...this.#groups.values()].filter((group) => group.closed)
    const rest = [...shown.slice(limit), ...closed, this.#other]
    const other = {
      count: rest.reduce((sum, { count }) => sum + count, 0),
      errors: rest.reduce((sum, { errors }) => sum + errors, 0),
    }
    return {
      unit: isAny ? UNITS[kind] : null,
      records: this.#records,
      groups: shown.slice(0, limit),
      ...(other.count > 0 && { other }),
    }
  }

  /** Adds a group that was counted elsewhere; its numbers are null if they are not known. */
  #take(value: string, { count, errors, numbers }: Counted): void {
    const group = this.#group(value) ?? this.#other
    group.count += count
    group.errors += errors
    if (group.closed) return
    if (numbers === null) {
      this.#close(group)
      return
    }
    const before = group.numbers.bins
    group.numbers.merge(numbers)
    this.#grow(group.numbers.bins - before)
  }

  /** The group of a value; null if there is no memory for another one. */
  #group(value: string): FieldGroup | null {
    const known = this.#groups.get(value)
    if (known) return known
    const { values, text } = this.#limits
    if (this.#groups.size >= values || this.#text + value.length > text || value.length > LONGEST_VALUE) {
      this.isCut = true
      return null
    }
    this.#text += value.length
    const group = { count: 0, errors: 0, numbers: new Numbers(), closed: false }
    this.#groups.set(value, group)
    return group
  }

  #grow(bins: number): void {
    this.#bins += bins
    if (this.#bins > this.#limits.bins) this.#closeSmallest()
  }

  /** Gives back half of the bins: those of the groups with the fewest records. */
  #closeSmallest(): void {
    const open = [...this.#groups.values()].filter(({ closed }) => !closed)
    for (const group of open.sort((a, b) => a.count - b.count)) {
      if (this.#bins <= this.#limits.bins / 2) return
      this.#close(group)
    }
  }

  #close(group: FieldGroup): void {
    this.#bins -= group.numbers.bins
    group.numbers = new Numbers()
    group.closed = true
    this.isCut = true
  }
}

/** Infinities are equal to themselves, which their difference does not say. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1
}
