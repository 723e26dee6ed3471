import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { PROBLEMS } from '../src/http/problem.ts'

it('docs/api.md names every problem, with its status, and no other', () => {
  const documented: Record<string, string> = {}
  for (const [, statuses, types] of readFileSync('docs/api.md', 'utf8').matchAll(
    /^\| ([\d, ]+) \| (`\/problems\/[^|]+) \|/gm,
  ))
    for (const [, code] of types!.matchAll(/\/problems\/([\w-]+)/g)) documented[code!] = statuses!
  expect(Object.keys(documented).sort()).toEqual(Object.keys(PROBLEMS).sort())
  for (const [code, [status]] of Object.entries(PROBLEMS))
    expect(documented[code], code).toContain(String(status))
})
