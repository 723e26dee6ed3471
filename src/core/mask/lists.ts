import { PEM_BEGIN, PEM_END } from './known.ts'
import { isArgument } from './patterns.ts'
import type { Value } from './scan.ts'
import { namesSecret } from './secret.ts'
import { isHarmless } from './value.ts'

const DASH = 45

/**
 * What the strings of a list before a string say about it: an option of a command (`["--password", "x"]`,
 * `["redis-cli", "-a", "x"]`), or the first line of a private key.
 */
export function listReader(toml: string) {
  let last: Value | null = null
  /** The program that the list calls, with its path. */
  let program = ''
  let inPem = false

  /** The string before the next one, and whether that makes the next one a secret. */
  return (value: Value): { option: string; isSecret: boolean } => {
    const before = last
    last = value
    const follows = before !== null && isNextElement(toml, before, value)
    if (!follows) {
      inPem = false
      program = value.text
    }
    const isPem = inPem
    if (value.quote !== '' && value.text.includes('PRIVATE KEY') && PEM_BEGIN.test(value.text)) inPem = true
    if (inPem && PEM_END.test(value.text)) inPem = false
    const option = follows ? before.text : ''
    if (option.charCodeAt(0) !== DASH) return { option, isSecret: isPem }
    return { option, isSecret: isPem || isArgument(option, value.text, program) }
  }
}

/** Whether two strings follow each other in a list: only a comma and comments separate them. */
function isNextElement(toml: string, one: Value, two: Value): boolean {
  if (one.quote === '' || two.quote === '' || two.start - one.end > 4096) return false
  let at = one.end
  while (toml.charCodeAt(at) <= 32) at++
  if (toml[at] !== ',') return false
  return /^\s*,(?:\s|#[^\n]*\n)*$/.test(toml.slice(one.end, two.start))
}

const NAME = /(?:^|\W)(?:name|key|var|variable|env|setting|option|property|parameter)$/i
const VALUE = /(?:^|\W)(?:value|val|default|content|data)$/i

/** Values that another key of their table names: `name = "DB_PASSWORD"` makes the `value` beside it a secret. */
export function namedByOthers(values: readonly Value[]): ReadonlySet<Value> {
  const groups = new Set<number>()
  for (const { group, key, text, quote } of values)
    if (quote !== '' && NAME.test(key) && text.length < 96 && namesSecret(text)) groups.add(group)
  if (groups.size === 0) return NONE
  const isNamed = ({ group, key, text }: Value) =>
    groups.has(group) && VALUE.test(key) && !/^(?:true|false)$/.test(text) && !isHarmless(text)
  return new Set(values.filter(isNamed))
}

const NONE: ReadonlySet<Value> = new Set()
