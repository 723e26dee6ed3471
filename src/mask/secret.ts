/**
 * Tells whether a key names a secret: it ends in a secret word, in any spelling (`auth_token`, `jwtSecret`,
 * `PASSWORDS`, `apikey`, `password2`). `token-ttl`, `keyspace` and `password-file` end in something else.
 */
export function namesSecret(key: string): boolean {
  // Only the end matters, so a hostile key of a megabyte costs no more than a short one.
  const end = key.length > 96 ? key.slice(-96) : key
  const joined = end
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+|\d{1,96}$/gu, '')
  return SECRET.test(joined) || (/(?:pass|pw|psk|creds?)$/.test(joined) && SHORT.has(lastWord(end)))
}

/** A key that is only `key` takes its meaning from the table it stands in: `[api] key = …`, `secret.key = …`. */
export function namesSecretIn(table: string, key: string): boolean {
  return /^keys?$/i.test(key) && /(?:api|secret|access|private)$/i.test(table)
}

/**
 * Numbers that only count or limit secrets stay readable (`max-tokens = 4096`), and so do those of `pass`,
 * which also means a run.
 */
export function namesCount(key: string): boolean {
  return COUNT.has(words(key)[0] ?? '') || lastWord(key) === 'pass'
}

/**
 * Inside a table that is named like a secret, everything is one, except what plainly describes it:
 * `[token] ttl = "1h"` and `[credentials] file = "/etc/x"` stay.
 */
export function namesAttribute(key: string): boolean {
  return ATTRIBUTE.has(lastWord(key))
}

// `access-key-id` identifies and does not open anything: it ends in `id`, and stays.
const SECRET = new RegExp(
  '(?:password|passwd|pwd|passphrase|passcode|secret|token|credential|' +
    '(?:api|secret|access|private|auth|encryption|signing|account|shared|master|hmac)key|' +
    '(?:user|db|root|admin|smtp|ldap|auth|proxy|require|key|store)pass)s?$',
)

/** Words too short to be found inside a run of letters: `bypass` and `sacred` are none of ours. */
const SHORT = new Set(['pass', 'pw', 'psk', 'cred', 'creds'])

const COUNT = new Set(['max', 'min', 'maximum', 'minimum', 'num', 'total', 'count', 'limit'])

const ATTRIBUTE = new Set(
  (
    'ttl timeout expiry expires expiration lifetime age duration interval period refresh rotation length size ' +
    'count limit min max enabled disabled required type kind algorithm alg header prefix format provider ' +
    'backend file path dir directory folder port host hostname address endpoint url region version level mode policy strength cost ' +
    'rounds iterations attempts retries rate burst capacity'
  ).split(' '),
)

function words(key: string): string[] {
  return key
    .replace(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, '$1 ')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

function lastWord(key: string): string {
  return words(key.length > 96 ? key.slice(-96) : key).at(-1) ?? ''
}
