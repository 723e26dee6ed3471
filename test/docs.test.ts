import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { PROBLEMS } from '../src/http/problem.ts'
import { type Parameter, type Resource, rowsOf } from '../src/routes/parameters/row.ts'
import { PARAMETERS } from '../src/routes/parameters/table.ts'
import { TAIL_PARAMETERS } from '../src/routes/parameters/tail.ts'

const API = 'docs/api.md'
const api = readFileSync(API, 'utf8')

it('docs/api.md names every problem, with its status, and no other', () => {
  const documented: Record<string, string> = {}
  for (const [, statuses, types] of api.matchAll(/^\| ([\d, ]+) \| (`\/problems\/[^|]+) \|/gm))
    for (const [, code] of types!.matchAll(/\/problems\/([\w-]+)/g)) documented[code!] = statuses!
  expect(Object.keys(documented).sort()).toEqual(Object.keys(PROBLEMS).sort())
  for (const [code, [status]] of Object.entries(PROBLEMS))
    expect(documented[code], code).toContain(String(status))
})

it('docs/api.md has the parameters of the table (NODESTATE_WRITE_DOCS=1 writes them)', () => {
  const written = api.replace(
    /(<!-- parameters: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, start, name, end) => `${start}${tableOf(name)}${end}`,
  )
  if (process.env.NODESTATE_WRITE_DOCS) writeFileSync(API, written)
  else expect(api).toBe(written)
  const documented = [...written.matchAll(/<!-- parameters: (\w+) -->/g)].map(([, name]) => name)
  for (const { on } of PARAMETERS) for (const resource of on) expect(documented).toContain(resource)
})

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
