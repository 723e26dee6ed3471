import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Where each table of options is. */
const TABLES: Record<string, string> = {
  NODE: 'src/core/options.ts',
  DESCRIBED: 'src/core/options.ts',
  PROTECTING: 'src/core/options.ts',
  ANSWERING: 'src/core/options.ts',
  AUTH: 'src/core/options.ts',
  SHARED: 'src/core/options.ts',
  READING: 'src/log/options.ts',
  LIMITS: 'src/log/options.ts',
  FOLLOW: 'src/log/options.ts',
  FLEET: 'src/fleet/options.ts',
  SERVE: 'src/entry/server/serve.ts',
  METRICS: 'src/kit/observe/metrics.ts',
  OPEN: 'src/doors/metrics.ts',
}
/** Tables of options that must be given. */
const NEEDED = ['NODE']

interface Option {
  name: string
  meaning: string
  otherwise: string
}

/** The options of a table, from the comments of its source. */
function optionsOf(name: string): Option[] {
  const source = readFileSync(TABLES[name]!, 'utf8')
  const [, body] = new RegExp(`^(?:export )?const ${name} = \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(source)!
  const found = [...body!.matchAll(/^ {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {2}(\w+):/gm)]
  // A member without a comment would be missing from the table.
  expect(found.length, name).toBe([...body!.matchAll(/^ {2}\w+:/gm)].length)
  return found.map(([, comment, option]) => {
    const text = comment!.replaceAll(/\s*\n\s*\*\s*/g, ' ').trim()
    const [meaning, otherwise] = text.split(/\s*@default\s*/)
    if (!NEEDED.includes(name)) expect(otherwise, `the default of ${option}`).toBeDefined()
    return { name: option!, meaning: meaning!.trim(), otherwise: otherwise ?? 'required' }
  })
}

/** A document with the tables of its options. */
function withOptions(text: string): string {
  return text.replace(/(<!-- options: (.*) -->\n)[\s\S]*?(<!-- end -->)/g, (_, start, names, end) => {
    const all = (names as string).split(', ').flatMap(optionsOf)
    // A type repeats an option that it shares with another.
    const rows = all.filter(({ name }, i) => all.findIndex((row) => row.name === name) === i)
    const cell = (value: string) => value.replaceAll('|', '\\|')
    const lines = rows.map((row) => `| \`${row.name}\` | ${cell(row.meaning)} | ${cell(row.otherwise)} |`)
    return `${start}${['| option | meaning | default |', '|---|---|---|', ...lines].join('\n')}\n${end}`
  })
}

it('docs/embedding.md has every option with its comment (NODESTATE_WRITE_DOCS=1 writes them)', () => {
  const text = readFileSync('docs/embedding.md', 'utf8')
  const written = withOptions(text)
  if (process.env.NODESTATE_WRITE_DOCS) writeFileSync('docs/embedding.md', written)
  else expect(text).toBe(written)
  for (const name of Object.keys(TABLES)) expect(text).toMatch(new RegExp(`<!-- options: .*\\b${name}\\b`))
})
