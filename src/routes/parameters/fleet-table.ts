import type { Parameter } from './row.ts'

/** What a fleet's own resources take besides: which nodes. */
export const FLEET_PARAMETERS = [
  {
    name: 'node',
    on: ['list', 'view', 'histogram', 'fields', 'groups'],
    role: 'log',
    type: 'text',
    maxLength: 128,
    repeatable: true,
    value: 'ID',
    meaning:
      "At a fleet's own address, and required there: the node, by its id or a pattern with `*` and `?`; `*` means all nodes.",
    example: 'db-*',
  },
] as const satisfies readonly Parameter[]
