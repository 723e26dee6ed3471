import { LEVELS } from '../../log/format/detect.ts'
import { lineEnd } from '../../log/format/lines.ts'
import { combined, type Matcher, type Reader } from '../../log/pattern/pattern.ts'
import { levelsIn, Selection } from '../../log/selection.ts'
import type { Bytes } from '../../log/where/where.ts'
import { fail, type Passing, readFields } from './fields.ts'
import { choiceOf, type Labels, testOf } from './labels.ts'
import { lineMatchers, valueFinders } from './lines.ts'
import { amountOf } from './logql/amounts.ts'
import type { Comparison, Condition, LogSelection, Stage } from './logql/query.ts'

export interface Pipeline {
  /** Which records of a file are wanted. */
  filter(file: FileLabels): Selection
  /** The labels of a record that was found: bytes[from, to) of a log, as they are there. */
  labels(record: Bytes, reader: Reader, file: FileLabels): Labels
  /** Whether these are the labels of its stream. */
  isPlain: boolean
}

/** The labels that all records of a file share. */
export interface FileLabels {
  node: string
  file: string
}

/** Whether a record passes; may change its labels. */
type Step = (passing: Passing) => boolean

/** The pipeline of a query; `names` are the labels that are looked at afterwards, null for all. */
export async function pipelineOf(
  { selector, lines, stages }: LogSelection,
  names: readonly string[] | null = null,
): Promise<Pipeline> {
  const { levels } = choiceOf({ selector })
  const compared = stages.flatMap((stage) => (stage.kind === 'where' ? namesIn(stage.condition) : []))
  const test = stepsOf(stages, new Set(compared))
  const label = stepsOf(stages, names && new Set([...names, ...compared, '__error__']))
  const { wanted, unwanted } = await lineMatchers(lines)
  if (levels.has(-1) && levels.size <= LEVELS.length)
    wanted.push({ test: (bytes, from, to, reader) => levels.has(levelOf({ bytes, from, to }, reader!)) })
  if (compared.length > 0) wanted.push(...(await valueFinders(stages)))
  // A level is searched for faster than tested, but records without one are not found that way.
  const selected = levels.has(-1) ? null : levelsIn(levels)
  return {
    filter(file) {
      const fields: Matcher = {
        test: (bytes, from, to, reader) => test(begin({ bytes, from, to }, reader!, file)),
      }
      const matcher = combined(compared.length > 0 ? [...wanted, fields] : wanted, unwanted)
      return new Selection({ levels: selected, matcher })
    },
    labels({ bytes, from, to }, reader, file) {
      const text = reader.format.unwrap?.(bytes, from, to)
      const record = text ? { bytes: text, from: 0, to: text.length } : { bytes, from, to }
      const passing = begin(record, reader, file)
      label(passing)
      return Object.fromEntries([...passing.labels].sort(([a], [b]) => (a < b ? -1 : 1)))
    },
    isPlain: stages.length === 0,
  }
}

/** The level of a record, unwrapped; -1 is none. */
export function levelOf({ bytes, from, to }: Bytes, { format }: Reader): number {
  return (format.inner ?? format).level(bytes, from, lineEnd(bytes, from, to), to)
}

function begin(record: Bytes, reader: Reader, { node, file }: FileLabels): Passing {
  const level = LEVELS[levelOf(record, reader)]
  const stream: Labels = level === undefined ? { file, node } : { file, level, node }
  return { record, reader, stream, labels: new Map(Object.entries(stream)) }
}

function stepsOf(stages: readonly Stage[], names: ReadonlySet<string> | null): Step {
  const steps = stages.map((stage): Step => {
    if (stage.kind === 'where') return conditionStep(stage.condition)
    if (stage.kind === 'parse') return (passing) => readFields(passing, stage.parser, names)
    return labelStep(stage.kind, stage.labels)
  })
  return (passing) => steps.every((step) => step(passing))
}

function namesIn(condition: Condition): string[] {
  const inner = 'all' in condition ? condition.all : 'any' in condition ? condition.any : null
  return inner ? inner.flatMap(namesIn) : [(condition as Comparison).name]
}

function labelStep(kind: 'drop' | 'keep', named: Extract<Stage, { kind: 'drop' | 'keep' }>['labels']): Step {
  const tests = named.map((label) =>
    typeof label === 'string'
      ? { name: label, holds: () => true }
      : { name: label.name, holds: testOf(label) },
  )
  return ({ labels }) => {
    for (const [name, value] of labels) {
      const isNamed = tests.some((test) => test.name === name && test.holds(value))
      // `keep` does not touch what a parser or a comparison has to say.
      if (kind === 'drop' ? isNamed : !isNamed && !name.startsWith('__error')) labels.delete(name)
    }
    return true
  }
}

function conditionStep(condition: Condition): Step {
  if ('sign' in condition) return comparisonStep(condition)
  if ('operator' in condition) {
    const holds = testOf(condition)
    return ({ labels }) => holds(labels.get(condition.name) ?? '')
  }
  const isAll = 'all' in condition
  const steps = (isAll ? condition.all : condition.any).map(conditionStep)
  return (passing) => (isAll ? steps.every((step) => step(passing)) : steps.some((step) => step(passing)))
}

const SIGNS: Record<Comparison['sign'], (a: number, b: number) => boolean> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
}

/** As in Loki, a record without the label does not pass; one whose value is not such a number does, with an error. */
function comparisonStep({ name, sign, unit, amount }: Comparison): Step {
  const holds = SIGNS[sign]
  return ({ labels }) => {
    const value = labels.get(name)
    if (value === undefined) return false
    const own = amountOf(value, unit)
    if (!Number.isNaN(own)) return holds(own, amount)
    fail(labels, 'LabelFilterErr', `the value of ${name} is not a ${unit === 'bytes' ? 'size' : unit}`)
    return true
  }
}
