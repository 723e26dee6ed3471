/** One element: its name without namespace, the text directly in it, and the elements in it. */
export interface XmlElement {
  name: string
  text: string
  children: XmlElement[]
}

const NAMED = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }))
const DEEPEST = 16

/**
 * Parses the subset of XML that object stores use: elements, attributes (skipped), entities, CDATA, comments.
 * Throws a SyntaxError on anything that is not a single well-formed element; knows no DOCTYPE, so no entity
 * can be declared.
 */
export function parseXml(source: string): XmlElement {
  const top: XmlElement = { name: '', text: '', children: [] }
  const open: XmlElement[] = [top]
  let at = source.charCodeAt(0) === 0xfeff ? 1 : 0
  while (at < source.length) {
    const inside = open[open.length - 1]!
    const less = source.indexOf('<', at)
    const text = source.slice(at, less < 0 ? source.length : less)
    if (inside === top && text.trim() !== '') throw new SyntaxError('XML has text outside its root')
    inside.text += decode(text)
    if (less < 0) break
    if (source.startsWith('<!--', less)) at = after(source, '-->', less + 4)
    else if (source.startsWith('<?', less)) at = after(source, '?>', less + 2)
    else if (source.startsWith('<![CDATA[', less)) {
      at = after(source, ']]>', less + 9)
      if (inside === top) throw new SyntaxError('XML has text outside its root')
      inside.text += source.slice(less + 9, at - 3)
    } else at = tag(source, less, open)
  }
  if (open.length > 1) throw new SyntaxError('XML ends inside an element')
  if (top.children.length !== 1) throw new SyntaxError('XML has no single root')
  return top.children[0]!
}

export function childText(element: XmlElement, name: string): string | null {
  return element.children.find((child) => child.name === name)?.text ?? null
}

const TAG = /<(\/?)(?:[\w.-]+:)?([A-Za-z_][\w.-]*)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y

function tag(source: string, at: number, open: XmlElement[]): number {
  TAG.lastIndex = at
  const match = TAG.exec(source)
  if (!match) throw new SyntaxError('XML has a broken tag')
  const [whole, closing, name = '', attributes, empty] = match
  if (closing) {
    if (attributes || empty || open.length < 2 || open.pop()!.name !== name)
      throw new SyntaxError('XML closes what is not open')
  } else {
    const element: XmlElement = { name, text: '', children: [] }
    open[open.length - 1]!.children.push(element)
    if (!empty && open.push(element) > DEEPEST) throw new SyntaxError('XML is nested too deep')
  }
  return at + whole.length
}

function after(source: string, end: string, from: number): number {
  const found = source.indexOf(end, from)
  if (found < 0) throw new SyntaxError('XML ends too early')
  return found + end.length
}

function decode(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(#x[\da-fA-F]{1,6}|#\d{1,7}|\w+)?(;?)/g, (whole, name: string | undefined, end) => {
    const char = name === undefined || end === '' ? undefined : (NAMED.get(name) ?? fromNumber(name))
    if (char === undefined) throw new SyntaxError(`XML has an unknown entity ${whole}`)
    return char
  })
}

function fromNumber(name: string): string | undefined {
  if (!name.startsWith('#')) return undefined
  const code = name[1] === 'x' ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10)
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined
}
