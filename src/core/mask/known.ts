/** A part of a text, from `start` up to and without `end`. */
export interface Span {
  readonly start: number
  readonly end: number
  /** Set when it is what is inside a list or a table, of which not everything need be secret. */
  readonly list?: boolean
}

export const PEM_BEGIN = /-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----/
export const PEM_END = /-----END [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----/

/**
 * Tokens whose issuer gave them a distinctive form, so that scanners find them. Each is long enough after its
 * prefix that no word is mistaken for one.
 */
const TOKENS = new RegExp(
  `(?<![A-Za-z\\d_])(?:${[
    // GitHub, GitLab, npm, PyPI, RubyGems, Docker Hub
    'gh[oprsu]_[A-Za-z\\d]{16,}',
    'github_pat_\\w{20,}',
    'gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[\\w-]{16,}',
    'npm_[A-Za-z\\d]{20,}',
    'pypi-(?:AgE[\\w-]{8,}|[\\w-]{32,})',
    'rubygems_[\\da-f]{32,}',
    'dckr_[po]at_[\\w-]{20,}',
    // Slack, Stripe, Square, Shopify, SendGrid, Mailgun, Twilio
    'xox[a-z]-[\\w-]{10,}',
    'xapp-[\\w-]{10,}',
    '[prs]k_(?:live|test)_[A-Za-z\\d]{8,}',
    'whsec_[\\w+/=]{16,}',
    'sq0(?:atp|csp)-[\\w-]{20,}',
    'shp(?:at|ca|pa|ss)_[\\da-fA-F]{24,}',
    'SG\\.[\\w-]{16,}\\.[\\w-]{16,}',
    'key-[\\da-f]{32}',
    'SK[\\da-f]{32}',
    // Google, Azure AD, Amazon session keys, DigitalOcean, Atlassian, Heroku, Databricks
    'AIza[\\w-]{30,}',
    'ya29\\.[\\w-]{20,}',
    'GOCSPX-[\\w-]{20,}',
    'do[opr]_v1_[\\da-f]{32,}',
    'ATATT3[\\w=-]{20,}',
    'HRKU-[\\w-]{30,}',
    'NRAK-[A-Z\\d]{16,}',
    'dapi[\\da-f]{32}',
    // Vault, Grafana, Anthropic, OpenAI, Hugging Face, age, Telegram bots
    'hv[bsr]\\.[\\w-]{20,}',
    'gl(?:c|sa)_[\\w+/=-]{20,}',
    'sk-(?:[a-z\\d]{2,8}-){0,3}[\\w-]{20,}',
    'hf_[A-Za-z\\d]{24,}',
    'AGE-SECRET-KEY-1[A-Z\\d]{40,}',
    '\\d{8,10}:AA[\\w-]{33}',
    // Private keys as DER in Base64: PKCS #8 and PKCS #1 of RSA, EC, Ed25519
    'MII[\\w+/]{2,4}IBA(?:DANBgkqhkiG9w0BAQEF|AKC)[\\w+/=]{16,}',
    'MI[GH][\\w+/]{1,4}AgEAMB[AM]GByqGSM49[\\w+/=]{16,}',
    'MHcCAQEEI[\\w+/=]{16,}',
    'MC4CAQAwBQYDK2Vw[\\w+/=]{16,}',
  ].join('|')})`,
  'g',
)

/** Webhook addresses whose path is the credential. */
const WEBHOOKS =
  /hooks\.slack\.com\/(?:services|workflows|triggers)\/([\w/-]{8,})|\/api\/webhooks\/\d{6,24}\/([\w-]{16,})|api\.telegram\.org\/(?:file\/)?bot(\d{6,12}:[\w-]{16,})/g

/** `-----BEGIN` in Base64. Certificates and public keys begin like this, too: the first line is decoded to tell. */
const ENCODED_PEM = /LS0tLS1CRUdJTi[\w+/-]{6,}[\w+/=-]*/g

/** Takes the matches of a pattern. (`matchAll` copies its pattern: that takes longer than most searches.) */
export function eachMatch(pattern: RegExp, text: string, take: (match: RegExpExecArray) => void): void {
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const next = pattern.lastIndex
    take(match)
    pattern.lastIndex = next
  }
}

/** Finds tokens of known form anywhere in a text. */
export function findTokens(text: string, spans: Span[]): void {
  eachMatch(TOKENS, text, ({ index, 0: token }) => push(spans, index, token.length))
}

/** A JWT has three parts, a JWE five; the header begins with `{"` in Base64. */
export function findJwts(text: string, spans: Span[]): void {
  if (!text.includes('eyJ')) return
  // The parts come first: from each `eyJ` on, `-eyJ-eyJ…` would be read to its end.
  eachMatch(PARTS, text, (match) => {
    const end = match.index + match[0].length
    if (text[end] !== '.') return
    const head = HEADER.exec(text.slice(Math.max(match.index, end - 515), end))
    if (head === null) return
    REST.lastIndex = end
    const rest = REST.exec(text)
    if (rest !== null) spans.push({ start: end - head[0].length, end: end + rest[0].length })
  })
}

const PARTS = /[\w-]{9,}/g
const HEADER = /(?<![A-Za-z\d_])eyJ[\w-]{6,}$/
const REST = /\.[\w-]{6,}(?:\.[\w-]*){1,3}/y

export function findWebhooks(text: string, spans: Span[]): void {
  if (!/\/hooks\.slack\.com\/|\/api\/webhooks\/|api\.telegram\.org\//.test(text)) return
  eachMatch(WEBHOOKS, text, (match) => {
    const { length } = match[1] ?? match[2] ?? match[3]!
    push(spans, match.index + match[0].length - length, length)
  })
}

export function findEncodedPem(text: string, spans: Span[]): void {
  if (!text.includes('LS0tLS1CRUdJTi')) return
  eachMatch(ENCODED_PEM, text, ({ index, 0: key }) => {
    if (isEncodedPem(key)) push(spans, index, key.length)
  })
}

/** Whether a text holds a token or a private key of known form. */
export function holdsKnown(text: string): boolean {
  const spans: Span[] = []
  for (const find of [findTokens, findJwts, findWebhooks, findEncodedPem, findPem]) find(text, spans)
  return spans.length > 0
}

function push(spans: Span[], start: number, length: number): void {
  spans.push({ start, end: start + length })
}

function isEncodedPem(text: string): boolean {
  // 76 characters hold the whole first line of any kind of key.
  const head = text.slice(0, Math.min(76, text.length - (text.length % 4)))
  try {
    const line = atob(head.replace(/-/g, '+').replace(/_/g, '/'))
    return !/^-----BEGIN [A-Z\d ]{0,40}(?:CERTIFICATE|PUBLIC KEY|PARAMETERS|REQUEST|CRL)/.test(line)
  } catch {
    return true
  }
}

export function findPem(text: string, spans: Span[]): void {
  if (!text.includes('PRIVATE KEY')) return
  eachMatch(PEM_BEGINS, text, (match) => {
    // What is inside a key is not the beginning of another.
    if (match.index < (spans.at(-1)?.end ?? 0)) return
    PEM_ENDS.lastIndex = match.index + match[0].length
    const end = PEM_ENDS.test(text) ? PEM_ENDS.lastIndex : text.length
    spans.push({ start: match.index, end })
  })
}

const PEM_BEGINS = new RegExp(PEM_BEGIN, 'g')
const PEM_ENDS = new RegExp(PEM_END, 'g')
