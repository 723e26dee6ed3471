import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { API_DOCUMENTS } from './support/api-docs.ts'

/** Every page; decisions and the changelog stay as they were written. */
const DOCUMENTS = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'deploy/README.md', 'examples/README.md'],
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md') && name !== 'api.md')
    .map((name) => `docs/${name}`),
  ...API_DOCUMENTS,
]

/** The sentences of a page: of paragraphs, lists and cells, without code. */
function sentencesOf(text: string): string[] {
  return (
    text
      .replaceAll(/^```[\s\S]*?^```/gm, '')
      .replaceAll(/<!--[\s\S]*?-->/g, '')
      .split('\n')
      .filter((line) => !/^( {4}|#|!\[|\|[-|]+$)/.test(line))
      // A cell may be a list of bounds.
      .flatMap((line) => (line.startsWith('|') ? line.split(/(?<!\\)\||; /) : [line]))
      .map((cell) => cell.replaceAll(/`[^`]*`/g, 'code').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'))
      .flatMap((cell) => cell.split(/(?<=[.?!])\s+| · /))
      .map((sentence) => sentence.trim())
  )
}
const wordsOf = (text: string) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length

it.each(API_DOCUMENTS)('%s has at most 2,500 words', (path) => {
  expect(readFileSync(path, 'utf8').split(/\s+/).length).toBeLessThanOrEqual(2500)
})

it.each(DOCUMENTS)('%s has sentences of fewer than 30 words', (path) => {
  const found = sentencesOf(readFileSync(path, 'utf8'))
  expect(found.length).toBeGreaterThan(10)
  expect(found.filter((sentence) => wordsOf(sentence) >= 30)).toEqual([])
})
