import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/parts/**'],
    globalSetup: ['test/build.ts'],
    // What the app tells the console by default is of interest where a test fails.
    silent: 'passed-only',
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
})
