import { cut } from '../../../log/render/visible.ts'
import type { GroupsQuery, LogGroup, LogGroups } from '../../client.ts'
import { whyEmpty } from '../empty.ts'
import { counted, part, rowsThatFit } from '../text/answer.ts'
import { CURSOR, FILTERS, MAX_CHARS, queryOf, rows, searched, type Tool } from '../tool.ts'
import { offsetOf } from './summaries.ts'

const LONGEST_VALUE = 200

export const logGroups: Tool = {
  name: 'log_groups',
  title: 'Records by the values of a field',
  description:
    'The worst values of a field: how many records and errors each has, and with of the distribution of a number, such as which path is slowest. Names of fields are those of where.',
  scopes: ['logs'],
  parameters: [...FILTERS, ...rows('groups', 'by', 'of', 'sort', 'limit'), CURSOR, MAX_CHARS],
  async run(args, call) {
    const query = queryOf(args, call)
    const { by, of, sort, limit } = args as unknown as GroupsQuery
    const found = await call.client.groups({ ...query, by, of, sort, limit }, call)
    const isEmpty = found.records === 0 && found.complete
    const head = [
      `${counted(found.records, 'record')} with the field ${part(by)}, in ${counted(found.groups.length, 'group')}${otherText(found)}`,
      ...searched(query, call),
    ]
    const incomplete = found.complete
      ? []
      : ['A budget ran out before the whole range was counted; narrow it.']
    const lines = isEmpty
      ? [
          `No record of the range has the field ${part(by)}, or nothing matches.`,
          ...(await whyEmpty(query, call)),
        ]
      : found.groups.map((group) => groupRow(group, found))
    return rowsThatFit({ ...found, head, incomplete, lines }, offsetOf(args), args.max_chars as number)
  },
}

function otherText({ other }: LogGroups): string {
  return other ? `; ${counted(other.count, 'record')} (${other.errors} errors) with other values` : ''
}

function groupRow(
  { value, count, errors, min, median, p95, max }: LogGroup,
  { of, unit }: LogGroups,
): string {
  const numbers = Object.entries({ min, median, p95, max })
    .filter(([, number]) => number !== undefined && number !== null)
    .map(([name, number]) => `${name} ${number}`)
  const distribution =
    numbers.length > 0 ? `  ${part(of ?? '')}${unit ? ` in ${part(unit)}` : ''}: ${numbers.join(', ')}` : ''
  return `${cut(value, LONGEST_VALUE)}  ${count} records, ${errors} errors${distribution}`
}
