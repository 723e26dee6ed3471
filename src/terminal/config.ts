import type { CommandLine } from '../usage.ts'
import { onlyTargetsOf } from './connect.ts'
import { type Paint, printableJson } from './output/paint.ts'
import { clean, type Style } from './output/records.ts'
import { withSpinner } from './output/spinner.ts'
import { FOUND, type World } from './output/world.ts'

/** `nodestate config`: the node's configuration. */
export async function config(given: CommandLine, style: Style, world: World): Promise<number> {
  const targets = await onlyTargetsOf(given, world)
  for (const { client, name } of targets) {
    const answer = await withSpinner(world, `asking ${name}`, () => client.config({ signal: world.signal }))
    if (style.json) {
      await world.stdout.write(`${printableJson(JSON.stringify(answer))}\n`)
      continue
    }
    if (targets.length > 1) await world.stdout.write(`${style.paint.bold(`# ${name}`)}\n`)
    const text = clean(answer.config, style)
    await world.stdout.write(
      text
        .split('\n')
        .map((line) => colored(line, style.paint))
        .join('\n'),
    )
    if (!text.endsWith('\n')) await world.stdout.write('\n')
  }
  return FOUND
}

/** One line of TOML: comments dim, tables bold, keys and strings in their colors. */
function colored(line: string, paint: Paint): string {
  if (!paint.on) return line
  if (/^\s*#/.test(line)) return paint.dim(line)
  if (/^\s*\[/.test(line)) return paint.bold(line)
  const parts = /^(\s*)([^=#"']+?|"[^"]*"|'[^']*')(\s*=\s*)(.*)$/.exec(line)
  if (!parts) return line
  const [, indent, key, equals, value] = parts
  return `${indent}${paint.key(key!)}${equals}${/^["']/.test(value!) ? paint.string(value!) : value}`
}
