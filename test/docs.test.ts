import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { PROBLEMS, type ProblemCode } from '../src/http/problem.ts'
import { MEANINGS } from '../src/http/problem-meanings.ts'
import { type Parameter, type Resource, rowsOf } from '../src/routes/parameters/row.ts'
import { PARAMETERS } from '../src/routes/parameters/table.ts'
import { TAIL_PARAMETERS } from '../src/routes/parameters/tail-table.ts'

/** Further statuses of a problem: Node sends them before a request can be read. */
const OTHER_STATUSES: { readonly [C in ProblemCode]?: readonly number[] } = {
  'bad-request': [408, 431],
}

const API = 'docs/api.md'
const api = readFileSync(API, 'utf8')

const written = api
  .replace(/(<!-- parameters: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g, (_, start, name, end) => {
    return `${start}${tableOf(name)}${end}`
  })
  .replace(/(<!-- problems -->\n)[\s\S]*?(<!-- end -->)/, (_, start, end) => `${start}${problems()}${end}`)

it('docs/api.md has the tables of the code (NODESTATE_WRITE_DOCS=1 writes them)', () => {
  if (process.env.NODESTATE_WRITE_DOCS) writeFileSync(API, written)
  else expect(api).toBe(written)
})

it('docs/api.md has the parameters of every resource, and every problem', () => {
  const documented = [...written.matchAll(/<!-- parameters: (\w+) -->/g)].map(([, name]) => name)
  for (const { on } of PARAMETERS) for (const resource of on) expect(documented).toContain(resource)
  for (const code of Object.keys(PROBLEMS)) expect(written).toContain(`\`/problems/${code}\``)
})

function problems(): string {
  const codes = Object.keys(PROBLEMS) as ProblemCode[]
  const lines = codes
    .toSorted((a, b) => PROBLEMS[a][0] - PROBLEMS[b][0])
    .map((code) => {
      const statuses = [PROBLEMS[code][0], ...(OTHER_STATUSES[code] ?? [])]
      return `| ${statuses.join(', ')} | \`/problems/${code}\` | ${MEANINGS[code]} |\n`
    })
  return `| status | \`type\` | when |\n|---|---|---|\n${lines.join('')}`
}

/** The view has two tables: the plain tail, and everything else. */
function tableOf(name: string): string {
  const tail: readonly Parameter[] = TAIL_PARAMETERS
  if (name === 'tail') return markdown(rowsOf(tail, 'view'))
  const rows = rowsOf(PARAMETERS, name as Resource)
  return markdown(name === 'view' ? rows.filter((row) => !tail.includes(row)) : rows)
}

function markdown(rows: Parameter[]): string {
  const lines = rows.map((row) => `| \`${row.name}=${row.value}\` | ${sentences(row)} |\n`)
  return `| parameter | meaning |\n|---|---|\n${lines.join('')}`
}

function sentences({ required, meaning, default: absent, repeatable }: Parameter): string {
  const parts = [required ? 'Required.' : '', meaning]
  if (absent !== undefined) parts.push(`Default: ${absent}.`)
  if (repeatable) parts.push('Repeatable.')
  return parts.filter(Boolean).join(' ')
}
