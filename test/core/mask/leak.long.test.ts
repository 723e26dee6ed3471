import fc from 'fast-check'
import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { MASK, redact } from '../../../src/core/mask/redact.ts'
import { createConfigReader } from '../../../src/core/node/config.ts'
import { NodeFilesShipper } from '../../../src/ship/home/node-files.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { versionKey } from '../../../src/store/segment/configs.ts'
import { createFleet } from '../../support/app.ts'
import { readClock } from '../../support/manual-clock.ts'

/** Secrets that cannot be mistaken for a path, a duration or a name, and occur nowhere else in a document. */
const secret = fc.stringMatching(/^[A-Z][a-z]{2}[0-9]{3}[A-Za-z0-9]{6,30}$/).map((text) => `zq${text}`)
const hex = fc.stringMatching(/^[0-9a-f]{36}$/)
const base64 = (text: string) => btoa(text)

/** A text that holds a secret, and what of it must never be seen. */
interface Carrier {
  readonly text: string
  readonly secret: string
}
const carry = (make: (secret: string) => string, of: fc.Arbitrary<string> = secret) =>
  of.map((text): Carrier => ({ text: make(text), secret: text }))

/** Secrets that their own form gives away, under any key and in prose. */
const byForm = fc.oneof(
  carry((s) => `https://${s}@host/x`),
  carry((s) => `postgres://user:${s}@host:5432/db`),
  carry((s) => `user:${s}@db.example.com/app`),
  carry((s) => `user:${s}@localhost`),
  carry((s) => `u:${s}@tcp(10.0.0.1:3306)/db`),
  carry((s) => `https://h/c/b?sv=2026&sig=${s}%3D`),
  carry((s) => `https://h/c/b?X-Amz-Date=1&X-Amz-Signature=${s}`),
  carry((s) => `https://h/?a=1&access_token=${s}&b=2`),
  carry((s) => `curl -u admin:${s} https://h/`),
  carry((s) => `curl -s --user admin:${s} https://h/`),
  carry((s) => `mysql -u root -p${s} db`),
  carry((s) => `sshpass -p ${s} ssh h`),
  carry((s) => `redis-cli -h h -a ${s} ping`),
  carry((s) => `serve --api-token ${s} --port 1`),
  carry((s) => `serve --api-token=${s} --port=1`),
  carry((s) => `Authorization: Bearer ${s}${s}`),
  carry((s) => `ghp_${s}`, hex),
  carry((s) => `github_pat_${s}`, hex),
  carry((s) => `glpat-${s}`, hex),
  carry((s) => `xoxb-${s}`, hex),
  carry((s) => `sk_live_${s}`, hex),
  carry((s) => `hvs.${s}`, hex),
  carry((s) => `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.${s}`, hex),
  carry((s) => `eyJhbGciOiJIUzI1NiJ9.${s}.sig`, hex),
  carry((s) => base64(`-----BEGIN RSA PRIVATE KEY-----\n${s}\n`), hex).map(({ text, secret }) => ({
    text,
    // What must not be seen is the encoded key, which begins after the first line.
    secret: text.slice(44, 60) || secret,
  })),
  carry((s) => `-----BEGIN PRIVATE KEY-----\\n${s}\\n-----END PRIVATE KEY-----`),
)

const NAMES = [
  ...['password', 'db_passwd', 'authToken', 'JWT_SECRET', 'api-key', 'bindpw', 'masterauth', 'license_key'],
  ...[
    'jwt_key',
    'aes_key',
    'password_prod',
    'secret_key_base',
    'private_key_pem',
    'passphrase',
    'sasl.token',
  ],
  ...['"my secret"', "'access key'", 'credentials.value', 'encryption.key', 'hmac.keys', 'dbPass', 'PSK'],
]
const TABLES = ['encryption', 'auth', 'signing', 'hmac', 'master', 'shared', 'account', 'api', 'db.private']
const PLAIN = ['name', 'note', 'endpoint', 'exec', 'key', 'id', 'a-b']

const quote = fc.constantFrom(
  (text: string) => `"${text}"`,
  (text: string) => `'${text.replaceAll('\\n', ' ')}'`,
  (text: string) => `"""\n${text}"""`,
  (text: string) => `'''${text.replaceAll('\\n', '\n')}'''`,
  (text: string) => `["x", "${text}"]`,
  (text: string) => `{ v = "${text}" }`,
)
const blank = fc.constantFrom('', ' ', '\t', '   ')
const prose = fc.constantFrom('', 'was', 'see', 'default:', 'e.g.', '->', '(old)')

const named = fc
  .tuple(fc.constantFrom(...NAMES), secret, quote, blank)
  .map(([name, secret, q, b]) => ({ lines: [`${name}${b}=${b}${q(secret)}`], secret }))
const tabled = fc
  .tuple(fc.constantFrom(...TABLES), secret, fc.constantFrom('key', 'keys', 'Key', 'key_base64'))
  .map(([table, secret, key]) => ({ lines: [`[${table}]`, `${key} = "${secret}"`], secret }))
const formed = fc
  .tuple(fc.constantFrom(...PLAIN), byForm, quote)
  .map(([name, { text, secret }, q]) => ({ lines: [`${name} = ${q(text)}`], secret }))
