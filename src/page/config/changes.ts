import type { ConfigChange } from '../../client.ts'

/** A change in words: `query.max-workers: 30 → 64`. */
export function changeText({ key, before, after }: ConfigChange): string {
  if (before === undefined) return `${key}: ${after} added`
  if (after === undefined) return `${key}: ${before} removed`
  return `${key}: ${before} → ${after}`
}
