import { findPart, type PartName } from '../parts/parts.mjs'

/**
 * The path of a part, or the reason to skip what needs it. With `NODESTATE_TEST_COMPLETE` set nothing may be missing, so there it throws.
 * Use the reason in the title of the skipped tests: a skip says by name what would make it run.
 */
export function part(name: PartName): { path: string; missing: null } | { path: null; missing: string } {
  const path = findPart(name)
  if (path !== null) return { path, missing: null }
  return { path: null, missing: lacking(`${name} is not installed: run npm test`) }
}

/** A reason to skip; a failure where every part was promised to be there, as `.ci/run` does. */
export function lacking(reason: string): string {
  if (process.env.NODESTATE_TEST_COMPLETE) throw new Error(`Every part must be there, but ${reason}`)
  return reason
}
