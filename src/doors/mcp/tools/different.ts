import { cut, visible } from '../../../log/render/visible.ts'
import { FLEET_PARAMETERS } from '../../../routes/parameters/table.ts'
import type { CompareQuery, LogComparison, LogFinding } from '../../client.ts'
import type { Arguments } from '../arguments.ts'
import { whyEmpty } from '../empty.ts'
import { counted, part, rowsThatFit } from '../text/answer.ts'
import {
  type Call,
  FILTERS,
  instant,
  MAX_CHARS,
  queryOf,
  rows,
  searched,
  shownTime,
  type Tool,
  textOf,
} from '../tool.ts'

const LONGEST_VALUE = 300

const [BASE_SINCE, BASE_UNTIL] = rows('difference', 'base-since', 'base-until')
const BASE_NODE = FLEET_PARAMETERS.find(({ name }) => name === 'base-node')!

export const whatIsDifferent: Tool = {
  name: 'what_is_different',
  title: 'What is different',
  description:
    'What sets a range apart from the time before it, the most telling first: messages that are new, gone or far more frequent, values and levels that moved, settings that changed, logs that fell silent. On a fleet, base_node compares with other nodes instead. Best with a range that begins where the trouble does.',
  scopes: ['logs'],
  parameters: [
    ...FILTERS,
    {
      ...BASE_SINCE!,
      name: 'base_since',
      meaning:
        'The start of the time to compare with, which by default is as long as the range, at least an hour, and directly before it.',
    },
    { ...BASE_UNTIL!, name: 'base_until', meaning: 'The end of that time; since by default.' },
    {
      ...BASE_NODE,
      name: 'base_node',
      meaning: 'Nodes to compare with in the same range, by id or pattern; * for all others.',
    },
    MAX_CHARS,
  ],
  async run(args, call) {
    const query = { ...queryOf(args, call), ...baseOf(args, call) } as CompareQuery
    const found = await call.client.compareLogs(query, call)
    const { range, base, findings } = found
    const head = [
      `${counted(findings.length, 'finding')}, the most telling first; ${counted(range.records, 'record')} in the range, ${base.records} in the base`,
      `base: ${periodText(base, call)}${nodesText(query)}`,
      ...searched({ ...query, since: shownTime(range.from, call), until: shownTime(range.to, call) }, call),
    ]
    const lines =
      range.records === 0 && findings.length === 0 && found.complete
        ? await whyEmpty(query, call)
        : findings.length === 0
          ? ['The range resembles its base: no difference that chance does not explain.']
          : findings.map((finding) => findingRow(finding, found, call))
    const incomplete = found.complete
      ? []
      : ['A budget ran out before everything was compared; narrow the range.']
    return rowsThatFit({ ...found, head, incomplete, lines }, 0, args.max_chars as number)
  },
}

/** What the range is compared with, as the API takes it. */
function baseOf(args: Arguments, call: Call): Partial<CompareQuery> {
  const since = instant(args.base_since, call)
  return {
    baseSince: textOf(since, call),
    baseUntil: textOf(instant(args.base_until, call, since), call),
    ...(call.isFleet && { baseNode: args.base_node as string[] | undefined }),
  }
}

function periodText({ from, to }: LogComparison['base'], call: Call): string {
  return `${shownTime(from, call)} to ${shownTime(to, call)}`
}

function nodesText({ baseNode: nodes }: CompareQuery): string {
  return nodes === undefined ? '' : `, on the nodes ${part([nodes].flat().join(', '))} but those of the range`
}

function findingRow(finding: LogFinding, { base }: LogComparison, call: Call): string {
  const { kind, what, count, base: before, node, file, example } = finding
  const place = [node, file].filter(Boolean).join('/')
  const unit = kind === 'config' ? 'change' : 'record'
  const lines = [
    `${kind}: ${cut(what, LONGEST_VALUE)}`,
    `    ${counted(count, unit)} in the range, ${before} in the base${place ? `, all in ${part(place)}` : ''}`,
  ]
  if (example && example !== what)
    lines.push(`    ${kind === 'config' ? 'values' : 'e.g.'} ${cut(example, LONGEST_VALUE)}`)
  const shown = viewText(finding, base, call)
  if (shown !== '') lines.push(`    to read them: search_logs with ${shown}`)
  return lines.join('\n')
}

/** What selects the records of a finding, besides what the call itself says. */
function viewText({ query }: LogFinding, base: LogComparison['base'], call: Call): string {
  const params = new URLSearchParams(query)
  const terms = ['pattern', 'where', 'level'].flatMap((name) => {
    // The term of the finding comes after the filters of the call.
    const value = params.getAll(name).at(-1)
    const isShown = value !== undefined && value.length <= LONGEST_VALUE
    return isShown ? [`${name}=${JSON.stringify(visible(value))}`] : []
  })
  const isInBase = Date.parse(params.get('since') ?? '') === base.from
  const until = Date.parse(params.get('until') ?? '')
  if (isInBase && until === base.to)
    terms.push(`since=${shownTime(base.from, call)}, until=${shownTime(base.to, call)}`)
  return terms.join(', ')
}
