import fc from 'fast-check'

/**
 * Properties try the same values in every run, so that a change is judged by itself. `NODESTATE_TEST_SEED=random` tries
 * new ones, and a number those of an earlier run.
 */
const { NODESTATE_TEST_SEED = '20261117' } = process.env
if (NODESTATE_TEST_SEED !== 'random') fc.configureGlobal({ seed: Number(NODESTATE_TEST_SEED) })
