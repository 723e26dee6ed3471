/** An element without its attributes and its namespace: its name, and what is in it as it is written. */
interface XmlElement {
  name: string
  inside: string
}

const ELEMENT = /\s*<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)(?:\s[^<>]*)?(?:\/>|>([\s\S]*?)<\/(?:[\w.-]+:)?\1\s*>)/y
const PROLOG = /^\ufeff?\s*(?:<\?[\s\S]*?\?>)?/

/**
 * The elements in XML as object stores write it: no element has one of its own name in it, and there are neither comments
 * nor CDATA. Throws a SyntaxError where something else is between them: then it was cut, or is not from an object store.
 */
export function elementsIn(xml: string): XmlElement[] {
  const found: XmlElement[] = []
  const end = xml.trimEnd().length
  for (let at = PROLOG.exec(xml)![0].length; at < end; at = ELEMENT.lastIndex) {
    ELEMENT.lastIndex = at
    const match = ELEMENT.exec(xml)
    if (!match) throw new SyntaxError('XML has something other than elements')
    found.push({ name: match[1]!, inside: match[2] ?? '' })
  }
  return found
}

const NAMED = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }))

/** The text of the first element of a name; null if there is none. */
export function textOf(elements: readonly XmlElement[], name: string): string | null {
  const text = elements.find((element) => element.name === name)?.inside
  if (text === undefined) return null
  if (text.includes('<')) throw new SyntaxError(`XML has elements in ${name}`)
  return text.replace(/&(?:#x([\da-fA-F]{1,6})|#(\d{1,7})|(\w*))(;?)/g, (whole, hex, decimal, named, end) => {
    const code = named === undefined ? Number.parseInt(hex ?? decimal, hex ? 16 : 10) : -1
    const char = code >= 0 && code <= 0x10ffff ? String.fromCodePoint(code) : NAMED.get(named)
    if (char === undefined || end === '') throw new SyntaxError(`XML has an unknown entity ${whole}`)
    return char
  })
}
