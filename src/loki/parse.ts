import { parser } from '@grafana/lezer-logql'
import {
  type LabelMatcher,
  type LineFilter,
  type LogSelection,
  LokiError,
  type LokiQuery,
  type Operator,
} from './query.ts'

/** The parts of a syntax tree node used here. */
interface Node {
  name: string
  from: number
  to: number
  firstChild: Node | null
  nextSibling: Node | null
  getChild(name: string): Node | null
  getChildren(name: string): Node[]
}

/** Stages without effect on the answer: fields are always read from the record in its own format. */
const PASSED = new Set(['json', 'logfmt'])

/** Parses LogQL with the grammar that Grafana uses. Unsupported parts are refused with one sentence. */
export function parseQuery(source: string): LokiQuery {
  if (source.length > MAX_QUERY)
    throw new LokiError(`The query has ${source.length} characters; at most ${MAX_QUERY} are allowed.`)
  refuseNesting(source)
  const query = parsed(source)
  if (query.kind !== 'scalar') refuseMany(query.selection)
  return query
}

const MAX_QUERY = 8192
/** Each bracket takes stack. */
const MOST_BRACKETS = 100

function refuseNesting(source: string): void {
  const count = source.split('(').length - 1
  if (count > MOST_BRACKETS)
    throw new LokiError(`The query has ${count} opening brackets; at most ${MOST_BRACKETS} are allowed.`)
}

/** Line filters and label filters of one query: each pattern is compiled, and each text is looked for. */
const MOST_FILTERS = 32

function refuseMany({ selector, lines, fields }: LogSelection): void {
  const texts = lines.reduce((sum, { values }) => sum + values.length, 0)
  for (const count of [texts, selector.length, fields.length])
    if (count > MOST_FILTERS)
      throw new LokiError(`The query has ${count} filters of one kind; at most ${MOST_FILTERS} are allowed.`)
}

function parsed(source: string): LokiQuery {
  const top = parser.parse(source).topNode as unknown as Node
  refuseErrors(top, source)
  const expression = first(top)
  const body = expression && first(expression)
  if (body?.name === 'LogExpr') return { kind: 'log', selection: selectionOf(body, source) }
  if (body?.name === 'MetricExpr') return metricOf(body, source)
  throw new LokiError('The query is empty: write a stream selector such as {file="broker.log"}.')
}

/** Parses a stream selector alone, for /series. */
export function parseSelector(source: string): LabelMatcher[] {
  const query = parseQuery(source)
  if (query.kind !== 'log') throw new LokiError(`Cannot use ${source} here: write a stream selector.`)
  return query.selection.selector
}

function refuseErrors(node: Node, source: string): void {
  for (const each of [node, ...descendants(node)])
    if (each.name === '⚠') {
      const near = source.slice(each.from, each.from + 20) || 'its end'
      throw new LokiError(`parse error at character ${each.from + 1}: the query is not LogQL near ${near}`)
    }
}

function selectionOf(node: Node, source: string): LogSelection {
  const selector = node.getChild('Selector')
  const inner = node.getChild('LogExpr')
  if (!selector && inner) return selectionOf(inner, source)
  if (!selector) throw unsupported(source.slice(node.from, node.to))
  const selection: LogSelection = { selector: [], lines: [], fields: [] }
  for (const matcher of descendants(selector, 'Matcher')) selection.selector.push(matcherOf(matcher, source))
  const pipeline = node.getChild('PipelineExpr')
  if (pipeline)
    for (const stage of descendants(pipeline, 'PipelineStage')) readStage(stage, source, selection)
  return selection
}

function readStage(stage: Node, source: string, selection: LogSelection): void {
  for (let part = first(stage); part; part = part.nextSibling) {
    const text = source.slice(part.from, part.to)
    if (part.name === 'Pipe' || part.name === 'DropLabelsExpr' || PASSED.has(text)) continue
    if (part.name === 'LineFilters')
      for (const filter of descendants(part, 'LineFilter')) selection.lines.push(lineFilterOf(filter, source))
    else if (part.name === 'LabelFilter') readLabelFilter(part, source, selection)
    else throw unsupported(source.slice(stage.from, stage.to))
  }
}

function lineFilterOf(node: Node, source: string): LineFilter {
  const text = source.slice(node.from, node.to)
  if (descendants(node, 'FilterOp').length > 0) throw unsupported(text)
  const sign = first(node.getChild('Filter')!)!
  const operator = source.slice(sign.from, sign.to) as LineFilter['operator']
  if (!['|=', '!=', '|~', '!~'].includes(operator)) throw unsupported(text)
  return { operator, values: descendants(node, 'String').map((string) => unquoted(string, source)) }
}

