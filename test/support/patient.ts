import { type Clock, systemClock } from '../../src/kit/limits/clock.ts'

const FACTOR = 100

/** A clock whose deadlines are far away: a busy machine is not a dead peer. */
export const PATIENT: Clock = { ...systemClock, after: (ms, then) => systemClock.after(FACTOR * ms, then) }

/** The same, by which little time passes: a busy machine does not end a search either. */
export const UNHURRIED: Clock = { ...PATIENT, elapsed: () => systemClock.elapsed() / FACTOR }
