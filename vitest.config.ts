import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Tests that start other programs (runtimes, stores, databases, a browser), and those that take long. */
const LONG = ['test/**/*.parts.test.ts', 'test/**/*.long.test.ts']

/** Fast tests that replace modules, or judge memory that a whole process shares: each has the sources to itself. */
const ALONE = [
  'test/core/access/other-files.test.ts',
  'test/doors/terminal/endless.test.ts',
  'test/doors/terminal/output/spinner.test.ts',
  'test/routes/merged/memory.test.ts',
  'test/store/fs/large-directory.test.ts',
]

/** The tests of a name: `npx vitest run --project NAME`. */
function project(name: string, include: string[], exclude: string[], isolate: boolean) {
  return {
    // package.json maps these to dist, per runtime.
    resolve: {
      alias: {
        '#decoders': resolve('src/store/codec/native.ts'),
        '#fetch': resolve('src/store/remote/node/fetch.ts'),
        '#turns': resolve('src/kit/limits/turns.ts'),
        '#runtime': resolve('src/kit/runtime/native.ts'),
      },
    },
    test: {
      name,
      isolate,
      include,
      exclude: [...exclude, 'test/parts/**'],
      setupFiles: ['test/support/seed.ts'],
      // Generous: on a busy machine a property test takes a minute, and nothing here is judged by the clock.
      testTimeout: 180_000,
      hookTimeout: 120_000,
      // The default is one second, too short on a busy machine.
      expect: { poll: { timeout: 60_000 } },
    },
  }
}

export default defineConfig({
  test: {
    // Loading the sources anew for each file would take more than the tests.
    projects: [
      project('fast', ['test/**/*.test.ts'], [...LONG, ...ALONE], false),
      project('alone', ALONE, [], true),
      project('long', LONG, [], true),
    ],
    globalSetup: ['test/build.ts'],
    // Some tests wait more than they work; the default leaves half of a small machine idle.
    maxWorkers: '150%',
    // What the app tells the console by default is of interest where a test fails.
    silent: 'passed-only',
  },
})
