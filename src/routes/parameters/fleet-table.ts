import type { Parameter } from '../../core/parameter.ts'
import { AFTER_PARAMETERS } from '../../core/parameters.ts'

/** What a fleet's own resources take besides: which nodes. */
export const FLEET_PARAMETERS = [
  {
    name: 'node',
    on: ['list', 'view', 'histogram', 'fields', 'groups', 'difference', 'blame'],
    role: 'log',
    type: 'text',
    maxLength: 128,
    repeatable: true,
    most: 1000,
    value: 'ID',
    meaning:
      "At a fleet's own address, and required there: the node, by its id or a pattern with `*` and `?`; `*` means all nodes.",
    example: 'db-*',
  },
  {
    name: 'base-node',
    on: ['difference'],
    role: 'log',
    type: 'text',
    maxLength: 128,
    repeatable: true,
    most: 1000,
    value: 'ID',
    meaning:
      "At a fleet's own address: compares with these nodes, ids or patterns, in the same range; those that `node` names are left out.",
    example: 'db-*',
  },
] as const satisfies readonly Parameter[]

/** The rows of lists, and of the comparison of configurations, which share nothing with others. */
export const OTHER_PARAMETERS = [
  {
    name: 'node',
    on: ['compare'],
    role: 'filter',
    type: 'text',
    maxLength: 200,
    required: true,
    repeatable: true,
    most: 200,
    expects: 'the id of a node, or a pattern over the ids such as db-*',
    value: 'ID',
    meaning: 'A node, or a shell pattern over the ids: all nodes that it matches. At most 200 nodes in all.',
    example: 'db-*',
  },
  ...AFTER_PARAMETERS,
  {
    name: 'after',
    on: ['nodes'],
    role: 'cursor',
    type: 'text',
    maxLength: 128,
    value: 'ID',
    meaning: 'Only nodes whose id comes after this one. `Link` has the next page.',
    example: 'db-40',
  },
] as const satisfies readonly Parameter[]