const commented = fc.oneof(
  fc
    .tuple(prose, byForm, prose)
    .map(([a, { text, secret }, b]) => ({ lines: [`# ${a} ${text} ${b}`], secret })),
  fc
    .tuple(fc.constantFrom(...NAMES), secret, blank)
    .map(([name, secret, b]) => ({ lines: [`#${b}${name} =${b}"${secret}"`], secret })),
  fc.tuple(fc.constantFrom(...TABLES), secret, fc.boolean()).map(([table, secret, bare]) => ({
    lines: [`# [${table}]`, bare ? `# key = ${secret}` : `# key = "${secret}"`],
    secret,
  })),
  fc
    .tuple(
      fc.array(secret, { minLength: 1, maxLength: 5 }),
      fc.constantFrom('RSA ', 'EC ', 'OPENSSH ', ''),
      fc.boolean(),
      fc.constantFrom('', '//', ';', '--', '"', "'", '> ', '| ', '/* ', 'REM '),
    )
    .map(([body, kind, ends, mark]) => ({
      lines: [
        `# ${mark}-----BEGIN ${kind}PRIVATE KEY-----`,
        ...body.map((line) => `# ${mark}  ${line}`),
        ...(ends ? [`# ${mark}-----END ${kind}PRIVATE KEY-----`] : []),
      ],
      secret: body.at(-1)!,
    })),
)
const carrier = fc.oneof(named, tabled, formed, commented)

/** Each in its own table, so that no key is defined twice. */
const document = fc
  .tuple(fc.array(carrier, { minLength: 1, maxLength: 8 }), fc.constantFrom('\n', '\r\n'), fc.nat(3))
  .map(([carriers, eol, again]) => {
    const lines = carriers.flatMap(({ lines }, n) =>
      lines[0]!.startsWith('[')
        ? [lines[0]!.replace('[', `[t${n}.`), ...lines.slice(1)]
        : [`[t${n}]`, ...lines],
    )
    const secrets = carriers.map(({ secret }) => secret)
    // A token's form is half of it: only whole values are known again without it.
    const whole = carriers.filter(({ lines, secret }) => lines.some((line) => line.includes(`= "${secret}"`)))
    for (const { secret } of whole.slice(0, again)) lines.push(`## Default: ${secret}`)
    return { text: lines.join(eol) + eol, secrets }
  })

describe('no secret leaks', () => {
  it('from any place, in any form', async () => {
    await fc.assert(
      fc.asyncProperty(document, async ({ text, secrets }) => {
        const before = parse(text)
        const masked = (await createConfigReader(text).read()).text
        for (const secret of secrets) expect(masked).not.toContain(secret)
        expect(keysOf(parse(masked))).toEqual(keysOf(before))
        expect(redact(masked)).toBe(masked)
        expect(masked).not.toContain(MASK + MASK)
      }),
      { numRuns: 1500 },
    )
  })

  it('into the bucket, the history of a configuration or a comparison, even if the bucket has it unmasked', async () => {
    await fc.assert(
      fc.asyncProperty(document, document, async (one, two) => {
        const secrets = [...one.secrets, ...two.secrets]
        const written = await shippedTexts([one.text, two.text])
        // As an older or another shipper might have left them.
        const files: Record<string, string> = { 'a/config.toml': one.text, 'b/config.toml': two.text }
        for (const [i, { text }] of [one, two].entries())
          files[`a/${versionKey({ time: 1000 + i, crc: i })}`] = text
        const fleet = createFleet({ store: memoryStore(files), onError: () => {} })
        const shown = await Promise.all(
          [
            '/api/v1/config/compare?node=*',
            '/nodes/a/api/v1/config/history',
            '/nodes/b/api/v1/config/history',
            '/nodes/a/api/v1/config?at=1970-01-01T00:00:01Z',
            '/nodes/a/api/v1/config?at=now',
          ].map(async (path) => (await fleet.request(path)).text()),
        )
        expect(JSON.parse(shown[0]!).nodes).toEqual(['a', 'b'])
        expect(JSON.parse(shown[1]!)).toHaveLength(2)
        for (const secret of secrets)
          for (const text of [...written, ...shown]) expect(text).not.toContain(secret)
      }),
      { numRuns: 200 },
    )
  })
})

/** Everything that a shipper writes of these configurations, one after the other: names and texts. */
async function shippedTexts(texts: readonly string[]): Promise<string[]> {
  const objects = new Map<string, string>()
  let toml = ''
  const reader = createConfigReader(() => toml)
  const shipper = new NodeFilesShipper({
    files: { node: async () => null, config: async () => (await reader.read()).text },
    bucket: {
      names: async () => [],
      get: async () => null,
      put: async (key, bytes) => {
        objects.set(key, new TextDecoder().decode(bytes))
        return ''
      },
    },
    clock: readClock(() => 1000),
    report: () => {},
  })
  for (toml of texts) await shipper.ship()
  expect(objects.has('config.toml')).toBe(true)
  return [...objects].flat()
}

function keysOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(keysOf)
  if (typeof value !== 'object' || value === null || value instanceof Date) return null
  return Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, keysOf(inside)]))
}
