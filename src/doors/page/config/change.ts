import type { ConfigChange, ConfigVersion } from '../../client.ts'

/** A change of a configuration, and on a fleet the node whose it is. */
export interface Change extends Pick<ConfigVersion, 'time' | 'changes'> {
  node: string | null
}

/** A change in words: `query.max-workers: 30 → 64`. */
export function changeText({ key, before, after }: ConfigChange): string {
  if (before === undefined) return `${key}: ${after} added`
  if (after === undefined) return `${key}: ${before} removed`
  return `${key}: ${before} → ${after}`
}
