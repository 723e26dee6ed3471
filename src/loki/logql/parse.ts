import { parser } from '@grafana/lezer-logql'
import { durationOf, millisOf } from './amounts.ts'
import {
  type Condition,
  type LabelMatcher,
  type LogSelection,
  LokiError,
  type LokiQuery,
  OPERATIONS,
} from './query.ts'
import { matcherOf, readStage } from './stages.ts'
import { descendants, type Node, unsupported } from './tree.ts'

const MAX_QUERY = 8192
/** Each bracket takes stack. */
const MOST_BRACKETS = 100
/** Line filters and label filters of one query: each pattern is compiled, and each text is looked for. */
const MOST_FILTERS = 32

/** Parses LogQL with the grammar that Grafana uses. Unsupported parts are refused with one sentence. */
export function parseQuery(source: string): LokiQuery {
  if (source.length > MAX_QUERY)
    throw new LokiError(`The query has ${source.length} characters; at most ${MAX_QUERY} are allowed.`)
  const brackets = source.split('(').length - 1
  if (brackets > MOST_BRACKETS)
    throw new LokiError(`The query has ${brackets} opening brackets; at most ${MOST_BRACKETS} are allowed.`)
  const query = parsed(source)
  if (query.kind !== 'scalar') refuseMany(query.selection)
  return query
}

/** Parses a stream selector alone, for /series. */
export function parseSelector(source: string): LabelMatcher[] {
  const query = parseQuery(source)
  if (query.kind !== 'log' || query.selection.lines.length > 0 || query.selection.stages.length > 0)
    throw new LokiError(`Cannot use ${source} here: write a stream selector.`)
  return query.selection.selector
}

function refuseMany({ selector, lines, stages }: LogSelection): void {
  const texts = lines.reduce((sum, { values }) => sum + values.length, 0)
  const sizes = stages.map((stage) => (stage.kind === 'where' ? sizeOf(stage.condition) : 0))
  const conditions = sizes.reduce((sum, size) => sum + size, 0)
  const others = sizes.filter((size) => size === 0)
  for (const count of [texts, selector.length, conditions, others.length])
    if (count > MOST_FILTERS)
      throw new LokiError(`The query has ${count} filters of one kind; at most ${MOST_FILTERS} are allowed.`)
}

function sizeOf(condition: Condition): number {
  const inner = 'all' in condition ? condition.all : 'any' in condition ? condition.any : null
  return inner ? inner.reduce((sum, each) => sum + sizeOf(each), 0) : 1
}

function parsed(source: string): LokiQuery {
  const top = parser.parse(source).topNode as unknown as Node
  const error = descendants(top, '⚠')[0]
  if (error) {
    const near = source.slice(error.from, error.from + 20) || 'its end'
    throw new LokiError(`parse error at character ${error.from + 1}: the query is not LogQL near ${near}`)
  }
  const body = top.getChild('Expr')?.firstChild
  if (body?.name === 'LogExpr') return { kind: 'log', selection: selectionOf(body, source) }
  if (body?.name === 'MetricExpr') return metricOf(body, source)
  throw new LokiError('The query is empty: write a stream selector such as {file="broker.log"}.')
}

function selectionOf(node: Node, source: string): LogSelection {
  const selector = node.getChild('Selector')
  const inner = node.getChild('LogExpr')
  if (!selector && inner) return selectionOf(inner, source)
  if (!selector) throw unsupported(source.slice(node.from, node.to))
  const matchers = descendants(selector, 'Matcher')
  const selection: LogSelection = {
    selector: matchers.map((matcher) => matcherOf(matcher, ({ from, to }) => source.slice(from, to))),
    lines: [],
    stages: [],
  }
  const pipeline = node.getChild('PipelineExpr')
  if (pipeline)
    for (const stage of descendants(pipeline, 'PipelineStage')) readStage(stage, source, selection)
  return selection
}

function metricOf(node: Node, source: string): LokiQuery {
  const text = source.slice(node.from, node.to)
  const sum = node.getChild('VectorAggregationExpr')
  if (sum) {
    const inner = sum.getChild('MetricExpr')
    const operation = sum.getChild('VectorOp')
    if (!inner || !operation || source.slice(operation.from, operation.to) !== 'sum') throw unsupported(text)
    const metric = metricOf(inner, source)
    if (metric.kind !== 'metric' || metric.sum !== null) throw unsupported(text)
    const grouping = sum.getChild('Grouping')
    const labels = grouping ? descendants(grouping, 'Identifier') : []
    return {
      ...metric,
      sum: {
        labels: labels.map(({ from, to }) => source.slice(from, to)),
        without: grouping?.getChild('Without') != null,
      },
    }
  }
  const range = node.getChild('RangeAggregationExpr')
  if (range) return rangeOf(range, source)
  // Grafana sends this to check that it talks to Loki.
  if (/^vector\(1\)\s*\+\s*vector\(1\)$/.test(text)) return { kind: 'scalar', value: 2 }
  throw unsupported(text)
}

function rangeOf(node: Node, source: string): LokiQuery {
  const textOf = ({ from, to }: Node) => source.slice(from, to)
  const name = node.getChild('RangeOp')
  const operation = OPERATIONS.find((known) => name && textOf(name) === known)
  const log = node.getChild('LogRangeExpr')
  const range = log?.getChild('Range')?.getChild('Duration')
  const offset = log?.getChild('OffsetExpr')?.getChild('Duration')
  if (!operation || !log || !range || node.getChild('Grouping') || log.getChild('UnwrapExpr'))
    throw unsupported(textOf(node))
  return {
    kind: 'metric',
    operation,
    selection: selectionOf(log, source),
    range: durationOf(textOf(range)),
    offset: offset ? millisOf(textOf(offset)) : 0,
    sum: null,
  }
}
