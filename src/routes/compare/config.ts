import { HomeError } from '../../core/node/home.ts'
import type { ConfigVersion, LogFinding } from '../../kit/answers.ts'
import type { Period } from '../../log/compare/sample.ts'
import { StoreError } from '../../store/store.ts'

/** What is found in configurations; not complete if some could not be read. */
export interface ConfigFindings {
  findings: LogFinding[]
  complete: boolean
}

/** The versions of a configuration that were first seen in a period, oldest first. */
type Between = (
  period: Period,
  signal: AbortSignal,
) => Promise<{ versions: ConfigVersion[]; complete: boolean }>

/** The keys of one node that changed from the start of the base to the end of the range. */
export async function changedKeys(
  between: Between,
  { range, base }: { range: Period; base: Period },
  node: string | null,
  signal: AbortSignal,
): Promise<ConfigFindings> {
  try {
    const from = Math.min(base.from, range.from)
    const { versions, complete } = await between({ from, to: range.to }, signal)
    return { findings: configFindings(versions, range, node), complete }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof StoreError || error instanceof HomeError) return { findings: [], complete: false }
    throw error
  }
}

function configFindings(
  versions: readonly ConfigVersion[],
  range: Period,
  node: string | null,
): LogFinding[] {
  const keys = new Map<string, { count: number; base: number; before: string; after: string }>()
  for (const { time, changes } of versions)
    for (const { key, before = UNSET, after = UNSET } of changes) {
      const known = keys.get(key) ?? { count: 0, base: 0, before, after }
      keys.set(key, { ...known, after })
      if (time >= range.from) keys.get(key)!.count++
      else keys.get(key)!.base++
    }
  return [...keys]
    .filter(([, { before, after }]) => before !== after)
    .map(([key, { count, base, before, after }]) => ({
      kind: 'config',
      what: key,
      count,
      base,
      ...(node !== null && { node }),
      example: `${before} → ${after}`,
    }))
}

export const UNSET = '(not set)'
