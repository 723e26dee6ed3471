import { type LogQuery, type LogRecord, ProblemError } from '../client.ts'
import type { CommandLine } from '../usage.ts'
import type { Target } from './connect.ts'
import { complain } from './output/notes.ts'
import { cleanName, printed, type Style } from './output/records.ts'
import type { World } from './output/world.ts'

/** The logs that a command names: several of them, a pattern, or those of several nodes, are merged by the node. */
export interface Named {
  file: string | readonly string[]
  node: readonly string[] | undefined
  isMerged: boolean
}

export function namedLogs(given: CommandLine, files: readonly string[]): Named {
  const node = given.flags.get('node')
  const isMerged = files.length > 1 || /[*?]/.test(files[0]!) || node !== undefined
  return { file: files.length > 1 ? files : files[0]!, node, isMerged }
}

/** Prints merged records, each with its log in front. */
export class MergedPrinter {
  readonly #style: Style
  readonly #target: Target
  readonly #several: boolean
  readonly #end: string
  readonly #labels = new Map<string, string>()

  /** `end` is what comes between the log and the line; `several` if there are several targets. */
  constructor(target: Target, style: Style, { several, end }: { several: boolean; end: ': ' | '] ' }) {
    this.#target = target
    this.#style = style
    this.#several = several
    this.#end = end
  }

  /** A record, as JSON text, as it is printed. */
  print(line: string): string {
    if (this.#style.json) return printed(this.#several ? this.#withTarget(line) : line, this.#style, '')
    const record = JSON.parse(line) as LogRecord
    const late = record.late ? this.#style.paint.dim('(late) ') : ''
    return printed(line, this.#style, this.prefix(labelOf(record)) + late)
  }

  /** What is printed in front of the lines of a log. */
  prefix(name: string): string {
    const known = this.#labels.get(name)
    if (known !== undefined) return known
    const label = this.label(name)
    const { paint } = this.#style
    const made =
      this.#end === '] '
        ? `${paint.label(this.#labels.size, `[${label}]`)} `
        : `${paint.label(this.#labels.size, label)}${paint.dim(':')}`
    this.#labels.set(name, made)
    return made
  }

  /** What a log is called. */
  label(name: string): string {
    return cleanName(this.#several ? `${this.#target.name} ${name}` : name, this.#style)
  }

  #withTarget(line: string): string {
    const record = JSON.parse(line) as LogRecord
    return JSON.stringify({ node: this.#target.name, ...record })
  }
}

/** What a record's log is called. */
export function labelOf({ node, file = '' }: LogRecord): string {
  return node === undefined ? file : `${node}/${file}`
}

/**
 * Names on stderr what is not in an answer. Returns the logs without times, which are printed by themselves, and whether
 * there were others.
 */
export async function tellMissing(
  world: World,
  missing: Readonly<Record<string, string>>,
  { level }: Pick<LogQuery, 'level'>,
): Promise<{ untimed: string[]; isTrouble: boolean }> {
  const untimed: string[] = []
  let isTrouble = false
  for (const [name, reason] of Object.entries(missing)) {
    if (reason === 'no-time' && level === undefined) {
      untimed.push(name)
      continue
    }
    isTrouble = true
    await complain(world, `${name}: not among the records${reason === '' ? '' : `, because of ${reason}`}.`)
  }
  return { untimed, isTrouble }
}

/** Whether a problem is that none of the logs has times. */
export function isUntimed(error: unknown): boolean {
  return error instanceof ProblemError && error.code === 'no-time'
}
