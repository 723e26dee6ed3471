import type { Visit } from '../format/format.ts'

/** Visits the members of an object, and of those inside it, by their path with dots. */
export function visitContext(context: unknown, prefix: string, visit: Visit): boolean {
  if (context === null || typeof context !== 'object' || Array.isArray(context)) return false
  for (const [key, value] of Object.entries(context)) {
    const path = prefix + key
    const isLeaf = value !== null && typeof value !== 'object'
    if (visit(path, () => (typeof value === 'string' ? value : JSON.stringify(value)), isLeaf)) return true
    if (visitContext(value, `${path}.`, visit)) return true
  }
  return false
}
