import { execFileSync } from 'node:child_process'
import { lacking } from './parts.ts'

/** libfaketime as Debian's faketime loads it: a wrapper process would outlive or hide what a test kills. */
function findLibrary(): string | null {
  try {
    const told = execFileSync('faketime', ['-f', '+0', 'sh', '-c', 'echo "$LD_PRELOAD"'], {
      encoding: 'utf8',
    })
    return told.trim() || null
  } catch {
    return null
  }
}

const library = findLibrary()

/** Why a process cannot have its own clock; null if it can. */
export const noFaketime = library ? null : lacking('faketime is not installed: apt-get install faketime')

/** The environment of a process whose clock is off: `-365d`, or `+0 x60` for one that runs sixty times as fast. */
export function clockEnv(spec: string): Record<string, string> {
  return { LD_PRELOAD: library ?? '', FAKETIME: spec, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
}
