import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Where each type of options is. */
const TYPES: Record<string, string> = {
  AppOptions: 'src/app.ts',
  LogOptions: 'src/log/options.ts',
  RoutingOptions: 'src/routing.ts',
  Limits: 'src/log/options.ts',
  FollowOptions: 'src/log/options.ts',
  FleetOptions: 'src/fleet/fleet.ts',
  MetricsOptions: 'src/kit/observe/metrics.ts',
}

interface Option {
  name: string
  meaning: string
  otherwise: string
}

/** The options of a type, from the comments of its source. */
function optionsOf(type: string): Option[] {
  const source = readFileSync(TYPES[type]!, 'utf8')
  const [, body] = new RegExp(`^export interface ${type}\\b[^{]*\\{\\n([\\s\\S]*?)^\\}`, 'm').exec(source)!
  const found = [...body!.matchAll(/^ {2}\/\*\*([\s\S]*?)\*\/\n {2}(\w+)(\??):/gm)]
  // A member without a comment would be missing from the table.
  expect(found.length, type).toBe([...body!.matchAll(/^ {2}\w+\??:/gm)].length)
  return found.map(([, comment, name, optional]) => {
    const text = comment!.replaceAll(/\s*\n\s*\*\s*/g, ' ').trim()
    const [meaning, otherwise] = text.split(/\s*@default\s*/)
    return {
      name: name!,
      meaning: meaning!.trim(),
      otherwise: optional ? (otherwise ?? 'see below') : 'required',
    }
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
  for (const type of Object.keys(TYPES)) expect(text).toMatch(new RegExp(`<!-- options: .*\\b${type}\\b`))
})
