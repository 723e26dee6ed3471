/** How a label or a field is compared. */
export type Operator = '=' | '!=' | '=~' | '!~'

/** A condition on a label: `file="broker.log"`. */
export interface LabelMatcher {
  name: string
  operator: Operator
  value: string
}

/** A condition on the line: `|= "a" or "b"`. Any of the values may match; with `!=` and `!~`, none may. */
export interface LineFilter {
  operator: '|=' | '!=' | '|~' | '!~'
  values: string[]
}

/** Which records are wanted. */
export interface LogSelection {
  selector: LabelMatcher[]
  lines: LineFilter[]
  /** Conditions after `| json`, `| logfmt`, or on labels. */
  fields: LabelMatcher[]
}

/** A count of records over time. */
export interface MetricQuery {
  kind: 'metric'
  operation: 'count_over_time' | 'rate'
  selection: LogSelection
  /** Milliseconds. */
  range: number
  offset: number
  /** `sum`: the labels to keep; null keeps the streams separate. */
  by: string[] | null
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
