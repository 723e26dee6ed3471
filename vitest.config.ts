import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  // package.json maps these to dist, per runtime.
  resolve: {
    alias: {
      '#decoders': resolve('src/codec/native.ts'),
      '#fetch': resolve('src/store/remote/node/fetch.ts'),
      '#turns': resolve('src/limits/turns.ts'),
    },
  },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/parts/**'],
    globalSetup: ['test/build.ts'],
    // What the app tells the console by default is of interest where a test fails.
    silent: 'passed-only',
    // Generous: on a busy machine a property test takes a minute, and nothing here is judged by the clock.
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // A stalled machine must not fail a change. What passes at the second try is named at the end. A property that failed
    // is not tried again: with other values it may hold.
    retry: process.env.CI ? { count: 1, condition: /^(?!Property failed)/ } : 0,
    reporters: ['default', './test/second-tries.ts'],
    // The default is one second, too short on a busy machine.
    expect: { poll: { timeout: 60_000 } },
  },
})
