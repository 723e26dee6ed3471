import type { ConfigChange, ConfigComparison, ConfigVersion } from '../client.ts'
import { type CommandLine, UsageError } from '../settings/usage.ts'
import { eachTarget, onlyTargetsOf, type Target } from './connect.ts'
import { isProblem, notFleet } from './logs.ts'
import { complain } from './output/notes.ts'
import { type Paint, printableJson } from './output/paint.ts'
import { clean, cleanName, type Style, shownTime } from './output/records.ts'
import { withSpinner } from './output/spinner.ts'
import { FOUND, NOTHING, TROUBLE, type World } from './output/world.ts'

/** Exit codes of a comparison, as in diff. */
const SAME = FOUND
const DIFFERENT = NOTHING

/** `nodestate config`: the node's configuration, its history, or what differs between the nodes of a fleet. */
export async function config(given: CommandLine, style: Style, world: World): Promise<number> {
  const { flags } = given
  const [one, other] = ['at', 'history', 'compare'].filter((name) => flags.has(name))
  if (other) throw new UsageError(`Cannot use --${one} and --${other} together: give one of them.`)
  const targets = await onlyTargetsOf(given, world)
  return eachTarget(targets, world, async (target) => {
    const answer = await withSpinner(world, `asking ${target.name}`, () => ask(target, flags, world))
    if (style.json) await world.stdout.write(`${printableJson(JSON.stringify(answer))}\n`)
    else {
      if (targets.length > 1) await world.stdout.write(`${style.paint.bold(`# ${target.name}`)}\n`)
      await world.stdout.write(shown(answer, style))
    }
    return 'missing' in answer ? judge(answer, style, world) : FOUND
  })
}

type Answer = { config: string } | ConfigVersion[] | ConfigComparison

async function ask({ client }: Target, flags: CommandLine['flags'], { signal }: World): Promise<Answer> {
  if (flags.has('history')) return client.history({ signal })
  const nodes = flags.get('compare')
  if (nodes)
    return client.compare(nodes, { signal }).catch((error: unknown) => {
      throw isProblem(error, 'unknown-path') ? notFleet('--compare') : error
    })
  const at = flags.get('at')?.[0]
  const answer = await client.config({ at, signal })
  // An older node ignores the parameter and answers with its present configuration.
  if (at !== undefined && answer.time === undefined)
    throw new UsageError('This node cannot show earlier versions yet.')
  return answer
}

function shown(answer: Answer, style: Style): string {
  if (Array.isArray(answer)) return historyText(answer, style)
  return 'missing' in answer ? differencesText(answer, style) : tomlText(answer.config, style)
}

function differencesText({ keys }: ConfigComparison, style: Style): string {
  const { paint } = style
  return keys
    .filter(({ expected }) => !expected)
    .map(({ key, values }) => {
      const lines = values.map(
        ({ value, nodes }) => `  ${valueText(value, style)}  ${paint.dim(nodes.join(' '))}\n`,
      )
      return `${paint.key(cleanName(key, style))}\n${lines.join('')}`
    })
    .join('')
}

/** Says on stderr what the differences do not show, and returns the exit code. */
async function judge({ keys, missing }: ConfigComparison, style: Style, world: World): Promise<number> {
  const expected = keys.filter((key) => key.expected).length
  if (expected > 0 && !style.json)
    await complain(
      world,
      `${expected} expected ${expected === 1 ? 'difference is' : 'differences are'} not shown; see --json.`,
    )
  for (const [id, why] of Object.entries(missing)) await complain(world, `${id} was not compared: ${why}.`)
  if (keys.length > expected) return DIFFERENT
  return Object.keys(missing).length > 0 ? TROUBLE : SAME
}

/** The versions, newest first: when each was first seen, and what changed. */
function historyText(versions: readonly ConfigVersion[], style: Style): string {
  return versions
    .map(({ time, changes, error }, index) => {
      const when = style.paint.bold(shownTime(new Date(time).toISOString(), style.zone))
      const lines = changes.map((change) => `  ${changeText(change, style)}\n`)
      return `${when}${lines.length > 0 ? '' : style.paint.dim(why(error, index === versions.length - 1))}\n${lines.join('')}`
    })
    .join('')
}

function why(error: ConfigVersion['error'], isFirst: boolean): string {
  if (error) return `  not compared: ${error}`
  return isFirst ? '' : '  only comments or layout'
}

function changeText({ key, before, after }: ConfigChange, style: Style): string {
  return `${style.paint.key(cleanName(key, style))}: ${valueText(before, style)} -> ${valueText(after, style)}`
}

function valueText(value: string | undefined, style: Style): string {
  return value === undefined ? style.paint.dim('(not set)') : cleanName(value, style)
}

function tomlText(toml: string, style: Style): string {
  const text = clean(toml, style)
  const lines = text.split('\n').map((line) => colored(line, style.paint))
  return `${lines.join('\n')}${text.endsWith('\n') ? '' : '\n'}`
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
