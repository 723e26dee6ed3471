import { amountOf, millisOf } from './amounts.ts'
import {
  type Comparison,
  type Condition,
  LABELS,
  type LabelMatcher,
  type LineFilter,
  type LogSelection,
  LokiError,
  type Operator,
  type Unit,
} from './query.ts'
import { children, descendants, type Node, unquoted, unsupported } from './tree.ts'

/** Adds a stage of a pipeline to a selection. */
export function readStage(stage: Node, source: string, selection: LogSelection): void {
  const textOf = (node: Node) => source.slice(node.from, node.to)
  for (const part of children(stage)) {
    const text = textOf(part)
    if (part.name === 'Pipe') continue
    if (part.name === 'LineFilters')
      for (const filter of descendants(part, 'LineFilter')) selection.lines.push(lineFilterOf(filter, textOf))
    else if (part.name === 'LabelFilter') addCondition(conditionOf(part, textOf), selection)
    else if (text === 'json' || text === 'logfmt') selection.stages.push({ kind: 'parse', parser: text })
    else if (part.name === 'DropLabelsExpr' || part.name === 'KeepLabelsExpr') {
      const kind = part.name === 'DropLabelsExpr' ? 'drop' : 'keep'
      const labels = descendants(part, kind === 'drop' ? 'DropLabel' : 'KeepLabel').map((label) => {
        const matcher = label.getChild('Matcher')
        return matcher ? matcherOf(matcher, textOf) : textOf(label)
      })
      selection.stages.push({ kind, labels })
    } else throw unsupported(textOf(stage))
  }
}

type TextOf = (node: Node) => string

/** A condition on a label, as in a selector. */
export function matcherOf(node: Node, textOf: TextOf): LabelMatcher {
  const [name, operator, value] = children(node).map(textOf)
  return { name: name!, operator: operator as Operator, value: unquoted(value!) }
}

function lineFilterOf(node: Node, textOf: TextOf): LineFilter {
  const operator = textOf(node.getChild('Filter')!) as LineFilter['operator']
  if (descendants(node, 'FilterOp').length > 0 || !['|=', '!=', '|~', '!~'].includes(operator))
    throw unsupported(textOf(node))
  return { operator, values: descendants(node, 'String').map((string) => unquoted(textOf(string))) }
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

function conditionOf(node: Node, textOf: TextOf): Condition {
  const inner = conditionsIn(node)
  if (inner.length === 0) {
    const leaf = node.firstChild!
    return leaf.name === 'Matcher' ? matcherOf(leaf, textOf) : comparisonOf(leaf, textOf)
  }
  const own = inner.map((part) => conditionOf(part, textOf))
  if (own.length === 1) return own[0]!
  const isAny = node.getChild('Or') !== null
  // Loki's documentation reads such a filter from left to right, its grammar does not.
  if (inner.some((part) => conditionsIn(part).length > 1 && (part.getChild('Or') !== null) !== isAny))
    throw new LokiError(`Put brackets into ${textOf(node)}: without them, it can be read in two ways.`)
  return isAny ? { any: own } : { all: own }
}

const conditionsIn = (node: Node) => children(node).filter(({ name }) => name === 'LabelFilter')

const UNITS: Record<string, Unit> = {
  NumberFilter: 'number',
  DurationFilter: 'duration',
  BytesFilter: 'bytes',
}

function comparisonOf(node: Node, textOf: TextOf): Comparison {
  if (node.name === 'UnitFilter') return comparisonOf(node.firstChild!, textOf)
  const unit = UNITS[node.name]
  if (!unit) throw unsupported(textOf(node))
  const [name, sign, value] = children(node).map(textOf)
  const amount = unit === 'duration' ? millisOf(value!) : amountOf(value!, unit)
  if (Number.isNaN(amount)) throw unsupported(textOf(node))
  return { name: name!, sign: (sign === '=' ? '==' : sign) as Comparison['sign'], unit, amount }
}
