/**
 * Reports whether a key names a secret: it ends in a secret word, in any spelling (`auth_token`, `jwtSecret`,
 * `PASSWORDS`, `apikey`, `password2`), or in such a word and a listed ending (`password_prod`).
 * `token-ttl`, `keyspace` and `password-file` end in something else.
 */
export function namesSecret(key: string): boolean {
  return nameOf(key).isSecret
}

/** A key that is only `key` takes its meaning from its table: `[encryption] key = …`, `secret.key = …`. */
export function namesSecretIn(table: string, key: string): boolean {
  return isKeyAlone(key) && table !== '' && readName(`${table} ${key}`.slice(-96)).isSecret
}

/** Headers that carry a credential. As settings, they are as often a switch (`authorization = "enabled"`). */
export function namesHeader(name: string): boolean {
  return /(?:^|[^a-z])(?:(?:proxy-?)?authorization|(?:set-?)?cookie2?)$/i.test(name.slice(-32))
}

/** Whether a key is just `key`, `keys` or one of these with a listed ending, such as `key_base64`. */
export function isKeyAlone(key: string): boolean {
  return /^keys?$/.test(nameOf(key).joined)
}

/** A table below which every `key` is a secret, at any depth: `[encryption.at-rest] key = …`. */
export function holdsKeys(table: string): boolean {
  return KEY_TABLE.test(nameOf(table).joined)
}

/**
 * Reports whether a number under this key counts or limits secrets (`max-tokens = 4096`, `window-tokens = 30`,
 * `sharedKeys = 5`). A list of numbers is a count only when a word says so, because `tokens = [1, 2]` lists tokens.
 * A number under password, secret or credential is never a count.
 */
export function namesCount(key: string, inList = false): boolean {
  const name = nameOf(key)
  if (NEVER_COUNTED.test(name.joined)) return false
  return COUNT.has(name.first) || (!inList && /(?:token|key)s$/.test(name.joined))
}

/**
 * Inside a table that is named like a secret, everything is one, except what plainly describes it:
 * `[token] ttl = "1h"` and `[credentials] file = "/etc/x"` stay.
 */
export function namesAttribute(key: string): boolean {
  return ATTRIBUTE.has(words(key.slice(-96)).at(-1) ?? '')
}

const KEY_WORDS =
  'api|secret|access|private|auth|authentication|encryption|encrypt|decryption|decrypt|signing|sign|signature|' +
  'account|shared|master|hmac|license|licence|jwt|jws|jwe|aes|crypto|cipher|subscription|webhook|app'

// `access-key-id` identifies and does not open anything: it ends in `id`, and stays.
const SECRET = endsIn(
  'password|passwd|pwd|passphrase|passcode|secret|token|credential|' +
    // German, French, Spanish, Portuguese, Dutch, Polish, Russian, Chinese, Japanese, Korean
    'passwort|kennwort|motdepasse|contraseña|contrasena|senha|wachtwoord|hasło|пароль|密码|密碼|パスワード|비밀번호|' +
    `(?:${KEY_WORDS})key|secretkeybase|masterauth|basicauth|erlangcookie|` +
    '(?:bind|root|user|db|admin|ldap|smtp|proxy|auth)pw|' +
    '(?:user|db|root|admin|smtp|ldap|auth|proxy|require|key|store)pass',
)

const NEVER_COUNTED = endsIn(
  'passwort|kennwort|пароль|密码|password|passwd|pwd|passphrase|passcode|secret|credential|creds?|pass|pw|psk',
)

/** Unlike `[account]` or `[shared]`, these tables speak of keys and nothing else. */
const KEY_TABLE = endsIn(
  'encryption|decryption|encrypt|decrypt|signing|hmac|jwt|jws|jwe|aes|crypto|cipher|secret|private',
)

/** Words too short to be found inside a run of letters: `bypass` and `sacred` name no secret. */
const SHORT = new Set(['pass', 'pw', 'psk', 'cred', 'creds'])

/** Words that may follow a secret's name without changing what it is. */
const ENDINGS = new Set(
  (
    'prod production live dev development test testing stage staging qa uat sandbox local default ' +
    'old new prev previous current next primary secondary backup main master replica admin root ro rw ' +
    'base pem der jwk json b64 base64 hex raw plain plaintext cleartext text string value content encrypted encoded'
  ).split(' '),
)

const COUNT = new Set(['max', 'min', 'maximum', 'minimum', 'num', 'number', 'total', 'count', 'limit'])

const ATTRIBUTE = new Set(
  (
    'ttl timeout expiry expires expiration lifetime age duration interval period refresh rotation length size ' +
    'issuer audience realm scope scopes claims count limit min max enabled disabled required type kind algorithm alg header prefix format provider ' +
    'backend file path dir directory folder port host hostname address endpoint url region version level mode policy strength cost ' +
    'rounds iterations attempts retries rate burst capacity'
  ).split(' '),
)

/** Whether a text ends in one of these words, or its plural. It is read from its end: a search from its start takes 20 times as long. */
function endsIn(words: string): { test(text: string): boolean } {
  const pattern = new RegExp(`(?<=(?:${words})s?)`, 'y')
  return {
    test(text) {
      pattern.lastIndex = text.length
      return pattern.test(text)
    },
  }
}

/** What a key says. */
interface Name {
  /** Letters and digits only, lower case, without listed endings and trailing numbers. */
  readonly joined: string
  readonly first: string
  readonly isSecret: boolean
}

/** A name is asked for several times, and the nodes of a fleet have the same keys. */
const names = new Map<string, Name>()
/** When there are more, all are forgotten: to drop one at a time costs more than to read names again. */
const MOST_NAMES = 2000

function nameOf(key: string): Name {
  // Only the end matters, so a hostile key of a megabyte costs no more than a short one.
  const end = key.length > 96 ? key.slice(-96) : key
  const known = names.get(end)
  if (known) return known
  const name = readName(end)
  if (names.size >= MOST_NAMES) names.clear()
  names.set(end, name)
  return name
}

function readName(key: string): Name {
  const all = words(key)
  let end = all.length
  while (end > 1 && (ENDINGS.has(all[end - 1]!) || /^v?\d+$/.test(all[end - 1]!))) end--
  // A name made of endings alone, such as `master`, keeps them all.
  if (end === 1 && ENDINGS.has(all[0]!)) end = all.length
  const joined = withoutNumber(all.slice(0, end).join(''))
  const isSecret = SECRET.test(joined) || SHORT.has(withoutNumber(all[end - 1] ?? ''))
  return { joined, first: all[0] ?? '', isSecret }
}

const withoutNumber = (text: string) => text.replace(/\d+$/, '')

function words(key: string): string[] {
  // Nearly all keys are ASCII, where the general way takes five times as long.
  if (/^[\0-\x7f]*$/.test(key))
    return (
      key
        .replace(/([a-z\d])(?=[A-Z])/g, '$1 ')
        .toLowerCase()
        .match(/[a-z\d]+/g) ?? []
    )
  return key
    .normalize('NFKC')
    .replace(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, '$1 ')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}
