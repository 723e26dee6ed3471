import { eachMatch, findEncodedPem, findJwts, findPem, findTokens, findWebhooks, type Span } from './known.ts'
import { MASK } from './mask.ts'
import { findPairs, type Setting } from './pairs.ts'
import { quotedAt } from './quoted.ts'
import { namesHeader, namesSecret } from './secret.ts'
import { findSources, findUrls } from './urls.ts'
import { isHarmless } from './value.ts'

export type { Span } from './known.ts'

/** What a text has, as bits. A kind of secret is searched for only where the text has what it takes. */
const HAS = {
  /** `=` or `:`. */
  sign: 2,
  at: 4,
  element: 8,
  dash: 16,
  blank: 32,
  /** As many letters, digits and signs in a row as the shortest token has. */
  run: 64,
  /** A dash at the beginning, or behind a blank or a quote. */
  option: 128,
} as const

const RUN = 1
const SHORTEST_TOKEN = 15

const CLASSES = new Uint8Array(128)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+/.~') mark(char, RUN)
mark('=', RUN | HAS.sign)
mark(':', RUN | HAS.sign)
mark('-', RUN | HAS.dash)
mark('@', HAS.at)
mark('<', HAS.element)
for (const char of ' \t\n\v\f\r"\'`') mark(char, HAS.blank)

function mark(char: string, bits: number): void {
  CLASSES[char.charCodeAt(0)] = bits
}

function featuresOf(text: string): number {
  let found = 0
  let before: number = HAS.blank
  let run = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    // There are blanks beyond ASCII, too.
    const bits = code < 128 ? CLASSES[code]! : HAS.blank
    run = (bits & RUN) === 0 ? 0 : run + 1
    if (run === SHORTEST_TOKEN) found |= HAS.run
    if ((bits & HAS.dash) !== 0 && (before & HAS.blank) !== 0) found |= HAS.option
    found |= bits
    before = bits
  }
  return found
}

/** Adds the secrets of one kind in a text to `spans`. */
type Finder = (text: string, spans: Span[], setting: Setting) => void

/**
 * The secrets that free text carries by its own form: private keys and tokens of known form, passwords in URLs, data
 * source names and commands, and values that are given a secret name (`?token=x`, `password='x'`, `token: x`).
 */
export function findTraces(text: string, setting: Setting): readonly Span[] {
  const has = featuresOf(text)
  let all = NOTHING
  for (const [needs, find] of FINDERS) {
    if ((has & needs) !== needs) continue
    const spans: Span[] = []
    find(text, spans, setting)
    if (spans.length > 0) all = all.concat(spans)
  }
  return all.length === 0 ? all : all.filter((span) => isSecret(text, span))
}

const NOTHING: readonly Span[] = []

function isSecret(text: string, { start, end }: Span): boolean {
  return end > start && !(end - start === MASK.length && text.startsWith(MASK, start))
}

/** Reports whether a text is a secret as a whole, whatever its key is called: a private key, an HTTP credential. */
export function isSecretText(text: string): boolean {
  if (text.includes('-----BEGIN ') && /-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY/.test(text)) return true
  const [, scheme, value] = /^(basic|bearer|token) ([^\s*]{4,})$/i.exec(text) ?? []
  if (scheme === undefined || value === undefined || isHarmless(value)) return false
  return scheme.toLowerCase() === 'basic' ? isBasic(value) : value.length >= 16
}

/** Reports whether a command's argument is an option whose value, the next argument, is a secret: `--password`. */
export function isSecretOption(text: string): boolean {
  return text.length < 96 && /^--?[a-z][\w.-]*$/i.test(text) && namesSecret(text)
}

/** Where the password begins in the argument after curl's `-u`: `user:password`. `1000:1000` is a user and a group. */
export function passwordInUser(option: string, value: string): number | null {
  if (option === '' || !/^(?:-u|-U|--user|--proxy-user)$/.test(option) || /^\d+:\d+$/.test(value)) return null
  const colon = value.indexOf(':')
  return colon > 0 && colon < value.length - 1 ? colon + 1 : null
}

