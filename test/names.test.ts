import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

it('no type of the log has the name of another one there', () => {
  const declared = new Map<string, string[]>()
  const files = readdirSync('src/log', { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  for (const file of files)
    for (const [, name] of readFileSync(join('src/log', file), 'utf8').matchAll(
      /^(?:export )?(?:abstract )?(?:interface|type|class) (\w+)/gm,
    ))
      declared.set(name!, [...(declared.get(name!) ?? []), file])
  expect(files.length).toBeGreaterThan(100)
  expect([...declared].filter(([, where]) => where.length > 1)).toEqual([])
})
