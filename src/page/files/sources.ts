import type { Sources } from '../log/record/source.ts'
import { filesOf, isMerged, isPattern, type Look } from '../url.ts'

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

function globOf(pattern: string): RegExp {
  const escaped = pattern.replace(/[\\^$.+()[\]{}|]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's')
}
