import { Problem } from './http/problem.ts'
import type { Resource } from './parameter.ts'

/**
 * The parameters and paths of the capabilities, by their names, so that one that is missing is named instead of ignored: the
 * core must not load a capability to know that. A test compares them with the tables of parameters.
 */
const PARAMETERS: { readonly [R in Resource]?: { readonly [capability: string]: string } } = {
  view: {
    search:
      'lines first context since until level q regex not notregex where pattern before after encoding rotated format columns ansi raw download',
    follow: 'follow',
    timeline: 'lane',
  },
  list: { search: 'detail' },
  config: { insight: 'at' },
}

export const PATHS: { readonly [path: string]: string } = {
  '/api/v1/log/histogram': 'search',
  '/api/v1/log/fields': 'search',
  '/api/v1/log/groups': 'search',
  '/api/v1/log/download': 'search',
  '/api/v1/log/compare': 'insight',
  '/api/v1/log/incident': 'insight',
  '/api/v1/config/history': 'insight',
  '/api/v1/config/blame': 'insight',
  '/loki/*': 'loki',
  '/mcp': 'mcp',
  '/metrics': 'metrics',
  '/openapi.json': 'openapi',
}

/** Capabilities that the command has a flag for. */
const FLAGS = new Set(['loki', 'mcp', 'metrics'])

/** The capability that a parameter needs, if it is one of any. */
export function capabilityOf(resource: Resource, parameter: string): string | undefined {
  const found = Object.entries(PARAMETERS[resource] ?? {})
  return found.find(([, names]) => names.split(' ').includes(parameter))?.[0]
}

export function notIncluded(what: string, name: string): Problem {
  const flag = FLAGS.has(name) ? `, or start the command with --${name}` : ''
  return new Problem(
    'not-included',
    `This service was made without ${what}: add ${name}() of nodestate/full to the option with${flag}.`,
  )
}
