import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/parts/**'],
    globalSetup: ['test/build.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
})
