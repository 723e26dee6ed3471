import { findPart, INSTALLED_BY, type PartName } from '../parts/parts.mjs'

/** Parts that npm has for x86-64 alone: elsewhere their tests are skipped, even where every part is promised. */
const X64_ONLY: readonly PartName[] = ['chdb', 'kustomize']

/**
 * The path of a part, or the reason to skip what needs it. With `NODESTATE_TEST_COMPLETE` set nothing may be missing, so there it throws.
 * Use the reason in the title of the skipped tests: a skip says by name what would make it run.
 */
export function part(name: PartName): { path: string; missing: null } | { path: null; missing: string } {
  const path = findPart(name)
  if (path !== null) return { path, missing: null }
  const { platform, arch } = process
  if (X64_ONLY.includes(name) && `${platform}-${arch}` !== 'linux-x64')
    return { path: null, missing: `the registry has no ${name} for ${platform} on ${arch}` }
  return { path: null, missing: lacking(`${name} is not installed: run ${INSTALLED_BY}`) }
}

/** A reason to skip; a failure where every part was promised to be there, as `.ci/run` does. */
export function lacking(reason: string): string {
  if (process.env.NODESTATE_TEST_COMPLETE) throw new Error(`Every part must be there, but ${reason}`)
  return reason
}
