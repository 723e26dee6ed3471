export interface Token {
  kind: 'comment' | 'table' | 'key' | 'string' | 'number' | 'word' | 'plain'
  text: string
}

type TomlLine = Token[]

const QUOTES = ['"""', "'''"] as const
/** The quotes of a string of several lines that a line leaves open. */
type Open = (typeof QUOTES)[number] | null

/** A table: its header line and what is below it. The first has no header. */
export interface Section {
  name: string | null
  lines: { number: number; tokens: TomlLine }[]
}

/** TOML text as sections of coloured lines. It colours what it can: bad TOML is shown as plain text. */
export function sections(source: string): Section[] {
  const out: Section[] = [{ name: null, lines: [] }]
  let open: Open = null
  // Comments right above a header belong to it.
  let pending: { number: number; tokens: TomlLine }[] = []
  const lines = source.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  lines.forEach((line, index) => {
    const inside = open !== null
    const scan = tokens(line, open)
    open = scan.open
    const entry = { number: index + 1, tokens: scan.tokens }
    const header = inside ? null : /^\s*\[\[?\s*([^\]]+?)\s*\]\]?/.exec(line)
    if (header !== null) {
      out.push({ name: header[1]!, lines: [...pending, entry] })
      pending = []
    } else if (!inside && /^\s*#/.test(line)) pending.push(entry)
    else {
      out.at(-1)!.lines.push(...pending, entry)
      pending = []
    }
  })
  out.at(-1)!.lines.push(...pending)
  return out.filter((section) => section.name !== null || section.lines.length > 0)
}

function tokens(line: string, openBefore: Open): { tokens: TomlLine; open: Open } {
  const out: TomlLine = []
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
