import { filesOf, isMerged, isPattern, type Look } from '../../url.ts'
import type { Shown } from './record.ts'

/** The logs that are read as one: their names, and those of the nodes on a fleet, without patterns. */
export interface Sources {
  files: readonly string[]
  nodes: readonly string[]
  /** The log whose records do not say where they are from, because it is the only one; otherwise ''. */
  alone: string
}

/** What tells the sources apart: the nodes, if there are several, otherwise the logs. */
export function apart({ files, nodes }: Sources): readonly string[] {
  return nodes.length > 1 ? nodes : files
}

/** A letter and a colour for each source, in the order of the list. */
export function markOf(sources: Sources, name = sources.alone): { letter: string; colour: string } {
  const index = [...apart(sources), ...sources.files, ...sources.nodes].indexOf(name)
  if (index < 0) return { letter: '?', colour: 'GrayText' }
  const letter = String.fromCharCode(65 + (index % 26)) + (index < 26 ? '' : Math.floor(index / 26))
  return { letter, colour: `light-dark(${COLOURS[index % COLOURS.length]})` }
}

/** For light and dark grounds. None is a colour of levels (blue, orange, red, magenta), and neighbours differ much. */
const COLOURS = [
  'hsl(174 60% 33%), hsl(172 45% 48%)',
  'hsl(264 42% 56%), hsl(264 60% 72%)',
  'hsl(62 65% 34%), hsl(60 50% 52%)',
  'hsl(212 14% 48%), hsl(212 14% 64%)',
  'hsl(20 40% 40%), hsl(22 42% 60%)',
  'hsl(128 40% 36%), hsl(128 35% 52%)',
  'hsl(240 35% 62%), hsl(240 60% 80%)',
  'hsl(190 70% 38%), hsl(190 60% 62%)',
]

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
  return { files, nodes: expanded(look.nodes, nodes), alone: files.length === 1 ? files[0]! : '' }
}

/** Patterns become the names that they match. All are in the order of the list; those that are not in it come last. */
export function expanded(chosen: readonly string[], names: readonly string[]): string[] {
  const found = chosen.flatMap((each) =>
    names.includes(each) || !isPattern(each) ? [each] : names.filter((name) => globOf(each).test(name)),
  )
  return [...new Set([...names.filter((name) => found.includes(name)), ...found])]
}

/** A shell pattern as a regular expression: `*` stands for any characters, `?` for one. */
export function globOf(pattern: string): RegExp {
  const escaped = pattern.replace(/[\\^$.+()[\]{}|]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll(/\*+/g, '.*').replaceAll('?', '.')}$`, 'su')
}
