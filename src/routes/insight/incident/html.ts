import { MASK, redactText } from '../../../core/mask/redact.ts'
import { visible } from '../../../log/render/visible.ts'

declare const html: unique symbol

/** Text that may stand in a document: only this file makes it, and whatever came from elsewhere is masked and escaped. */
export type Html = string & { readonly [html]: true }

/** Characters of a text that are searched for secrets: what comes after them is not shown either. */
const LONGEST_SEARCHED = 8192

/** A template whose own words are HTML. What it is filled with is text, unless it is HTML already. */
export function markup(words: TemplateStringsArray, ...values: (Html | Html[] | Text | number)[]): Html {
  return words.map((word, i) => word + filling(values[i])).join('') as Html
}

/** Text that was masked and escaped. Distinct from HTML, so that a string by itself is neither. */
export interface Text {
  readonly escaped: string
}

/** A text from a log, a name, a parameter: secrets masked, at most `most` characters, everything in it visible. */
export function text(given: string, most = 1000, secrets?: Set<string>): Text {
  const masked = redactText(given.slice(0, LONGEST_SEARCHED), secrets)
  const isCut = given.length > LONGEST_SEARCHED
  const shown = masked.length > most ? masked.slice(0, most) : isCut ? withoutLastWord(masked) : masked
  const left = masked.length - shown.length + Math.max(0, given.length - LONGEST_SEARCHED)
  const lines = shown.replaceAll('\t', '    ').split('\n').map(visible).join('\n')
  return { escaped: escapeText(left > 0 ? `${lines} [+${left} characters]` : lines) }
}

/** A text whose end was cut: a secret there may have lost the form by which it is known. */
export function withoutLastWord(cut: string): string {
  return cut.replace(/\S*$/, '')
}

/**
 * Masks what was masked elsewhere: a field that was taken from a message has the secret without the words by which it is
 * known. Only what can't be a plain word, a name or a number is masked again.
 */
export function withoutSecrets(document: Html, secrets: Iterable<string>): Html {
  let shown: string = document
  let left = MOST_REPEATED
  for (const secret of secrets) {
    // Cookies are masked as a whole, and their values are taken apart.
    for (const part of secret.split(/[^\w.~+/-]+/)) {
      if (part.length < 8 || part.length > 512 || !/\d/.test(part) || !/[A-Za-z]/.test(part)) continue
      if (left-- > 0) shown = shown.replaceAll(part, MASK)
    }
  }
  return shown as Html
}

/** A document of half a megabyte is searched once for each of them. */
const MOST_REPEATED = 200

/** A link, unless its address is longer than programs take. */
export function anchor(href: string, words: string): Html {
  const escaped = text(href, LONGEST_ADDRESS)
  if (href.length > LONGEST_ADDRESS) return markup`${text(words)}`
  return markup`<a rel="noreferrer" href="${escaped}">${text(words)}</a>`
}

const LONGEST_ADDRESS = 4000

export function joined(parts: readonly Html[]): Html {
  return parts.join('') as Html
}

function filling(value: Html | Html[] | Text | number | undefined): string {
  if (value === undefined) return ''
  if (Array.isArray(value)) return value.join('')
  return typeof value === 'object' ? value.escaped : String(value)
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeText(plain: string): string {
  return plain.replace(/[&<>"']/g, (char) => ENTITIES[char]!)
}
