import { parser } from '@grafana/lezer-logql'
import { amountOf, durationOf, millisOf } from './amounts.ts'
import {
  type Comparison,
  type Condition,
  LABELS,
  type LabelMatcher,
  type LineFilter,
  type LogSelection,
  LokiError,
  type LokiQuery,
  OPERATIONS,
  type Operator,
  type Unit,
} from './query.ts'
import { Tree, unquoted, unsupported } from './tree.ts'

const MAX_QUERY = 8192
/** Each bracket and each operator takes time and stack. */
const MOST_LEVELS = 100
/** Line filters and label filters of one query: each pattern is compiled, and each text is looked for. */
const MOST_FILTERS = 32

/** Parses LogQL with the grammar that Grafana uses. Unsupported parts are refused with one sentence. */
export function parseQuery(source: string): LokiQuery {
  if (source.length > MAX_QUERY)
    throw new LokiError(`The query has ${source.length} characters; at most ${MAX_QUERY} are allowed.`)
  const levels = source.replace(/"(?:\\.|[^"\\])*"|`[^`]*`/gs, '').match(/[(+*/%^-]/g)?.length ?? 0
  if (levels > MOST_LEVELS)
    throw new LokiError(`The query has ${levels} brackets and operators; at most ${MOST_LEVELS} are allowed.`)
  const query = parsedOrRefused(source)
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

/** What was not counted, such as comparisons, may still fill the stack, in the parser or here. */
function parsedOrRefused(source: string): LokiQuery {
  try {
    return parsed(source)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new LokiError('The query has too many brackets and operators inside each other.')
  }
}

/** A parser that mends what is broken takes up to half a second for 8 KB of it. This one stops there. */
const strict = parser.configure({ strict: true })
/** A query up to this length is mended: that tells better what is wrong. */
const MENDED = 1000

function treeOf(source: string): Tree {
  try {
    return new Tree((source.length > MENDED ? strict : parser).parse(source).topNode, source)
  } catch (error) {
    const [, at] = /^No parse at (\d+)$/.exec(error instanceof SyntaxError ? error.message : '') ?? []
    if (at === undefined) throw error
    throw notLogQl(source, Number(at), ', or is too long')
  }
}

function notLogQl(source: string, at: number, more = ''): LokiError {
  const near = source.slice(at, at + 20) || 'its end'
  return new LokiError(`parse error at character ${at + 1}: the query is not LogQL near ${near}${more}`)
}

function parsed(source: string): LokiQuery {
  const top = treeOf(source)
  const [error] = top.all('⚠')
  if (error) throw notLogQl(source, error.from)
  const body = top.child('Expr')?.children[0]
  if (body?.name === 'LogExpr') return { kind: 'log', selection: selectionOf(body) }
  if (body?.name === 'MetricExpr') return metricOf(body)
  throw new LokiError('The query is empty: write a stream selector such as {file="broker.log"}.')
}

function metricOf(node: Tree): LokiQuery {
  const range = node.child('RangeAggregationExpr')
  if (range) return rangeOf(range)
  const sum = node.child('VectorAggregationExpr')
  const inner = sum?.child('MetricExpr')
  if (inner && sum?.child('VectorOp')?.text === 'sum') {
    const metric = metricOf(inner)
    const grouping = sum.child('Grouping')
    const labels = grouping?.all('Identifier').map(({ text }) => text) ?? []
    if (metric.kind === 'metric' && metric.sum === null)
      return { ...metric, sum: { labels, without: grouping?.child('Without') !== undefined } }
  }
  // Grafana sends this to check that it talks to Loki.
  if (/^vector\(1\)\s*\+\s*vector\(1\)$/.test(node.text)) return { kind: 'scalar', value: 2 }
  throw unsupported(node)
}

function rangeOf(node: Tree): LokiQuery {
  const name = node.child('RangeOp')?.text
  const operation = OPERATIONS.find((known) => name === known)
  const log = node.child('LogRangeExpr')
  const range = log?.child('Range')?.child('Duration')
  const offset = log?.child('OffsetExpr')?.child('Duration')
  if (!operation || !log || !range || node.child('Grouping') || log.child('UnwrapExpr'))
    throw unsupported(node)
  return {
    kind: 'metric',
    operation,
    selection: selectionOf(log),
    range: durationOf(range.text),
    offset: offset ? millisOf(offset.text) : 0,
    sum: null,
  }
}

