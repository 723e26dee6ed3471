import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, it } from 'vitest'
import { PROBLEMS, type ProblemCode } from '../src/core/http/problem.ts'
import { MEANINGS } from '../src/core/http/problem-meanings.ts'
import { type Parameter, type Resource, rowsOf } from '../src/core/parameter.ts'
import { TAIL_PARAMETERS } from '../src/core/parameters.ts'
import { SENTENCES } from '../src/doors/terminal/output/notes.ts'
import { PARAMETERS } from '../src/routes/parameters/table.ts'
import { API_DOCUMENTS, apiText } from './support/api-docs.ts'

/** Further statuses of a problem: Node sends them before a request can be read. */
const OTHER_STATUSES: { readonly [C in ProblemCode]?: readonly number[] } = {
  'bad-request': [408, 431],
}

/** The page that has a heading, for the links in the meanings of parameters. */
const PAGES = new Map(
  API_DOCUMENTS.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)].map(
      ([, heading]) => [heading!.toLowerCase().replaceAll(' ', '-'), basename(path)] as const,
    ),
  ),
)

/** A page with the tables of the code. */
function writtenOf(path: string): string {
  const link = (text: string) =>
    text.replaceAll(/\]\(#([\w-]+)\)/g, (whole, anchor) => {
      const page = PAGES.get(anchor)
      expect(page, anchor).toBeDefined()
      return page === basename(path) ? whole : `](${page}#${anchor})`
    })
  return readFileSync(path, 'utf8')
    .replace(/(<!-- parameters: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g, (_, start, name, end) => {
      return `${start}${link(tableOf(name))}${end}`
    })
    .replace(/(<!-- problems -->\n)[\s\S]*?(<!-- end -->)/, (_, start, end) => `${start}${problems()}${end}`)
}

it.each(API_DOCUMENTS)('%s has the tables of the code (NODESTATE_WRITE_DOCS=1 writes them)', (path) => {
  if (process.env.NODESTATE_WRITE_DOCS) writeFileSync(path, writtenOf(path))
  else expect(readFileSync(path, 'utf8')).toBe(writtenOf(path))
})

it('every parameter of every resource is in exactly one table', () => {
  const tables = [...apiText().matchAll(/<!-- parameters: (\w+) -->/g)].map(([, name]) => name!)
  expect(new Set(tables).size).toBe(tables.length)
  // The resources that share the filters have them in the table of those.
  const documented = new Map(tables.map((name) => [name, rowsFor(name)]))
  for (const row of PARAMETERS)
    for (const resource of row.on) {
      const rows = [
        ...(documented.get(resource) ?? []),
        ...(FILTERED.includes(resource) ? [...documented.get('filters')!, ...documented.get('tail')!] : []),
      ]
      expect(rows.filter((each) => each === row).length, `${row.name} of ${resource}`).toBe(1)
    }
})

it('every problem and every note is in exactly one table', () => {
  const count = (cell: string) =>
    apiText()
      .split('\n')
      .filter((line) => line.startsWith(cell)).length
  for (const code of Object.keys(PROBLEMS) as ProblemCode[]) {
    const statuses = [PROBLEMS[code][0], ...(OTHER_STATUSES[code] ?? [])].join(', ')
    expect(count(`| ${statuses} | \`/problems/${code}\` |`), code).toBe(1)
  }
  const [, notes] = apiText().split('| note | meaning |\n')
  const documented = [...notes!.split('\n\n')[0]!.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name!)
  const source = readFileSync('src/log/view/answer.ts', 'utf8')
  const types = [...source.matchAll(/^export type \w*Note =([\s\S]*?)\n\n/gm)].map(([, text]) => text!)
  const known = types.flatMap((text) => [...text.matchAll(/'([\w-]+)'/g)].map(([, name]) => name!))
  expect(known.length).toBeGreaterThan(8)
  expect(documented.toSorted()).toEqual([...new Set([...known, ...Object.keys(SENTENCES)])].sort())
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

/** The resources that have the same filters. */
const FILTERED: readonly Resource[] = ['view', 'histogram', 'fields', 'groups', 'difference']

/** A table has what no table above it has: the plain tail, the filters, and then each resource. */
function rowsFor(name: string): Parameter[] {
  const tail: readonly Parameter[] = TAIL_PARAMETERS
  if (name === 'tail') return rowsOf(tail, 'view')
  const isFilter = (row: Parameter) =>
    FILTERED.every((resource) => row.on.includes(resource)) && !tail.includes(row)
  if (name === 'filters') return PARAMETERS.filter(isFilter)
  const rows = rowsOf(PARAMETERS, name as Resource)
  return FILTERED.includes(name as Resource)
    ? rows.filter((row) => !isFilter(row) && !tail.includes(row))
    : rows
}

const tableOf = (name: string) => markdown(rowsFor(name))

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
