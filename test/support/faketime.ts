import { execFileSync } from 'node:child_process'
import { lacking } from './parts.ts'

/**
 * libfaketime where Debian puts it; the loader fills in `$LIB`. Debian's `faketime` program is not used: it would
 * outlive or hide what a test kills, and it refuses to start under the id of a process that was killed with a clock.
 */
const LIBRARY = '/usr/$LIB/faketime/libfaketime.so.1'

/** The environment of a process whose clock is off: `-365d`, or `+0 x60` for one that runs sixty times as fast. */
export function clockEnv(spec: string): Record<string, string> {
  return { LD_PRELOAD: LIBRARY, FAKETIME: spec, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
}

function isInstalled(): boolean {
  const env = { ...process.env, ...clockEnv('-365d') }
  const told = execFileSync('date', ['+%s'], { encoding: 'utf8', env, stdio: 'pipe' })
  return Number(told) < Date.now() / 1000 - 300 * 86_400
}

/** Why a process cannot have its own clock; null if it can. */
export const noFaketime = isInstalled()
  ? null
  : lacking('faketime is not installed: apt-get install faketime')
