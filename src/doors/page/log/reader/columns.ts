import { NO_COLUMNS } from '../../url.ts'
import { valuesOf } from '../record/fields.ts'
import type { FieldColumn } from '../record/look.ts'
import { type Item, parse, type Shown } from '../record/record.ts'
import { COLUMNS } from '../record/rows.ts'

/** The columns of the list: which are filled, and how wide each must be. What was shown once stays, so that rows do not shift. */
export class Columns {
  /** Columns that some record fills, and the characters that they need. */
  readonly filled = new Map<string, number>()
  fields: readonly FieldColumn[] = []
  /** Whether they are what a log of requests is about, so that its message would only repeat them. */
  requests = false
  /** Fields of the records that can be columns. */
  readonly offered = new Set<string>()
  /** Around the list and its header. */
  readonly #frame: HTMLElement

  constructor(frame: HTMLElement) {
    this.#frame = frame
  }

  /** Other fields as columns; what is loaded says how wide they are. */
  showFields(names: readonly string[], items: readonly Item[]): void {
    const shown = names.length === 0 ? requestFields(sample(items)) : names
    this.requests = REQUEST.every((name) => shown.includes(name))
    this.fields = shown
      .filter((name) => name !== NO_COLUMNS)
      .map((name) => ({
        name,
        chars: name.length + 3,
        numeric: true,
        unit: this.requests ? (name === 'duration' ? ' ms' : '') : null,
      }))
    this.measure(items)
  }

  /** Looks at a few of the records; true if a column of a field changed, so that rows must be drawn again. */
  measure(items: readonly Item[]): boolean {
    const records = sample(items)
    for (const { context } of records)
      if (this.offered.size < OFFERED && typeof context === 'object')
        for (const [name, value] of Object.entries(context ?? {}))
          if (typeof value !== 'object' || value === null) this.offered.add(name)
    for (const { name, text } of COLUMNS) {
      const chars = Math.max(this.filled.get(name) ?? 0, ...records.map((record) => text(record).length))
      if (chars > 0) this.filled.set(name, chars)
      // The same value again would make the browser compute every row's style once more.
      if (this.#frame.style.getPropertyValue(`--chars-${name}`) === `${chars}ch`) continue
      this.#frame.classList.toggle(`no-${name}`, chars === 0)
      this.#frame.style.setProperty(`--chars-${name}`, `${chars}ch`)
    }
    const before = JSON.stringify(this.fields)
    this.fields = this.fields.map(({ name, chars, numeric, unit }) => {
      const values = records.flatMap((record) => valuesOf(record, name)[0] || [])
      const longest = Math.min(
        WIDEST,
        Math.max(0, ...values.map((value) => value.length + (unit?.length ?? 0))) + 1,
      )
      return {
        name,
        chars: Math.max(chars, longest),
        numeric: numeric && values.every((value) => NUMBER.test(value)),
        unit,
      }
    })
    return JSON.stringify(this.fields) !== before
  }
}

/** A few of the records, from both ends. */
function sample(items: readonly Item[]): Shown[] {
  const some = [...items.slice(0, 40), ...items.slice(-40)]
  return some.flatMap((item) => (typeof item === 'string' ? [parse(item)] : []))
}

/** The columns of a log of requests; none for others. */
function requestFields(records: readonly Shown[]): string[] {
  const has = (name: string) => records.filter((record) => valuesOf(record, name).length > 0).length
  if (REQUEST.some((name) => has(name) * 10 < records.length * 9)) return []
  return ['client', 'method', 'path', 'status', 'duration'].filter((name) => has(name) > 0)
}

const REQUEST = ['method', 'path', 'status']
/** A number, with a unit or without: `200`, `1,024`, `3.2s`, `85%`. */
const NUMBER = /^[+-]?\d[\d,_]*(?:\.\d+)?(?:e[+-]?\d+)?\s?[a-zµ%]{0,4}$/i
const WIDEST = 40
/** Fields that are offered as columns; a record may have thousands. */
const OFFERED = 40
