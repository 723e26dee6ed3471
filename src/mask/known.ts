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
    // A JWT has three parts, a JWE five; the header begins with `{"` in Base64. Bounded, because `-eyJ-eyJ…` would be
    // read to its end from each of them.
    'eyJ[\\w-]{6,512}\\.[\\w-]{6,}(?:\\.[\\w-]*){1,3}',
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

/** Finds private keys and tokens of known form anywhere in a text. */
export function findKnown(text: string, spans: Span[]): void {
  for (const match of text.matchAll(TOKENS)) push(spans, match.index, match[0].length)
  if (/\/hooks\.slack\.com\/|\/api\/webhooks\/|api\.telegram\.org\//.test(text)) {
    for (const match of text.matchAll(WEBHOOKS)) {
      const { length } = match[1] ?? match[2] ?? match[3]!
      push(spans, match.index + match[0].length - length, length)
    }
  }
  if (text.includes('LS0tLS1CRUdJTi')) {
    for (const match of text.matchAll(ENCODED_PEM))
      if (isEncodedPem(match[0])) push(spans, match.index, match[0].length)
  }
  findPem(text, spans)
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

function findPem(text: string, spans: Span[]): void {
  // Most texts hold none, and two expressions for each of them took a tenth of the time.
  if (!text.includes('PRIVATE KEY')) return
  const begin = new RegExp(PEM_BEGIN, 'g')
  const end = new RegExp(PEM_END, 'g')
  for (let match = begin.exec(text); match !== null; match = begin.exec(text)) {
    end.lastIndex = begin.lastIndex
    const close = end.exec(text)
    const stop = close === null ? text.length : end.lastIndex
    spans.push({ start: match.index, end: stop })
    begin.lastIndex = stop
  }
}