function readLabelFilter(node: Node, source: string, selection: LogSelection): void {
  const text = source.slice(node.from, node.to)
  if (descendants(node, 'Or').length > 0) throw unsupported(text)
  for (let part = first(node); part; part = part.nextSibling) {
    if (part.name === 'LabelFilter') readLabelFilter(part, source, selection)
    else if (part.name === 'Matcher') {
      const matcher = matcherOf(part, source)
      // Grafana adds __error__="" to leave out lines that a parser refused; there are none here.
      if (matcher.name !== '__error__') selection.fields.push(matcher)
    } else if (part.name !== 'And' && part.name !== 'Comma')
      selection.fields.push(numberOf(part, source, text))
  }
}

/** `status == 500`: equality is the only numeric comparison that records can be searched by. */
function numberOf(node: Node, source: string, text: string): LabelMatcher {
  const parts: Node[] = []
  for (let part = first(node); part; part = part.nextSibling) parts.push(part)
  const [name, sign, value] = parts.map((part) => source.slice(part.from, part.to))
  if (node.name !== 'NumberFilter' || (sign !== '==' && sign !== '=' && sign !== '!='))
    throw unsupported(text)
  return { name: name!, operator: sign === '!=' ? '!=' : '=', value: value! }
}

function metricOf(node: Node, source: string): LokiQuery {
  const text = source.slice(node.from, node.to)
  const sum = node.getChild('VectorAggregationExpr')
  if (sum) {
    const inner = sum.getChild('MetricExpr')
    const operation = sum.getChild('VectorOp')
    if (!inner || !operation || source.slice(operation.from, operation.to) !== 'sum') throw unsupported(text)
    const metric = metricOf(inner, source)
    if (metric.kind !== 'metric' || metric.by !== null) throw unsupported(text)
    const grouping = sum.getChild('Grouping')
    if (grouping && !grouping.getChild('By')) throw unsupported(text)
    const labels = grouping ? descendants(grouping, 'Identifier') : []
    return { ...metric, by: labels.map((label) => source.slice(label.from, label.to)) }
  }
  const range = node.getChild('RangeAggregationExpr')
  if (range) return rangeOf(range, source)
  // Grafana sends this to check that it talks to Loki.
  if (/^vector\(1\)\s*\+\s*vector\(1\)$/.test(text)) return { kind: 'scalar', value: 2 }
  throw unsupported(text)
}

function rangeOf(node: Node, source: string): LokiQuery {
  const text = source.slice(node.from, node.to)
  const name = node.getChild('RangeOp')
  const operation = name && source.slice(name.from, name.to)
  const log = node.getChild('LogRangeExpr')
  if ((operation !== 'count_over_time' && operation !== 'rate') || !log || node.getChild('Grouping'))
    throw unsupported(text)
  const range = log.getChild('Range')?.getChild('Duration')
  const offset = log.getChild('OffsetExpr')?.getChild('Duration')
  if (!range || log.getChild('UnwrapExpr')) throw unsupported(text)
  const millis = (duration: Node) => durationOf(source.slice(duration.from, duration.to))
  const selection = selectionOf(log, source)
  return {
    kind: 'metric',
    operation,
    selection,
    range: millis(range),
    offset: offset ? millis(offset) : 0,
    by: null,
  }
}

function matcherOf(node: Node, source: string): LabelMatcher {
  const [name, sign, value] = [first(node)!, first(node)!.nextSibling!, node.getChild('String')!]
  return {
    name: source.slice(name.from, name.to),
    operator: source.slice(sign.from, sign.to) as Operator,
    value: unquoted(value, source),
  }
}

/** A string in double quotes has Go's escapes; one in backquotes has none. */
function unquoted(node: Node, source: string): string {
  const text = source.slice(node.from, node.to)
  if (text.startsWith('`')) return text.slice(1, -1)
  const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' }
  return text
    .slice(1, -1)
    .replace(/\\(?:(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})|(.))/gs, (all, code, char) =>
      char === undefined ? character(Number.parseInt(code.slice(1), 16), all) : (escapes[char] ?? char),
    )
}

function character(code: number, text: string): string {
  if (code > 0x10ffff) throw new LokiError(`The escape ${text} is not a Unicode character.`)
  return String.fromCodePoint(code)
}

const UNITS: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
}

const LONGEST = 100 * UNITS.y!

/** Milliseconds of a duration such as `5m` or `1h30m`. */
export function durationOf(text: string): number {
  let millis = 0
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d|w|y)/g))
    millis += Number(count) * UNITS[unit!]!
  if (!(millis > 0)) throw new LokiError(`The duration ${text} must be longer than zero.`)
  if (millis > LONGEST) throw new LokiError(`The duration ${text} is too long; at most 100y are allowed.`)
  return millis
}

function unsupported(text: string): LokiError {
  return new LokiError(
    `nodestate does not support ${text}: it knows stream selectors, line filters, json, logfmt, label filters with = and !=, count_over_time, rate and sum by.`,
  )
}

function first(node: Node): Node | null {
  return node.firstChild
}

/** All nodes below a node, optionally only those of one name, in text order. */
function descendants(node: Node, name?: string): Node[] {
  const found: Node[] = []
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (name === undefined || child.name === name) found.push(child)
    if (name === undefined || child.name !== name) found.push(...descendants(child, name))
  }
  return found
}
