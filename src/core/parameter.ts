/** The resources that take parameters, by the last word of their path; `difference` is the comparison of logs. */
export type Resource =
  | 'config'
  | 'history'
  | 'compare'
  | 'blame'
  | 'list'
  | 'view'
  | 'histogram'
  | 'fields'
  | 'groups'
  | 'difference'
  | 'download'
  | 'nodes'

export interface Parameter {
  name: string
  /** The capability that it belongs to. @default 'search', or the core where it is in its table */
  of?: string
  on: readonly Resource[]
  /**
   * What it selects: the `log`, which of its records (`filter`), which part of those (`part`, or `cursor`, which links
   * drop), or how they are sent (`shape`).
   */
  role: 'log' | 'filter' | 'part' | 'cursor' | 'shape'
  type: 'text' | 'integer' | 'flag' | 'choice'
  words?: readonly string[]
  /** Bounds of an integer. */
  min?: number
  max?: number | undefined
  maxLength?: number
  required?: true
  /** Whether it may be given more than once. Its values are then a list. */
  repeatable?: true
  /** Whether it may name several logs, more than once or by a pattern: `files` then has all values. */
  several?: true
  /** How often a repeatable parameter may be given. @default 32 */
  most?: number
  /** The value used when the parameter is absent or empty. */
  default?: number | string
  /** Whether an empty value is a mistake, not the same as none. */
  notEmpty?: true
  /** Completes "it must be …" where the type alone does not say it. */
  expects?: string
  /** How the documentation writes a value: `lines=N`. */
  value: string
  /** What it does, as Markdown; the first sentence must make sense alone. */
  meaning: string
  example: string
}

export function rowsOf(rows: readonly Parameter[], resource: Resource): Parameter[] {
  return rows.filter((row) => row.on.includes(resource))
}
