import { type CommandLine, UsageError } from '../../kit/usage.ts'
import type {
  Comparison,
  Completeness,
  ConfigBlame,
  ConfigChange,
  ConfigVersion,
  Entries,
} from '../client.ts'
import { eachTarget, onlyTargetsOf, type Target } from './nodes/connect.ts'
import { isProblem, namesLog, notFleet } from './nodes/logs.ts'
import { complain, SENTENCES } from './output/notes.ts'
import type { Paint } from './output/paint.ts'
import { type Style, shownTime } from './output/records.ts'
import { clean, cleanName, joined, printableJson, type Shown, show, split } from './output/shown.ts'
import { withSpinner } from './output/spinner.ts'
import { FOUND, NOTHING, TROUBLE, type World } from './output/world.ts'

/** Exit codes of a comparison, as in diff. */
const SAME = FOUND
const DIFFERENT = NOTHING

/** `nodestate config`: the node's configuration, its history, or what differs between the nodes of a fleet. */
export async function config(given: CommandLine, style: Style, world: World): Promise<number> {
  const { flags } = given
  const [one, other] = ['at', 'history', 'blame', 'compare'].filter((name) => flags.has(name))
  if (other) throw new UsageError(`Cannot use --${one} and --${other} together: give one of them.`)
  if (flags.has('node') && flags.has('compare'))
    throw new UsageError('Cannot use --node and --compare together: --compare names the nodes itself.')
  const targets = await nodesOf(await onlyTargetsOf(given, world), flags.get('node'), world)
  return eachTarget(targets, world, async (target) => {
    const answer = await withSpinner(world, `asking ${target.name}`, () => ask(target, flags, world))
    if (style.json) await world.stdout.write(show`${printableJson(JSON.stringify(sent(answer)))}\n`)
    else {
      const name = cleanName(target.name, style)
      if (targets.length > 1) await world.stdout.write(show`${style.paint.bold(show`# ${name}`)}\n`)
      await world.stdout.write(shown(answer, style))
    }
    for (const note of answer.notes ?? []) await complain(world, noteText(note))
    if ('complete' in answer && !answer.complete)
      await complain(world, 'Not everything could be looked at: versions, errors or nodes are missing.')
    return 'nodes' in answer ? judge(answer, style, world) : FOUND
  })
}

interface ConfigTarget extends Target {
  /** Asks when settings changed. @default the node itself */
  blame?(): Promise<ConfigBlame>
}

/** The nodes of fleets that `--node` names, each as a target of its own. */
async function nodesOf(
  fleets: readonly Target[],
  wanted: readonly string[] | undefined,
  { signal }: World,
): Promise<readonly ConfigTarget[]> {
  if (wanted === undefined) return fleets
  const found: ConfigTarget[] = []
  for (const fleet of fleets) {
    const { entries } = await fleet.client.nodes({ signal }).catch((error: unknown) => {
      throw isProblem(error, 'unknown-path') ? notFleet() : error
    })
    for (const value of wanted) {
      const ids = entries.map(({ id }) => id).filter((id) => namesLog(value, [{ name: id }]))
      if (ids.length === 0) throw new UsageError(`The fleet has no node ${value}; nodestate ls shows them.`)
      for (const id of ids)
        if (!found.some(({ name }) => name === `${fleet.name}/nodes/${id}`))
          found.push({
            ...fleet,
            client: fleet.nodeClient(id),
            name: `${fleet.name}/nodes/${id}`,
            // Only the fleet knows the other nodes.
            blame: () => fleet.client.blame({ node: id, signal }),
          })
    }
  }
  return found
}

type Answer = Partial<Completeness> & ({ config: string } | Entries<ConfigVersion> | Comparison | ConfigBlame)

function noteText(note: string): string {
  if (note === 'scan-budget') return 'The node ran out of time: older versions are missing.'
  return SENTENCES[note] ?? `note: ${note}`
}

/** An answer as the node sent it. */
function sent(answer: Answer): object {
  if ('entries' in answer) return answer.entries
  if ('complete' in answer) return { complete: answer.complete, keys: answer.keys }
  if (!('nodes' in answer)) return answer
  const { nodes, keys, missing } = answer
  return { nodes, missing: Object.fromEntries(missing.map(({ name, reason }) => [name, reason])), keys }
}

async function ask(
  { client, blame }: ConfigTarget,
  flags: CommandLine['flags'],
  { signal }: World,
): Promise<Answer> {
  if (flags.has('history')) return client.history({ signal })
  if (flags.has('blame')) return blame?.() ?? client.blame({ signal })
  const nodes = flags.get('compare')
  if (nodes)
    return client.compareConfig(nodes, { signal }).catch((error: unknown) => {
      throw isProblem(error, 'unknown-path') ? notFleet('--compare') : error
    })
  const at = flags.get('at')?.[0]
  return client.config({ at, signal })
}

function shown(answer: Answer, style: Style): Shown {
  if ('entries' in answer) return historyText(answer.entries, style)
  if ('complete' in answer) return blameText(answer, style)
  return 'nodes' in answer ? differencesText(answer, style) : tomlText(answer.config, style)
}

/** The settings, those that changed last first: when, the errors per hour before and after, and who has another value. */
function blameText({ keys }: ConfigBlame, style: Style): Shown {
  const { paint } = style
  return joined(
    keys.map(({ key, value, changed, before, errors, others = [] }) => {
      const when = changed === null ? show`` : show`${paint.bold(shownTime(changed, style))}  `
      const was = changed === null ? show`` : show`, was ${valueText(before, style)}`
      const rates = errors
        ? show`, errors per hour ${cleanName(errors.before, style)} -> ${cleanName(errors.after, style)}`
        : show``
      const lines = others.map(
        ({ value, nodes }) =>
          show`  ${valueText(value, style)}  ${paint.dim(cleanName(nodes.join(' '), style))}\n`,
      )
      return show`${when}${paint.key(cleanName(key, style))}: ${valueText(value, style)}${paint.dim(show`${was}${rates}`)}\n${joined(lines)}`
    }),
  )
}

function differencesText({ keys }: Comparison, style: Style): Shown {
  const { paint } = style
  const unexpected = keys.filter(({ expected }) => !expected)
  return joined(
    unexpected.map(({ key, values }) => {
      const lines = values.map(
        ({ value, nodes }) =>
          show`  ${valueText(value, style)}  ${paint.dim(cleanName(nodes.join(' '), style))}\n`,
      )
      return show`${paint.key(cleanName(key, style))}\n${joined(lines)}`
    }),
  )
}

/** Says on stderr what the differences do not show, and returns the exit code. */
async function judge({ keys, missing }: Comparison, style: Style, world: World): Promise<number> {
  const expected = keys.filter((key) => key.expected).length
  if (expected > 0 && !style.json)
    await complain(
      world,
      `${expected} expected ${expected === 1 ? 'difference is' : 'differences are'} not shown; see --json.`,
    )
  for (const { name, reason } of missing) await complain(world, `${name} was not compared: ${reason}.`)
  if (keys.length > expected) return DIFFERENT
  return missing.length > 0 ? TROUBLE : SAME
}

/** The versions, newest first: when each was first seen, and what changed. */
function historyText(versions: readonly ConfigVersion[], style: Style): Shown {
  return joined(
    versions.map(({ time, changes, error }, index) => {
      const when = style.paint.bold(shownTime(time, style))
      const lines = changes.map((change) => show`  ${changeText(change, style)}\n`)
      const reason = cleanName(why(error, index === versions.length - 1), style)
      return show`${when}${lines.length > 0 ? show`` : style.paint.dim(reason)}\n${joined(lines)}`
    }),
  )
}

function why(error: ConfigVersion['error'], isFirst: boolean): string {
  if (error) return `  not compared: ${error}`
  return isFirst ? '' : '  only comments or layout'
}

function changeText({ key, before, after }: ConfigChange, style: Style): Shown {
  return show`${style.paint.key(cleanName(key, style))}: ${valueText(before, style)} -> ${valueText(after, style)}`
}

function valueText(value: string | undefined, style: Style): Shown {
  return value === undefined ? style.paint.dim(show`(not set)`) : cleanName(value, style)
}

function tomlText(toml: string, style: Style): Shown {
  const text = clean(toml, style)
  const lines = joined(
    split(text, '\n').map((line) => colored(line, style.paint)),
    '\n',
  )
  return text.endsWith('\n') ? lines : show`${lines}\n`
}

/** One line of TOML: comments dim, tables bold, keys and strings in their colors. */
function colored(line: Shown, paint: Paint): Shown {
  if (!paint.on) return line
  if (/^\s*#/.test(line)) return paint.dim(line)
  if (/^\s*\[/.test(line)) return paint.bold(line)
  // A pattern with groups splits the line into them.
  const [, indent, key, equals, value] = split(line, /^(\s*)([^=#"']+?|"[^"]*"|'[^']*')(\s*=\s*)(.*)$/)
  if (indent === undefined) return line
  return show`${indent}${paint.key(key!)}${equals!}${/^["']/.test(value!) ? paint.string(value!) : value!}`
}