function selectionOf(node: Tree): LogSelection {
  const selector = node.child('Selector')
  const inner = node.child('LogExpr')
  if (!selector && inner) return selectionOf(inner)
  if (!selector) throw unsupported(node)
  const selection: LogSelection = { selector: selector.all('Matcher').map(matcherOf), lines: [], stages: [] }
  for (const stage of node.child('PipelineExpr')?.all('PipelineStage') ?? []) addStage(stage, selection)
  return selection
}

function addStage(stage: Tree, selection: LogSelection): void {
  for (const part of stage.children) {
    const { name, text } = part
    if (name === 'Pipe') continue
    if (name === 'LineFilters') selection.lines.push(...part.all('LineFilter').map(lineFilterOf))
    else if (name === 'LabelFilter') addCondition(conditionOf(part), selection)
    else if (text === 'json' || text === 'logfmt') selection.stages.push({ kind: 'parse', parser: text })
    else if (name === 'DropLabelsExpr')
      selection.stages.push({ kind: 'drop', labels: labelsOf(part, 'DropLabel') })
    else if (name === 'KeepLabelsExpr')
      selection.stages.push({ kind: 'keep', labels: labelsOf(part, 'KeepLabel') })
    else throw unsupported(stage)
  }
}

function labelsOf(part: Tree, name: string): (string | LabelMatcher)[] {
  return part.all(name).map((label) => {
    const matcher = label.child('Matcher')
    return matcher ? matcherOf(matcher) : label.text
  })
}

function matcherOf({ children }: Tree): LabelMatcher {
  const [name, operator, value] = children.map(({ text }) => text)
  return { name: name!, operator: operator as Operator, value: unquoted(value!) }
}

function lineFilterOf(node: Tree): LineFilter {
  const operator = node.child('Filter')!.text as LineFilter['operator']
  if (node.all('FilterOp').length > 0 || !['|=', '!=', '|~', '!~'].includes(operator)) throw unsupported(node)
  return { operator, values: node.all('String').map(({ text }) => unquoted(text)) }
}

/** A condition on a label of the stream is the same in the selector, as long as no stage has changed labels. */
function addCondition(condition: Condition, selection: LogSelection): void {
  const known: readonly string[] = LABELS
  const isChanged = selection.stages.some(({ kind }) => kind === 'drop' || kind === 'keep')
  if ('all' in condition) for (const each of condition.all) addCondition(each, selection)
  else if ('operator' in condition && known.includes(condition.name) && !isChanged)
    selection.selector.push(condition)
  else selection.stages.push({ kind: 'where', condition })
}

function conditionOf(node: Tree): Condition {
  const inner = conditionsIn(node)
  const [leaf] = node.children
  if (inner.length === 0) return leaf!.name === 'Matcher' ? matcherOf(leaf!) : comparisonOf(leaf!)
  const own = inner.map(conditionOf)
  if (own.length === 1) return own[0]!
  const isAny = node.child('Or') !== undefined
  // Loki's documentation reads such a filter from left to right, its grammar does not.
  if (inner.some((part) => conditionsIn(part).length > 1 && (part.child('Or') !== undefined) !== isAny))
    throw new LokiError(`Put brackets into ${node.text}: without them, it can be read in two ways.`)
  return isAny ? { any: own } : { all: own }
}

const conditionsIn = ({ children }: Tree) => children.filter(({ name }) => name === 'LabelFilter')

const UNITS: Record<string, Unit> = {
  NumberFilter: 'number',
  DurationFilter: 'duration',
  BytesFilter: 'bytes',
}

function comparisonOf(node: Tree): Comparison {
  if (node.name === 'UnitFilter') return comparisonOf(node.children[0]!)
  const unit = UNITS[node.name]
  if (!unit) throw unsupported(node)
  const [name, sign, value] = node.children.map(({ text }) => text)
  const amount = unit === 'duration' ? millisOf(value!) : amountOf(value!, unit)
  if (Number.isNaN(amount)) throw unsupported(node)
  return { name: name!, sign: (sign === '=' ? '==' : sign) as Comparison['sign'], unit, amount }
}
