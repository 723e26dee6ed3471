import { LokiError } from './query.ts'

/** The parts of a syntax tree node used here. */
export interface Node {
  name: string
  from: number
  to: number
  firstChild: Node | null
  nextSibling: Node | null
  getChild(name: string): Node | null
}

/** The children of a node, in text order. */
export function children(node: Node): Node[] {
  const found: Node[] = []
  for (let child = node.firstChild; child; child = child.nextSibling) found.push(child)
  return found
}

/** All nodes below a node, optionally only those of one name, in text order. */
export function descendants(node: Node, name?: string): Node[] {
  return children(node).flatMap((child) => {
    if (child.name === name) return [child]
    return name === undefined ? [child, ...descendants(child)] : descendants(child, name)
  })
}

/** A string in double quotes has Go's escapes; one in backquotes has none. */
export function unquoted(text: string): string {
  if (text.startsWith('`')) return text.slice(1, -1)
  const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' }
  return text
    .slice(1, -1)
    .replace(/\\(?:(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})|(.))/gs, (all, code, char) =>
      char === undefined ? character(Number.parseInt(code.slice(1), 16), all) : (escapes[char] ?? char),
    )
}

function character(code: number, text: string): string {
  if (code > 0x10ffff) throw new LokiError(`The escape ${text} is not a Unicode character.`)
  return String.fromCodePoint(code)
}

const KNOWN =
  'stream selectors, line filters, json and logfmt without parameters, label filters, drop, keep, count_over_time, rate, bytes_over_time, bytes_rate and sum'

/** A part of a query that is LogQL, but not answered here. */
export function unsupported(text: string): LokiError {
  return new LokiError(`nodestate does not support ${text}: it knows ${KNOWN}.`)
}
