/** More levels than anything that is read here needs. */
const MOST_LEVELS = 32

/**
 * Parses JSON that others wrote. Deep nesting is refused before it is parsed: it takes V8 ten times as long as flat
 * text, and what it returns cannot be written again without a stack overflow. Throws a SyntaxError.
 */
export function parseShallow(text: string): unknown {
  if (isDeep(text)) throw new SyntaxError(`The JSON has more than ${MOST_LEVELS} levels`)
  return JSON.parse(text)
}

function isDeep(text: string): boolean {
  let level = 0
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (quoted) {
      if (char === '\\') i++
      else if (char === '"') quoted = false
    } else if (char === '"') quoted = true
    else if (char === '{' || char === '[') {
      if (++level > MOST_LEVELS) return true
    } else if (char === '}' || char === ']') level--
  }
  return false
}