/** RFC 7617: user and password, separated by a colon, in Base64. */
function isBasic(value: string): boolean {
  try {
    return atob(value).includes(':')
  } catch {
    return false
  }
}

/** Finds what a pattern ends with, its last group, wherever that is a secret. */
function ends(pattern: RegExp, counts: (match: RegExpExecArray, setting: Setting) => boolean): Finder {
  return (text, spans, setting) =>
    eachMatch(pattern, text, (match) => {
      const end = match.index + match[0].length
      if (counts(match, setting)) spans.push({ start: end - match.at(-1)!.length, end })
    })
}

const findOptions = ends(
  /(?<=^|[\s"'`])(--?[a-z][\w.-]{1,94})[ \t]{1,8}(?=[^\s-])(\S+)/gi,
  ([, option, value], { inComment }) => {
    // In a comment, the word after an option is prose (`--token is required`) unless it looks like a value.
    const isProse = inComment && /^[A-Za-z]?[a-z]*\W?$/.test(value!)
    return isSecretOption(option!) && !isHarmless(value!) && !isProse
  },
)

/** A program that takes a password in a short option: its name, and the option with the password. */
function command(name: RegExp, words: readonly string[], option: RegExp, most = 512): Finder {
  return (text, spans) => {
    if (!words.some((word) => text.includes(word))) return
    // The option comes first: from each name on, the text would be read to the next option.
    eachMatch(option, text, (match) => {
      const end = match.index + match[0].length
      const low = Math.max(spans.at(-1)?.end ?? 0, match.index - most - 16)
      const before = text.slice(low, match.index)
      const called = words.some((word) => before.includes(word))
        ? before.slice(startOfCommand(before)).search(name)
        : -1
      if (called === -1 || isHarmless(match[1]!)) return
      spans.push({ start: end - match[1]!.length, end })
    })
  }
}

function startOfCommand(text: string): number {
  return Math.max(text.lastIndexOf('\n'), text.lastIndexOf('|'), text.lastIndexOf(';')) + 1
}

const findCurl = command(
  /\bcurl\b/,
  ['curl'],
  /\s(?:-[uU]\s{0,4}|--(?:proxy-)?user(?:=|\s{1,4}))["']?[^\s:"']{1,128}:([^\s"']+)/g,
)
const findMysql = command(
  /\b(?:mysql\w{0,8}|mariadb[\w-]{0,8})\b/,
  ['mysql', 'mariadb'],
  /\s-p["']?([^\s"']+)/g,
)
const findRedis = command(/\bredis-cli\b/, ['redis-cli'], /\s-a\s{1,4}["']?([^\s"']+)/g)
const findSshpass = command(/\bsshpass\b/, ['sshpass'], /\s-p\s{0,4}["']?([^\s"']+)/g, 64)

const findBearers = ends(
  /\b(?:bearer|basic|token|apikey) {1,4}([\w.~+/=-]{16,})/gi,
  ([, value]) => /\d/.test(value!) || isBasic(value!),
)

/** `<password>x</password>`. */
const findElements = ends(
  /<([\w:.-]{1,64})(?: [^<>]{0,256})?>([^<>]{1,512})(?=<\/\1>)/g,
  ([, name, value]) => namesSecret(name!) && !isHarmless(value!) && value!.trim() !== '',
)

/** The cookies of a header: `Cookie: session=x; b=y`. */
const findCookies = ends(
  /\b(?:set-)?cookie2?: {0,4}([\w.-]{1,64}=[^\r\n"'`]{4,4096})/gi,
  ([, value]) => !isHarmless(value!),
)

/** Finds what stands behind a pattern: a string, or with `word` a word too. */
function behind(
  pattern: RegExp,
  counts: (match: RegExpExecArray, value: string) => boolean,
  word?: 'word',
): Finder {
  return (text, spans) =>
    eachMatch(pattern, text, (match) => {
      const start = match.index + match[0].length
      let span = quotedAt(text, start)
      if (span === null && word === undefined) return
      BEHIND.lastIndex = start
      span ??= { start, end: BEHIND.test(text) ? BEHIND.lastIndex : start }
      const value = text.slice(span.start, span.end)
      if (value !== '' && !isHarmless(value) && counts(match, value)) spans.push(span)
    })
}

const BEHIND = /[^\s"'`;,()]+/y
const isWord = (value: string) => /^[a-z]+$/i.test(value)

/** Statements that databases log: `IDENTIFIED BY 'x'`, `PASSWORD FOR bob = 'x'`, Redis' `requirepass x`. */
const findStatements = behind(
  /\b(?:identified\s{1,8}(?:(?:with|via)\s{1,8}["'`]?[\w-]{1,64}["'`]?\s{1,8})?(?:by|as|using)\s{1,8}(?:(?:values|password)\s{0,8}\(?\s{0,8})?|password\s{1,8}for\s{1,8}\S{1,128}\s{0,8}(?:=|\bto\b)\s{0,8}(?:password\s{0,4}\(\s{0,4})?|(?:requirepass|masterauth)["']?\s{1,8})/gi,
  ({ 0: words, index, input }, value) => {
    if (!isWord(value) || !/\w/.test(input[index + words.length]!)) return true
    // `identified by its name` is prose, `IDENTIFIED BY tiger` is Oracle's.
    return /^(?:IDENT|[rm])/.test(words) && !/^(?:random|values|externally|globally)$/i.test(value)
  },
  'word',
)

/** A name and a string without a sign between them: `PASSWORD 'x'`, `"AUTH" "x"`. */
const findStrings = behind(
  /(?<![\w-])([a-z][\w-]{1,48})["']?(?:[ \t]{1,8}|[ \t]{0,4}\([ \t]{0,4})(?=[bneru]?\\{0,7}["'`])/gi,
  ([text, name], value) =>
    (namesSecret(name!) || text === 'AUTH" ') &&
    !(namesSecret(value) && isWord(value)) &&
    !/^[,:)\s]/.test(value),
)

const NAMING = '(?:name|key|var|variable|env|setting|option|property|parameter)'
const VALUING = '(?:value|val|default|content|data)'
const QUOTE = '\\\\{0,7}["\'`]?'

/** The value beside a name: `{"name":"DB_PASSWORD","value":"x"}`, in either order. */
const findNamed = behind(
  new RegExp(
    `(?<![\\w-])${NAMING}${QUOTE}\\s{0,4}[:=]\\s{0,4}${QUOTE}([\\w.-]{1,96})${QUOTE}\\s{0,4}[,;]\\s{0,4}${QUOTE}${VALUING}${QUOTE}\\s{0,4}[:=]\\s{0,4}`,
    'gi',
  ),
  ([, name], value) => (namesSecret(name!) || namesHeader(name!)) && !/^(?:true|false|null)$/.test(value),
  'word',
)

function findNamedBefore(text: string, spans: Span[]): void {
  eachMatch(NAMED_BEFORE, text, (match) => {
    const span = quotedAt(text, match.index + match[1]!.length)
    if (span === null || span.start === span.end) return
    NAME_AFTER.lastIndex = span.end
    const [, name] = NAME_AFTER.exec(text) ?? []
    if (name !== undefined && (namesSecret(name) || namesHeader(name))) spans.push(span)
  })
}

const NAMED_BEFORE = new RegExp(
  `((?<![\\w-])${VALUING}${QUOTE}\\s{0,4}[:=]\\s{0,4})(?=\\\\{0,7}["'\`])`,
  'gi',
)
const NAME_AFTER = new RegExp(
  `${QUOTE}\\s{0,4}[,;]\\s{0,4}${QUOTE}${NAMING}${QUOTE}\\s{0,4}[:=]\\s{0,4}${QUOTE}([\\w.-]{1,96})`,
  'iy',
)

/** Arguments of a command as a list: `["--password","x"]`, `["curl","-u","bob:x"]`; a header and its value. */
function findArguments(text: string, spans: Span[]): void {
  eachMatch(ARGUMENT, text, (match) => {
    const [whole, , option] = match as unknown as [string, string, string]
    const span = quotedAt(text, match.index + whole.length)
    if (span === null || span.start === span.end) return
    const value = text.slice(span.start, span.end)
    const password = passwordInUser(option, value)
    if (password !== null) spans.push({ start: span.start + password, end: span.end })
    else if (namesHeader(option) && !isHarmless(value)) spans.push(span)
    else if (isArgument(option, value, programBefore(text, match.index))) spans.push(span)
    else if (/^-p./.test(value) && /(?:mysql|mariadb)/.test(programBefore(text, span.start)))
      spans.push({ start: span.start + 2, end: span.end })
  })
}

const ARGUMENT = /(\\{0,7}["'`])([\w./-]{2,96})\1\s{0,4},\s{0,4}(?=\\{0,7}["'`])/g

/** The first string of the list around a place. */
function programBefore(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - 1024), at)
  return /^\[\s*\\*["'`]?([\w./-]{1,128})/.exec(before.slice(before.lastIndexOf('[')))?.[1] ?? ''
}

/** Whether an option of a program makes the next argument a secret. */
export function isArgument(option: string, value: string, program: string): boolean {
  const called = program.slice(-64).split('/').at(-1)!
  const isOption = isSecretOption(option) || SHORT_OPTIONS[called] === option
  return isOption && !value.startsWith('-') && !isHarmless(value)
}

/** Short options of programs, whose next argument is a password. */
const SHORT_OPTIONS: Readonly<Record<string, string>> = {
  'redis-cli': '-a',
  'valkey-cli': '-a',
  'keydb-cli': '-a',
  sshpass: '-p',
  mongo: '-p',
  mongosh: '-p',
  mongodump: '-p',
  ldapsearch: '-w',
  ldapmodify: '-w',
}

const TOLD = /(?<![\w-])([\w-]{2,64}) (?:was|is|used to be|is now|were) (["'`]?)([^\s"'`]{1,256})\2/gi

/** What prose tells: `# the password was hunter2`. A plain word may be anything (`was changed`), so it stays. */
function findTold(text: string, spans: Span[], { inComment }: Setting): void {
  if (!inComment) return
  eachMatch(TOLD, text, (match) => {
    const [, name, quote, word] = match as unknown as [string, string, string, string]
    const value = word.replace(/[.,;:!?)]+$/, '')
    if (!namesSecret(name) || isHarmless(value) || value === '') return
    if (
      quote === '' &&
      (/^[a-z]+$/i.test(value) || !/[\d\p{S}\p{P}]/u.test(value) || /^[a-z]+-[a-z-]+$/i.test(value))
    )
      return
    const end = match.index + match[0].length - (word.length - value.length) - quote.length
    spans.push({ start: end - value.length, end })
  })
}

/** Every kind, and what a text must have for it. */
const FINDERS: readonly (readonly [needs: number, find: Finder])[] = [
  [HAS.run, findTokens],
  [HAS.run, findJwts],
  [HAS.run, findWebhooks],
  [HAS.run, findEncodedPem],
  [HAS.dash, findPem],
  [HAS.sign, findUrls],
  [HAS.at, findSources],
  [HAS.sign, findPairs],
  [HAS.option | HAS.blank, findOptions],
  [HAS.option | HAS.blank, findCurl],
  [HAS.option | HAS.blank, findMysql],
  [HAS.option | HAS.blank, findRedis],
  [HAS.option | HAS.blank, findSshpass],
  [HAS.run | HAS.blank, findBearers],
  [HAS.element, findElements],
  [HAS.sign, findCookies],
  [HAS.blank, findStatements],
  [HAS.blank, findStrings],
  [HAS.sign, findNamed],
  [HAS.sign, findNamedBefore],
  [HAS.blank, findArguments],
  [HAS.blank, findTold],
]
