import { filesOf, isMerged, isPattern, type Look } from '../../url.ts'
import type { Shown } from './record.ts'

/** The logs that are read as one: their names, and those of the nodes on a fleet, without patterns. */
export interface Sources {
  files: readonly string[]
  nodes: readonly string[]
  /** The log whose records do not say where they are from, because it is the only one that is not hidden. */
  alone: string
}

/** What tells the sources apart: the nodes, if there are several, otherwise the logs. */
export function apart({ files, nodes }: Sources): readonly string[] {
  return nodes.length > 1 ? nodes : files
}

/** A letter and a colour for each source, in the order of their names. */
export function markOf(sources: Sources, name = sources.alone): { letter: string; colour: string } {
  const index = [...apart(sources), ...sources.files, ...sources.nodes].indexOf(name)
  if (index < 0) return { letter: '?', colour: 'hsl(0 0% 50%)' }
  const letter = String.fromCharCode(65 + (index % 26)) + (index < 26 ? '' : Math.floor(index / 26))
  return {
    letter,
    colour: `hsl(${HUES[index % HUES.length]} 36% 50%)`,
  }
}

/** Muted, and none of the colours of levels (blue, orange, red and magenta); neighbours are far apart. */
const HUES = [170, 262, 84, 232, 128, 282, 62, 190, 150, 246]

/** Where a record is from, in full: `db-4/broker.log`. */
export function originOf({ file, node }: Shown, { alone }: Sources): string {
  return node === undefined ? (file ?? alone) : `${node}/${file}`
}

/** The logs and nodes that a look reads as one, by their names; null for a single log. */
export function sourcesOf(
  look: Look,
  logs: readonly string[],
  nodes: readonly string[] = [],
): Sources | null {
  if (!isMerged(look)) return null
  const files = expanded(filesOf(look), logs)
  const shown = files.filter((name) => !look.hidden.includes(name))
  return { files, nodes: expanded(look.nodes, nodes), alone: shown.length === 1 ? shown[0]! : '' }
}

/** Patterns become the names that they match. */
function expanded(chosen: readonly string[], names: readonly string[]): string[] {
  const found = chosen.flatMap((each) =>
    names.includes(each) || !isPattern(each) ? [each] : names.filter((name) => globOf(each).test(name)),
  )
  return [...new Set(found)].sort()
}

/** A shell pattern as a regular expression: `*` stands for any characters, `?` for one. */
export function globOf(pattern: string): RegExp {
  const escaped = pattern.replace(/[\\^$.+()[\]{}|]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll(/\*+/g, '.*').replaceAll('?', '.')}$`, 'su')
}
