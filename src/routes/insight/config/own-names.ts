import type { NodeInfo } from '../../../kit/answers.ts'

/** Stands for a name in a text. Canonical TOML has no control characters, so that it occurs nowhere else. */
const NAME = '\x01'
const ADDRESS = '\x02'
const GRPC = '\x03'
const HTTP = '\x04'

const WORD = '[\\p{L}\\p{N}_]'

/** Replaces a node's id, host name, address and ports by placeholders, as whole words and whole numbers only. */
export function withoutOwnNames(id: string, node: NodeInfo | null): (text: string) => string {
  const own = new Map<string, string>()
  const add = (name: string, placeholder: string) => {
    if (name !== '' && name !== '0' && !own.has(name)) own.set(name, placeholder)
  }
  add(id, NAME)
  if (node) {
    add(node.hostName, NAME)
    add(node.hostIp, ADDRESS)
    add(String(node.grpcPort), GRPC)
    add(String(node.httpPort), HTTP)
  }
  // The longest first: `db-4.example.com` before `db-4`.
  const names = [...own.keys()].sort((a, b) => b.length - a.length)
  const pattern = new RegExp(`(?<!${WORD})(?:${names.map(wholeName).join('|')})(?!${WORD})`, 'gu')
  return (text) => text.replace(pattern, (name) => own.get(name)!)
}

/** A pattern for a name; of a number, what follows a decimal point is a part. */
function wholeName(name: string): string {
  const literal = name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return /^[\d.]+$/.test(name) ? `(?<!\\d\\.)${literal}(?!\\.\\d)` : literal
}
