import type { Parameter } from './row.ts'

const DEFAULT_SIZE = 1024 * 1024

/** The parameters of a plain tail. They are separate from the table, so that a tail need not load it. */
export const TAIL_PARAMETERS = [
  {
    name: 'file',
    on: ['view', 'histogram', 'fields', 'groups', 'difference'],
    role: 'log',
    type: 'text',
    required: true,
    several: true,
    expects: 'a name from the list of logs',
    value: 'NAME',
    meaning:
      'The log file: a name from the list. Repeated, or as a pattern with `*` and `?`: several logs; see [One timeline](#one-timeline).',
    example: 'broker.log',
  },
  {
    name: 'file',
    on: ['download'],
    role: 'log',
    type: 'text',
    required: true,
    expects: 'a name from the list of logs',
    value: 'NAME',
    meaning: 'The log file: a name from the list.',
    example: 'broker.log',
  },
  {
    name: 'size',
    on: ['view'],
    role: 'part',
    type: 'integer',
    default: DEFAULT_SIZE,
    value: 'BYTES',
    meaning:
      'At most this many bytes, from the end. More than the file has gives the whole file; `0` gives nothing. With `lines` or `first`, what one answer may hold is the default. The operator may set a maximum (`--max-size`).',
    example: '4096',
  },
] as const satisfies readonly Parameter[]

/** The default size of a tail, within the operator's maximum. */
export function defaultSize(maxSize: number | undefined): number {
  return maxSize === undefined ? DEFAULT_SIZE : Math.min(DEFAULT_SIZE, maxSize)
}
