/** A stretch of TOML with one colour. */
export interface Token {
  kind: 'comment' | 'table' | 'key' | 'string' | 'number' | 'word' | 'plain'
  text: string
}

/** A line of TOML in tokens. */
type TomlLine = Token[]

/** A table: its header line and what is below it. The first has no header. */
export interface Section {
  /** The header's name, or null before the first table. */
  name: string | null
  lines: { number: number; tokens: TomlLine }[]
}

/** TOML text as sections of coloured lines. It colours what it can: bad TOML is shown as plain text. */
export function sections(source: string): Section[] {
  const out: Section[] = [{ name: null, lines: [] }]
  let open: '"""' | "'''" | null = null
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

function tokens(
  line: string,
  openBefore: '"""' | "'''" | null,
): { tokens: TomlLine; open: '"""' | "'''" | null } {
  const out: TomlLine = []
  let rest = line
  let open = openBefore
  const take = (kind: Token['kind'], length: number) => {
    if (length > 0) out.push({ kind, text: rest.slice(0, length) })
    rest = rest.slice(length)
  }
  if (open === null) {
    const header = /^\s*\[\[?[^\]]*\]\]?/.exec(rest)
    const key =
      /^\s*(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*(?=\s*=)/.exec(
        rest,
      )
    if (header !== null) take('table', header[0].length)
    else if (key !== null) take('key', key[0].length)
  }
  while (rest !== '') {
    if (open !== null) {
      const end: number = rest.indexOf(open)
      if (end < 0) {
        take('string', rest.length)
        break
      }
      take('string', end + 3)
      open = null
      continue
    }
    const triple = /^("""|''')/.exec(rest)
    if (triple !== null) {
      const quote = triple[1] as '"""' | "'''"
      const end = rest.indexOf(quote, 3)
      const length = end < 0 ? rest.length : end + 3
      take('string', length)
      if (end < 0) open = quote
      continue
    }
    const found =
      /^(?<comment>#.*)|^(?<string>"(?:[^"\\]|\\.)*"?|'[^']*'?)|^(?<number>[+-]?\d[\w:.+-]*)|^(?<key>[A-Za-z_][\w.-]*(?=\s*=))|^(?<word>[A-Za-z]\w*)|^\s+|^./u.exec(
        rest,
      )
    if (found === null) break
    const kind = (Object.entries(found.groups ?? {}).find(([, value]) => value !== undefined)?.[0] ??
      'plain') as Token['kind']
    take(kind, found[0].length)
  }
  return { tokens: out, open }
}
