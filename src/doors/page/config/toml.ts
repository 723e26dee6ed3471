export interface Token {
  kind: 'comment' | 'table' | 'key' | 'string' | 'number' | 'word' | 'plain'
  text: string
}

const QUOTES = ['"""', "'''"] as const
/** The quotes of a string of several lines that a line leaves open. */
type Open = (typeof QUOTES)[number] | null

/** A line in colour, and the setting that it is about, with the name of its table. */
interface TomlLine {
  tokens: Token[]
  key: string | null
}

/** TOML text as coloured lines. It colours what it can: bad TOML is shown as plain text. */
export function tomlLines(source: string): TomlLine[] {
  let open: Open = null
  let table = ''
  return source
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)
    .map((line) => {
      const header = open === null ? /^\s*\[\[?\s*([^\]]+?)\s*\]\]?/.exec(line) : null
      if (header !== null) table = `${header[1]!}.`
      const found = tokens(line, open)
      open = found.open
      const key = found.tokens.slice(0, 2).find(({ kind }) => kind === 'key')
      return { tokens: found.tokens, key: key === undefined ? null : table + key.text }
    })
}

function tokens(line: string, openBefore: Open): { tokens: Token[]; open: Open } {
  const out: Token[] = []
  let open = openBefore
  for (let at = 0; at < line.length; ) {
    const [kind, end, next] = open === null ? token(line, at) : within(line, at, open)
    out.push({ kind, text: line.slice(at, end) })
    at = end
    open = next
  }
  return { tokens: out, open }
}

/** The next token of a line, where it ends, and the quotes that it leaves open. */
type Step = [kind: Token['kind'], end: number, open: Open]

/** The rest of a string of several lines. */
function within(line: string, from: number, quote: NonNullable<Open>): Step {
  const end = line.indexOf(quote, from)
  return end < 0 ? ['string', line.length, quote] : ['string', end + 3, null]
}

function token(line: string, at: number): Step {
  const quote = QUOTES.find((each) => line.startsWith(each, at))
  if (quote !== undefined) return within(line, at + 3, quote)
  WORD.lastIndex = at
  const found = (at === 0 ? HEAD.exec(line) : null) ?? WORD.exec(line)!
  const kind = Object.entries(found.groups!).find(([, text]) => text !== undefined)?.[0] ?? 'plain'
  return [kind as Token['kind'], at + found[0].length, null]
}

/** What only the beginning of a line can be: a header, or a key that may have quotes, dots and spaces. */
const HEAD =
  /^\s*(?:(?<table>\[\[?[^\]]*\]\]?)|(?<key>(?:[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*(?=\s*=)))/
const WORD =
  /(?<comment>#.*)|(?<string>"(?:[^"\\]|\\.)*"?|'[^']*'?)|(?<number>[+-]?\d[\w:.+-]*)|(?<key>[A-Za-z_][\w.-]*(?=\s*=))|(?<word>[A-Za-z]\w*)|\s+|./uy
