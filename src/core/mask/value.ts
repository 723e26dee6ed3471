import { namesCount, namesSecret } from './secret.ts'

/**
 * Reports whether a string can't be a secret even under a key that names one: a separator (`split-token = ","`),
 * a duration, a path, or a format string that holds a secret's place (`Bearer %s`, `${DB_PASSWORD}`).
 */
export function isHarmless(text: string): boolean {
  return isSeparator(text) || isDuration(text) || isPath(text) || isFormat(text)
}

/** Reports whether a string may be shown even under a key that names a secret. */
export function isSafeSecret(key: string, text: string): boolean {
  return isHarmless(text) || (namesCount(key, true) && /^\d{1,9}$/.test(text))
}

/** Reports whether a word looks like key material rather than a name: long, with digits between mixed letters. */
export function looksRandom(text: string): boolean {
  if (text.length < 16 || text.length > 4096 || !/^[\w+/=.~-]+$/.test(text)) return false
  if (/^[\da-f]{32,}$/i.test(text)) return true
  // `orders_by_region_2024` is a name: its parts are words or numbers.
  const parts = text.split(/[._/-]/)
  if (parts.every((part) => /^(?:[a-z]*|[A-Z]*|[A-Z][a-z]*|\d{1,8})\d{0,4}$/.test(part))) return false
  return /\d/.test(text) && /[a-z]/i.test(text)
}

/** A user name as people and services have them: `bob`, `jane.doe`, `svc-backup`. */
export function looksLikeUser(text: string): boolean {
  return text.length <= 24 && /^[a-z]{1,16}(?:[._-][a-z]{1,16})*\d{0,3}$/.test(text)
}

function isSeparator(text: string): boolean {
  return text.length <= 8 && /^\s*[\p{P}\p{S}]{0,2}\s*$/u.test(text)
}

const DURATION =
  /^(?:\d{1,6}(?:\.\d{1,3})? ?(?:ns|us|µs|ms|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|months?|y|years?) ?){1,4}$/

function isDuration(text: string): boolean {
  if (text.length > 32 || !/^[\dP]/.test(text)) return false
  return DURATION.test(text) || /^P(?=[\dT])(?:\d{1,6}[YMWD]){0,4}(?:T(?:\d{1,6}[HMS]){1,3})?$/.test(text)
}

/**
 * Base64 can begin with a slash and contain more of them, so every part must look like a file's name: no `+` or `=`,
 * no mixture of cases and digits.
 */
function isPath(text: string): boolean {
  if (text.length > 512 || !/[\\/]/.test(text)) return false
  const root = /^(?:file:\/\/|[A-Za-z]:|~|\.\.?)?[\\/]/.exec(text)?.[0] ?? ''
  const parts = text.slice(root.length).split(/[\\/]/)
  if (!parts.every((part) => /^[\w.@~ -]*$/.test(part) && !looksLikeKey(part))) return false
  const extension = /[\w-]\.[a-z]\w{0,7}$/.test(text)
  if (root === '') return parts.length > 1 && extension && !text.includes(' ')
  return parts[0] !== '' && (parts.length > 1 || extension || root.length > 1)
}

function looksLikeKey(part: string): boolean {
  if (/^[\da-f]{20,}$/i.test(part)) return true
  if (part.length > 24 && !/[._ -]/.test(part)) return true
  return part.length >= 8 && /\d/.test(part) && /[a-z]/.test(part) && /[A-Z]/.test(part)
}

const PLACEHOLDER =
  /%-?\d{0,4}[a-zA-Z]{1,16}\{[\w.:, -]{0,64}\}|%-?[a-zA-Z]|%\{[\w.-]{1,64}\}[a-zA-Z]?|\$\{[\w.-]{1,64}\}|\{\{[\w.$ -]{1,64}\}\}|\{\d{0,2}\}|[<{]([\w. -]{1,64})[>}]|\$(\w{1,64})/g

/** A part of a regular expression that matches any value: `(\S+)`, `[^&]*`, `.*`. */
const WILDCARD = /^\(?(?:\\+[SwWdD]|\.|\[\^?[^\]]{1,16}\])[*+]\??\)?$/

/** Nothing but placeholders, punctuation and the name of an HTTP scheme. A default (`${PW:-x}`) is not a placeholder. */
export function isFormat(text: string): boolean {
  if (text.length <= 32 && WILDCARD.test(text)) return true
  if (text.length > 256 || !/[%{<$]/.test(text)) return false
  let found = false
  const rest = text.replace(PLACEHOLDER, (all, braced?: string, dollar?: string) => {
    const name = braced ?? dollar
    if (name !== undefined && !namesSecret(name)) return all
    found = true
    return ''
  })
  return found && /^[\s\p{P}]{0,16}$/u.test(rest.replace(/^(?:bearer|basic|token|apikey)\b/i, ''))
}
