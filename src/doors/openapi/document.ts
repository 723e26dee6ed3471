import { PROBLEMS, type ProblemCode } from '../../core/http/problem.ts'
import { MEANINGS } from '../../core/http/problem-meanings.ts'
import { type Parameter, rowsOf } from '../../core/parameter.ts'
import { VERSION } from '../../kit/version.ts'
import { FLEET_PARAMETERS, PARAMETERS } from '../../routes/parameters/table.ts'
import {
  type Body,
  COMMON,
  HEADERS,
  type HeaderName,
  OPERATIONS,
  type Operation,
  REQUEST_HEADERS,
} from './operations.ts'
import { SCHEMAS } from './schemas.ts'

/** The API as OpenAPI 3.1, generated from the tables that the code uses. */
export function openApi(): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'nodestate',
      summary: "A database node's configuration and logs over HTTP",
      description:
        'Read-only. Every resource answers GET and HEAD; any other method is a 405. Unknown parameters are ignored, with the note `unknown-parameter`.',
      version: VERSION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Relative to this document, so it is right wherever the app is mounted.
    servers: [
      { url: '.', description: 'The node or the fleet that serves this document' },
      {
        url: './nodes/{id}',
        description: 'A node of the fleet that serves this document',
        variables: { id: { default: 'db-1', description: 'An id from `/api/v1/nodes`.' } },
      },
    ],
    security: [{}, { token: [] }],
    tags: [
      { name: 'node', description: 'The node state API; a fleet has it for each node, below `/nodes/{id}/`' },
      { name: 'fleet', description: 'The nodes of a fleet (`--fleet`)' },
    ],
    paths: Object.fromEntries(OPERATIONS.map((operation) => [operation.path, pathOf(operation)])),
    components: {
      schemas: { ...SCHEMAS, Problem: problemSchema() },
      responses: { Problem: problemResponse() },
      headers: Object.fromEntries(
        Object.entries(HEADERS).map(([name, description]) => [
          name,
          { description, schema: { type: 'string' } },
        ]),
      ),
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token of the operator. Tokens may be limited to scopes, files and nodes.',
        },
      },
    },
  }
}

/** The paths of a fleet itself; a node does not have them. */
const FLEET = new Set(['/api/v1/nodes', '/api/v1/config/compare'])

function pathOf(operation: Operation): object {
  const { id, path, summary, open } = operation
  const shared = {
    tags: [FLEET.has(path) ? 'fleet' : 'node'],
    summary,
    ...(open && { security: [] }),
  }
  const responses = answers(operation)
  const bodiless = Object.entries(responses).map(([status, { content: _, ...rest }]) => [status, rest])
  const problem = { default: { $ref: '#/components/responses/Problem' } }
  return {
    parameters: [...queryParameters(operation), ...headerParameters(operation)],
    get: { operationId: id, ...shared, responses: { ...responses, ...problem } },
    head: {
      operationId: `${id}Head`,
      ...shared,
      responses: { ...Object.fromEntries(bodiless), ...problem },
    },
  }
}

function queryParameters({ resource }: Operation): object[] {
  if (resource === undefined) return []
  const rows: Parameter[] = [...rowsOf(FLEET_PARAMETERS, resource), ...rowsOf(PARAMETERS, resource)]
  return rows.map((row) => ({
    name: row.name,
    in: 'query',
    required: row.required ?? false,
    description: row.meaning,
    schema: schemaOf(row),
    example: exampleOf(row),
    ...(row.repeatable && { style: 'form', explode: true }),
  }))
}

/** Flags are also true as `1` or empty and false as `0`; only the plain form is documented. */
function schemaOf(row: Parameter): object {
  const one = {
    text: { type: 'string', ...(row.maxLength && { maxLength: row.maxLength }) },
    integer: {
      type: 'integer',
      minimum: row.min ?? 0,
      ...(row.max !== undefined && { maximum: row.max }),
      ...(row.default !== undefined && { default: row.default }),
    },
    flag: { type: 'boolean', default: false },
    choice: { type: 'string', enum: row.words },
  }[row.type]
  return row.repeatable ? { type: 'array', items: one } : one
}

function exampleOf({ type, example, repeatable }: Parameter): unknown {
  const value = type === 'integer' ? Number(example) : type === 'flag' ? example === 'true' : example
  return repeatable ? [value] : value
}

function headerParameters({ requestHeaders = [], answers }: Operation): object[] {
  const names = 304 in answers ? ['If-None-Match' as const, ...requestHeaders] : requestHeaders
  return names.map((name) => {
    const [description, example] = REQUEST_HEADERS[name]
    return { name, in: 'header', required: false, description, schema: { type: 'string' }, example }
  })
}

interface Response {
  description: string
  headers: object
  content?: Record<string, object>
}

function answers({ answers }: Operation): Record<string, Response> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, headers, bodies }]) => {
      const types = [...new Set(bodies.map(typeOf))]
      const content = Object.fromEntries(types.map((type) => [type, mediaOf(type, bodies)]))
      return [status, { description, headers: headersOf(headers), ...(bodies.length > 0 && { content }) }]
    }),
  )
}

function typeOf({ type = 'application/json' }: Body): string {
  return type
}

function mediaOf(type: string, all: Body[]): { schema: object } {
  const bodies = all.filter((body) => typeOf(body) === type)
  const schemas = bodies.map((body) => {
    if ('text' in body) return { type: 'string', description: body.text }
    if ('any' in body) return { type: 'object', description: body.any }
    const schema = { $ref: `#/components/schemas/${body.schema}` }
    return body.list ? { type: 'array', items: schema } : schema
  })
  const one = schemas.length === 1 ? schemas[0]! : { anyOf: schemas }
  // OpenAPI 3.1 treats lines of JSON as text: the schema is that of each line.
  const isLines = type === 'application/x-ndjson'
  return { schema: isLines ? { type: 'string', contentMediaType: type, contentSchema: one } : one }
}

/** Any answer that is not one of the operation's own; its status is that of the problem. */
function problemResponse(): Response {
  return {
    description: 'A problem: its `type` says which one, and its `detail` what to do.',
    headers: headersOf(['WWW-Authenticate', 'Content-Range', 'Retry-After', 'Allow', 'X-Nodestate-Note']),
    content: {
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
      'text/plain; charset=utf-8': { schema: { type: 'string', description: 'The `detail` alone.' } },
    },
  }
}

/** RFC 9457, with the meaning of every problem. */
function problemSchema(): object {
  const codes = Object.keys(PROBLEMS) as ProblemCode[]
  const meanings = codes.map((code) => `- \`${code}\` (${PROBLEMS[code][0]}): ${MEANINGS[code]}`)
  const [status, title] = PROBLEMS['unknown-file']
  return {
    type: 'object',
    required: ['type', 'title', 'status', 'detail'],
    properties: {
      type: {
        enum: codes.map((code) => `/problems/${code}`),
        description: `A stable relative URI that ends in the code of the problem:\n\n${meanings.join('\n')}`,
      },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string', description: 'One sentence that says what to do.' },
    },
    examples: [{ type: '/problems/unknown-file', title, status, detail: `${title}.` }],
  }
}

function headersOf(names: readonly HeaderName[]): object {
  return Object.fromEntries(
    [...COMMON, ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )
}
