import type { LogRecord } from '../client.ts'
import { logName, notFleet, type Reading } from './nodes/logs.ts'
import { clean, cleanName, printed, type Style } from './output/records.ts'
import { type Shown, show } from './output/shown.ts'

/** Prints what was read, each line with its log in front if there are several. */
export class Printer {
  readonly #style: Style
  readonly #frame: (name: Shown) => Shown
  readonly #single: (reading: Reading) => string
  readonly #prefixes = new Map<string, Shown>()

  /** `frame` sets a name apart from the line behind it; `single` is what a log is called that several nodes have. */
  constructor(style: Style, frame: (name: Shown) => Shown, single = singleLabel) {
    this.#style = style
    this.#frame = frame
    this.#single = single
  }

  /** Whether it needs records as JSON, and not only their text. */
  needsRecords({ isMerged }: Reading): boolean {
    const { json, paint, zone } = this.#style
    return isMerged || json || paint.on || zone !== 'log'
  }

  /** A record as JSON, or a line of text. */
  print(line: string, reading: Reading, isRecord = this.needsRecords(reading)): Shown {
    if (this.#style.json) return printed(withOrigin(line, reading), this.#style, show``)
    if (!isRecord) return show`${this.prefix(this.#labelOf(reading))}${clean(line, this.#style)}`
    if (!reading.isMerged) return printed(line, this.#style, this.prefix(this.#labelOf(reading)))
    const record = JSON.parse(line) as LogRecord
    const late: Shown = record.late ? this.#style.paint.dim(show`(late) `) : show``
    return printed(line, this.#style, show`${this.prefix(mergedLabel(record, reading))}${late}`)
  }

  /** What is printed in front of the lines of a log, in its own color. */
  prefix(label: string): Shown {
    if (label === '') return show``
    const prefix =
      this.#prefixes.get(label) ?? this.#style.paint.label(this.#prefixes.size, this.#frame(this.name(label)))
    this.#prefixes.set(label, prefix)
    return prefix
  }

  name(label: string): Shown {
    return cleanName(label, this.#style)
  }

  #labelOf(reading: Reading): string {
    if (reading.isAlone) return singleLabel(reading)
    return reading.target === '' ? '' : this.#single(reading)
  }
}

/** What a log is called among others: its name, with the node in front if there are several. */
export function singleLabel({ target, title }: Reading): string {
  return target === '' ? title : `${target} ${title}`
}

export function mergedLabel({ node, file }: LogRecord, { target }: Reading): string {
  if (file === undefined) throw notFleet()
  return target === '' ? logName(node, file) : `${target} ${logName(node, file)}`
}

/** A record as JSON, with its log. What the node sent stays as it is: parsed numbers could lose digits. */
function withOrigin(line: string, reading: Reading): string {
  const { node, file } = reading.origin
  const record = reading.isMerged ? (JSON.parse(line) as LogRecord) : {}
  if (reading.isMerged) mergedLabel(record, reading)
  const lacking = JSON.stringify({ node: record.node === undefined ? node : undefined, file })
  return lacking === '{}' ? line : `${lacking.slice(0, -1)},${line.slice(1)}`
}
