/** The labels of every stream. */
export const LABELS = ['file', 'level', 'node'] as const

export type Operator = '=' | '!=' | '=~' | '!~'

/** A condition on a label: `file="broker.log"`. */
export interface LabelMatcher {
  name: string
  operator: Operator
  value: string
}

/** What a number is: a plain one, a duration in ms, or a size in bytes. */
export type Unit = 'number' | 'duration' | 'bytes'

/** A condition on a label whose value is a number: `cost > 44`, `took >= 1.5s`, `size < 10KB`. */
export interface Comparison {
  name: string
  sign: '==' | '!=' | '<' | '<=' | '>' | '>='
  unit: Unit
  amount: number
}

export type Condition = LabelMatcher | Comparison | { all: Condition[] } | { any: Condition[] }

/** A condition on the line: `|= "a" or "b"`. Any of the values may match; with `!=` and `!~`, none may. */
export interface LineFilter {
  operator: '|=' | '!=' | '|~' | '!~'
  values: string[]
}

/** A step of a pipeline that reads, compares or changes labels. None of them changes the line. */
export type Stage =
  | { kind: 'parse'; parser: 'json' | 'logfmt' }
  | { kind: 'where'; condition: Condition }
  /** A label by its name, or only where its value meets a condition. */
  | { kind: 'drop' | 'keep'; labels: (string | LabelMatcher)[] }

/** Which records are wanted, and with which labels. */
export interface LogSelection {
  selector: LabelMatcher[]
  lines: LineFilter[]
  stages: Stage[]
}

export const OPERATIONS = ['count_over_time', 'rate', 'bytes_over_time', 'bytes_rate'] as const

/** Records or their bytes over time. */
export interface MetricQuery {
  kind: 'metric'
  operation: (typeof OPERATIONS)[number]
  selection: LogSelection
  /** Milliseconds. */
  range: number
  offset: number
  /** `sum`: the labels that are kept or left out; null keeps the series separate. */
  sum: { labels: string[]; without: boolean } | null
}

/** A parsed query. `scalar` is Grafana's health check. */
export type LokiQuery =
  | { kind: 'log'; selection: LogSelection }
  | MetricQuery
  | { kind: 'scalar'; value: number }

/** A query that cannot be answered. The message is what Loki's clients show. */
export class LokiError extends Error {
  readonly status: number

  constructor(message: string, status = 400) {
    super(message)
    this.name = 'LokiError'
    this.status = status
  }
}
