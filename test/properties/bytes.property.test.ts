import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/store/memory.ts'
import { allPages, nodeOf } from './model.ts'

const bytes = fc.uint8Array({ maxLength: 4 }).map((array) => Uint8Array.from(array))
/** Files with many line ends, characters of several bytes, and broken ones; the first byte is no sign of an archive. */
const content = fc
  .array(fc.oneof(fc.constantFrom('\n', 'a', 'line\n', 'äöü', '€', '😀', '\r\n', '\0'), bytes), {
    maxLength: 60,
  })
  .map((parts) => Buffer.concat(['a', ...parts].map((part) => Buffer.from(part as string))))

/** The last `size` bytes from a line start, then at most `lines` lines: written to be read, not to be fast. */
function reference(text: string, size: number, lines: number | null): string {
  let start = Math.max(0, text.length - size)
  if (start > 0 && size > 0) {
    const newline = text.indexOf('\n', start - 1)
    if (newline >= 0 && newline + 1 < text.length) start = newline + 1
    else {
      let at = start
      while (at < text.length && at - start < 4 && (text.charCodeAt(at) & 0xc0) === 0x80) at++
      start = at - start === 4 || at === text.length ? start : at
    }
  }
  const tail = text.slice(start)
  if (lines === null || tail === '') return tail
  const all = tail.match(/[^\n]*\n|[^\n]+$/g) ?? []
  return lines === 0 ? '' : all.slice(-lines).join('')
}

describe('any bytes', () => {
  it('have the tail of the reference, by bytes and by lines, near and far', async () => {
    await fc.assert(
      fc.asyncProperty(
        content,
        fc.nat(60),
        fc.oneof(fc.constant(null), fc.nat(6)),
        fc.boolean(),
        async (file, size, lines, far) => {
          const app = nodeOf(memoryStore({ 'a.log': file }), far)
          const answer = await app.request(
            `/api/v1/log/view?file=a.log&size=${size}${lines === null ? '' : `&lines=${lines}`}`,
          )
          const body = Buffer.from(await answer.arrayBuffer()).toString('latin1')
          expect(body).toBe(reference(file.toString('latin1'), size, lines))
        },
      ),
      { numRuns: 200 },
    )
  })

  it('come back once, in pages of any size in both directions, through all rotated files', async () => {
    const texts = content.map((file) => file.toString('latin1').replaceAll(/[^\n\x20-\x7e]/g, '.'))
    await fc.assert(
      fc.asyncProperty(
        fc.array(texts, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 30 }),
        fc.option(fc.integer({ min: 1, max: 5 })),
        fc.boolean(),
        async (contents, size, lines, far) => {
          const names = contents.map((_, i) =>
            i === contents.length - 1 ? 'a.log' : `a.log.${contents.length - 1 - i}`,
          )
          const files = Object.fromEntries(names.map((name, i) => [name, contents[i]!]))
          const app = nodeOf(memoryStore(files), far)
          const query = `?file=a.log&rotated=true&size=${size}${lines === null ? '' : `&lines=${lines}`}`
          const { back, forth } = await allPages(app, query)
          for (const pages of [back, forth]) {
            expect(pages.map(({ text }) => text).join('')).toBe(contents.join(''))
            for (const { text } of pages) expect(text.length).toBeLessThanOrEqual(size)
          }
        },
      ),
      { numRuns: 100 },
    )
  })
})
