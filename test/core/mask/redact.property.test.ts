import fc from 'fast-check'
import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { MASK, redact } from '../../../src/core/mask/redact.ts'
import { createConfigReader } from '../../../src/core/node/config.ts'

/** A document is built together with the text it must become, and with the secrets it holds. */
interface Part {
  readonly text: string
  readonly masked: string
  readonly secrets: readonly string[]
}

const SECRET_KEYS = [
  'password',
  'db_passwd',
  'authToken',
  'JWT_SECRET',
  'api-key',
  '"secret.key"',
  "'my credentials'",
  '"old \\u0070wd"',
  'accesskey',
  'password_prod',
]
const PLAIN_KEYS = ['name', 'token-ttl', 'keyspace', 'password-file', '"a b"', 'port', 'secretary']

/** Unlike any other text here, and free of what would need an escape. */
const secretText = fc
  .tuple(fc.integer({ min: 10, max: 99 }), fc.stringMatching(/^[A-Za-z0-9!$%^&*()+ ,;:@/?#é😀-]{0,24}$/u))
  .map(([n, rest]) => `zQ${n}x${rest.trim()}`)
const plainText = fc.stringMatching(/^[a-f ./_-]{0,16}$/)
const blank = fc.constantFrom('', ' ', '\t', '  ')

const quoted = (inside: string, kind: number): [string, string] => {
  if (kind === 0) return [`"${inside}"`, `"${MASK}"`]
  if (kind === 1) return [`'${inside}'`, `'${MASK}'`]
  if (kind === 2) return [`"""\n${inside}\n"""`, `"""${MASK}"""`]
  if (kind === 3) return [`'''${inside}'''`, `'''${MASK}'''`]
  const escaped = Array.from(
    inside,
    (char) => `\\U${char.codePointAt(0)!.toString(16).padStart(8, '0')}`,
  ).join('')
  return [`"${escaped}"`, `"${MASK}"`]
}

const secretValue: fc.Arbitrary<Part> = fc.oneof(
  fc.tuple(secretText, fc.nat(4)).map(([secret, kind]) => {
    const [text, masked] = quoted(secret, kind)
    return { text, masked, secrets: [secret] }
  }),
  fc
    .integer({ min: 700_000, max: 799_999 })
    .map((n) => ({ text: `${n}`, masked: `"${MASK}"`, secrets: [`${n}`] })),
  fc.constantFrom('""', "''", '[]', 'true').map((text) => ({ text, masked: text, secrets: [] })),
  fc.array(secretText, { minLength: 1, maxLength: 3 }).map((secrets) => ({
    text: `[${secrets.map((secret) => `'${secret}'`).join(', ')}]`,
    masked: `[${secrets.map(() => `'${MASK}'`).join(', ')}]`,
    secrets,
  })),
)

const same = (text: string): Part => ({ text, masked: text, secrets: [] })

const plainValue: fc.Arbitrary<Part> = fc.oneof(
  plainText.map((text) => same(`"${text}"`)),
  plainText.map((text) => same(`'''\r\n${text}'''`)),
  fc.integer({ min: 0, max: 65_535 }).map((n) => same(`${n}`)),
  fc.constantFrom('0.5', 'true', '2024-01-02 03:04:05', '1979-05-27', 'inf', '"http://h:80/a@b"').map(same),
  fc
    .array(plainText, { maxLength: 3 })
    .map((texts) => same(`[${texts.map((text) => `"${text}"`).join(',\n  ')}]`)),
  fc.stringMatching(/^pw[0-9]{6}[A-Za-z@%!]{2,8}$/).map((secret) => ({
    text: `"http://user:${secret}@host:80/x"`,
    masked: `"http://user:${MASK}@host:80/x"`,
    secrets: [secret],
  })),
)

const setting = fc
  .oneof(
    fc.tuple(fc.constantFrom(...SECRET_KEYS), secretValue),
    fc.tuple(fc.constantFrom(...PLAIN_KEYS), plainValue),
  )
  .chain(([key, value]) =>
    fc.tuple(blank, blank).map(([a, b]) => ({
      key,
      part: { text: `${a}=${b}${value.text}`, masked: `${a}=${b}${value.masked}`, secrets: value.secrets },
    })),
  )

const inline: fc.Arbitrary<Part> = fc
  .uniqueArray(setting, { selector: ({ key }) => key, maxLength: 4 })
  .map((all) => ({
    text: `{ ${all.map(({ key, part }) => key + part.text).join(', ')} }`,
    masked: `{ ${all.map(({ key, part }) => key + part.masked).join(', ')} }`,
    secrets: all.flatMap(({ part }) => part.secrets),
  }))

const comment = fc.stringMatching(/^[a-f .,_-]{0,20}$/).map((text) => same(`# ${text}`))

const commentedOut = fc
  .tuple(fc.constantFrom('password', 'a.token', 'api_key'), secretText)
  .map(([key, secret]) => ({
    text: `#${key} = '${secret}'`,
    masked: `#${key} = '${MASK}'`,
    secrets: [secret],
  }))

const line = fc.oneof(
  {
    weight: 5,
    arbitrary: setting.map(
      ({ key, part }) =>
        (n: number) =>
          prefixed(`k${n}.${key}`, part),
    ),
  },
  { weight: 2, arbitrary: inline.map((part) => (n: number) => prefixed(`t${n} = `, part)) },
  { weight: 1, arbitrary: fc.constant((n: number) => same(`[table${n}]`)) },
  { weight: 1, arbitrary: fc.constant(() => same('[[list]]')) },
  { weight: 1, arbitrary: comment.map((part) => () => part) },
  { weight: 1, arbitrary: commentedOut.map((part) => () => part) },
)

function prefixed(prefix: string, part: Part): Part {
  return { text: prefix + part.text, masked: prefix + part.masked, secrets: part.secrets }
}

const document = fc
  .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('\n', '\r\n'), fc.boolean(), fc.nat(3))
  .map(([lines, eol, bom, repetitions]) => {
    const parts = lines.map((make, n) => make(n))
    const secrets = parts.flatMap((part) => part.secrets)
    const words = secrets.filter(
      (secret) => /^\w{6,}$/.test(secret) && /\d/.test(secret) && /[a-z]/i.test(secret),
    )
    // Repetitions of words that name nothing else, in separate comments.
    for (const secret of words.slice(0, repetitions)) {
      parts.push({ text: `## Default: ${secret}`, masked: `## Default: ${MASK}`, secrets: [] })
    }
    const start = bom ? '\ufeff' : ''
    return {
      text: start + parts.map((part) => part.text + eol).join(''),
      masked: start + parts.map((part) => part.masked + eol).join(''),
      secrets,
    }
  })

describe('redact', () => {
  it('masks exactly the secrets of any document', async () => {
    await fc.assert(
      fc.asyncProperty(document, async ({ text, masked, secrets }) => {
        const result = redact(text)
        for (const secret of secrets) expect(result).not.toContain(secret)
        expect(result).toBe(masked)
        expect(redact(result)).toBe(result)
        expect(shape(parse(result))).toEqual(shape(parse(text)))
        expect((await createConfigReader(text).read()).text).toBe(result)
      }),
      { numRuns: 500 },
    )
  })

  it('never breaks a text that parses', () => {
    const pieces = fc.array(
      fc.constantFrom(
        ...[
          'a',
          'token',
          '=',
          ' = ',
          '"',
          "'",
          '"""',
          "'''",
          '[',
          ']',
          '{',
          '}',
          ',',
          '.',
          '#',
          '\n',
          '\r\n',
          '\\',
        ],
        ...[
          '\\u0041',
          '1',
          'true',
          'http://u:p@h',
          'password=x',
          ': ',
          '# password = "x"',
          '[secret]\n',
          'k = ',
        ],
      ),
      { maxLength: 30 },
    )
    let parsed = 0
    fc.assert(
      fc.property(pieces, (tokens) => {
        const text = tokens.join('')
        let data: unknown
        try {
          data = parse(text)
        } catch {
          return
        }
        parsed++
        const result = redact(text)
        expect(shape(parse(result))).toEqual(shape(data))
        expect(redact(result)).toBe(result)
      }),
      { numRuns: 5000 },
    )
    expect(parsed).toBeGreaterThan(100)
  })
})

/** Keys and kinds, without what the leaves hold. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shape)
  if (typeof value !== 'object' || value === null || value instanceof Date) return 'leaf'
  return Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, shape(inside)]))
}
