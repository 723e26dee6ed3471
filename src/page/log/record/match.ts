/** Finds what the user searches for, by the server's own rules. */
export interface Matcher {
  ranges(text: string): [number, number][]
  test(text: string): boolean
}

/** Text ignores case unless it has a capital. A pattern runs in the server's engine, so that none stalls the page. */
export async function matcher(find: string, regex: boolean): Promise<Matcher | null> {
  if (find === '') return null
  if (!regex) return textMatcher(find)
  const { Spans } = await import('../../../log/regex/spans.ts')
  try {
    const spans = new Spans(find)
    return { ranges: (text) => spans.find(text, MAX_HITS), test: (text) => spans.test(text) }
  } catch {
    // The server refuses it too, and its problem says why.
    return null
  }
}

function textMatcher(find: string): Matcher {
  const exact = /\p{Lu}/u.test(find)
  const needle = exact ? find : find.toLowerCase()
  const fold = (text: string) => {
    if (exact) return text
    const lower = text.toLowerCase()
    // Some letters change length in lower case; then the places would be off.
    return lower.length === text.length ? lower : text
  }
  return {
    ranges(text) {
      const found: [number, number][] = []
      const hay = fold(text)
      for (let at = hay.indexOf(needle); at >= 0; at = hay.indexOf(needle, at + needle.length)) {
        found.push([at, at + needle.length])
        if (found.length >= MAX_HITS) break
      }
      return found
    },
    test: (text) => fold(text).includes(needle),
  }
}

/** Marks per cell: a line of a megabyte may hold a million. */
const MAX_HITS = 500
