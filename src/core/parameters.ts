import type { Parameter } from './parameter.ts'

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

/** The parameters of a list that say which part of it, and that peers ask for. */
export const LIST_PARAMETERS = [
  {
    name: 'etag',
    on: ['list'],
    role: 'shape',
    type: 'flag',
    value: 'true',
    example: 'true',
    meaning:
      'Adds `modified`, `etag` and `id` to each entry, without reading a file. Not together with `detail`.',
  },
  {
    name: 'prefix',
    on: ['list'],
    role: 'filter',
    type: 'text',
    maxLength: 1024,
    value: 'TEXT',
    meaning: 'With `etag=true`: only files whose names begin with this text.',
    example: 'broker.log',
  },
] as const satisfies readonly Parameter[]

export const AFTER_PARAMETERS = [
  {
    name: 'after',
    on: ['list'],
    role: 'cursor',
    type: 'text',
    maxLength: 1024,
    value: 'NAME',
    meaning: 'Only files whose names come after this one. `Link` of a detailed list has the next part.',
    example: 'broker.log.4.gz',
  },
] as const satisfies readonly Parameter[]

export const CONFIG_PARAMETERS = [
  {
    name: 'detail',
    on: ['config'],
    role: 'shape',
    type: 'flag',
    value: 'true',
    example: 'true',
    meaning: 'Adds `known`: the fields of `node` that were set or read from the configuration.',
  },
] as const satisfies readonly Parameter[]

/** What the three operations take. */
export const CORE_PARAMETERS: readonly Parameter[] = [
  ...TAIL_PARAMETERS,
  ...LIST_PARAMETERS,
  ...AFTER_PARAMETERS,
  ...CONFIG_PARAMETERS,
]

/** The default size of a tail, within the operator's maximum. */
export function defaultSize(maxSize: number | undefined): number {
  return maxSize === undefined ? DEFAULT_SIZE : Math.min(DEFAULT_SIZE, maxSize)
}
