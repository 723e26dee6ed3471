import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const text = readFileSync('SECURITY.md', 'utf8')
const promises = /## What nodestate promises\n([\s\S]*?)\n## /
  .exec(text)![1]!
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1)

it('SECURITY.md has promises', () => {
  expect(promises.length).toBeGreaterThan(9)
})

it.each(promises)('is held by tests that exist: %s', (line) => {
  const files = [
    ...line
      .split(' | ')
      .at(-1)!
      .matchAll(/`([^`]+)`/g),
  ].map(([, path]) => path!)
  expect(files.length).toBeGreaterThan(0)
  for (const path of files) {
    expect(path).toMatch(/^test\/.*\.test\.ts$/)
    expect(existsSync(path), path).toBe(true)
  }
})

it('names only files and flags that there are', () => {
  for (const [, target] of text.matchAll(/\]\((?!https:)([^)#]+)/g))
    expect(existsSync(target!), target).toBe(true)
  const settings = readFileSync('docs/settings.md', 'utf8')
  for (const [flag] of text.matchAll(/--[a-z-]+/g)) expect(settings, flag).toContain(flag)
})
