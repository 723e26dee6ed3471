import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Tests that start other programs: runtimes, stores, databases. */
const PARTS = 'test/**/*.parts.test.ts'

/**
 * What `npm test` leaves to `npm run test:all`: a browser, containers, an object store, databases, shells, long chaos,
 * faults that are waited for, and the longest properties and inputs.
 */
const LONG = [
  'test/doors/page/**/*.parts.test.ts',
  'test/routes/view/csv.parts.test.ts',
  'test/ship/*.parts.test.ts',
  'test/fleet/faults.parts.test.ts',
  'test/log/follow/*.parts.test.ts',
  'test/deploy/*.parts.test.ts',
  'test/log/join/*.parts.test.ts',
  'test/doors/loki/*.parts.test.ts',
  'test/doors/mcp/*.parts.test.ts',
  'test/entry/bun-long.parts.test.ts',
  'test/store/segments.parts.test.ts',
  'test/docs.integrations.parts.test.ts',
  'test/docs.scale.parts.test.ts',
  'test/docs.shipping.parts.test.ts',
  'test/examples/*.parts.test.ts',
  'test/log/join/large.test.ts',
  'test/log/follow/rotation.test.ts',
  'test/log/regex/judge.test.ts',
  'test/log/regex/slices.test.ts',
  'test/log/render/ndjson.fuzz.test.ts',
  'test/log/format/answers.test.ts',
  'test/log/seek/long-steps.test.ts',
  'test/log/seek/seek.test.ts',
  'test/log/text/claimed-size.test.ts',
  'test/doors/loki/paging.test.ts',
  'test/package.parts.test.ts',
  'test/store/remote/list-pages.test.ts',
  'test/store/s3/faults*.test.ts',
  'test/doors/terminal/completion.parts.test.ts',
  'test/doors/terminal/docs.test.ts',
  'test/doors/terminal/merged.test.ts',
  'test/store/codec/gzip.test.ts',
  'test/log/regex/regex.test.ts',
  'test/log/seek/steps.test.ts',
  'test/doors/terminal/grep.test.ts',
]

/** The tests of a name: `npx vitest run --project NAME`. */
function project(name: string, include: string[], exclude: string[]) {
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
    projects: [
      project('unit', ['test/**/*.test.ts'], [PARTS, ...LONG]),
      project('parts', [PARTS], LONG),
      project('long', LONG, []),
    ],
    globalSetup: ['test/build.ts'],
    // The default leaves one core idle, which is half of a small machine.
    maxWorkers: '100%',
    // What the app tells the console by default is of interest where a test fails.
    silent: 'passed-only',
  },
})
