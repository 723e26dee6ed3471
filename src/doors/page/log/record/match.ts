import { literal } from '../../ui/format.ts'

/** Finds what the user searches for, by the server's own rules. */
export interface Matcher {
  ranges(text: string): [number, number][]
  test(text: string): boolean
}

/** Text ignores case unless it has a capital. A pattern runs in the server's engine, so that none stalls the page. */
export async function matcher(find: string, regex: boolean): Promise<Matcher | null> {
  if (find === '') return null
  if (!regex) return textMatcher(find)
  const { Spans } = await import('../../../../log/regex/spans.ts')
  try {
    const spans = new Spans(find)
    return { ranges: (text) => spans.find(text, MAX_HITS), test: (text) => spans.test(text) }
  } catch {
    // The server refuses it too, and its problem says why.
    return null
  }
}

function textMatcher(find: string): Matcher {
  const flags = /\p{Lu}/u.test(find) ? 'gu' : 'giu'
  const pattern = new RegExp(literal(find), flags)
  return {
    ranges(text) {
      const found: [number, number][] = []
      for (const { 0: hit, index } of text.matchAll(pattern))
        if (found.push([index, index + hit.length]) >= MAX_HITS) break
      return found
    },
    test: (text) => text.search(pattern) >= 0,
  }
}

/** Marks per cell: a line of a megabyte may hold a million. */
const MAX_HITS = 500
