import { LokiError } from './query.ts'

interface SyntaxNode {
  name: string
  from: number
  to: number
  firstChild: SyntaxNode | null
  nextSibling: SyntaxNode | null
}

/** A node of a query's syntax tree, with its text. */
export class Tree {
  readonly name: string
  readonly from: number
  readonly text: string
  /** In text order. */
  readonly children: Tree[] = []

  constructor({ name, from, to, firstChild }: SyntaxNode, source: string) {
    this.name = name
    this.from = from
    this.text = source.slice(from, to)
    for (let child = firstChild; child; child = child.nextSibling) this.children.push(new Tree(child, source))
  }

  child(name: string): Tree | undefined {
    return this.children.find((child) => child.name === name)
  }

  /** All nodes of this name below, but not those inside another one. */
  all(name: string): Tree[] {
    return this.children.flatMap((child) => (child.name === name ? [child] : child.all(name)))
  }
}

/** A string in double quotes has Go's escapes; one in backquotes has none. */
export function unquoted(text: string): string {
  if (text.startsWith('`')) return text.slice(1, -1)
  const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' }
  return text
    .slice(1, -1)
    .replace(/\\(?:(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})|(.))/gs, (all, code, char) => {
      if (char !== undefined) return escapes[char] ?? char
      const number = Number.parseInt(code.slice(1), 16)
      if (number > 0x10ffff) throw new LokiError(`The escape ${all} is not a Unicode character.`)
      return String.fromCodePoint(number)
    })
}

const KNOWN =
  'stream selectors, line filters, json and logfmt without parameters, label filters, drop, keep, count_over_time, rate, bytes_over_time, bytes_rate and sum'

/** A part of a query that is LogQL, but not answered here. */
export function unsupported({ text }: Tree): LokiError {
  return new LokiError(`nodestate does not support ${text}: it knows ${KNOWN}.`)
}
