import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { MASK, redact } from '../../../src/core/mask/redact.ts'

const M = MASK

const KEY = ['-----BEGIN PRIVATE KEY-----', 'MIIEvQIBADAN', '-----END PRIVATE KEY-----'] as const

/** In, out. `=` means unchanged. */
const TABLE: Record<string, [string, string][]> = {
  'keys that name a secret': [
    ['password = "hunter2"', `password = "${M}"`],
    ["passwd = 'hunter2'", `passwd = '${M}'`],
    ['pwd = "x"', `pwd = "${M}"`],
    ['token = "abc"', `token = "${M}"`],
    ['auth_token = "abc"', `auth_token = "${M}"`],
    ['authToken = "abc"', `authToken = "${M}"`],
    ['AuthToken = "abc"', `AuthToken = "${M}"`],
    ['AUTH_TOKEN = "abc"', `AUTH_TOKEN = "${M}"`],
    ['authtoken = "abc"', `authtoken = "${M}"`],
    ['"auth.token" = "abc"', `"auth.token" = "${M}"`],
    ['jwtSecret = "abc"', `jwtSecret = "${M}"`],
    ['PASSWORDS = ["a", \'b\']', `PASSWORDS = ["${M}", '${M}']`],
    ['apikey = "abc"', `apikey = "${M}"`],
    ['api-key = "abc"', `api-key = "${M}"`],
    ['apiKeys = ["abc"]', `apiKeys = ["${M}"]`],
    ['secretkey = "abc"', `secretkey = "${M}"`],
    ['secret_access_key = "abc"', `secret_access_key = "${M}"`],
    ['accesskey = "abc"', `accesskey = "${M}"`],
    ['access-key = "abc"', `access-key = "${M}"`],
    ['privateKey = "abc"', `privateKey = "${M}"`],
    ['private-key = "c:x.pem"', `private-key = "${M}"`],
    ['encryption_key = "abc"', `encryption_key = "${M}"`],
    ['credential = "abc"', `credential = "${M}"`],
    ['passphrase = "a b c"', `passphrase = "${M}"`],
    ['DB_PASS = "abc"', `DB_PASS = "${M}"`],
    ['requirepass = "abc"', `requirepass = "${M}"`],
    ['password2 = "abc"', `password2 = "${M}"`],
    ['password = 12345', `password = "${M}"`],
    ['tokens = [1, 2]', `tokens = ["${M}", "${M}"]`],
    ['password = """\nab\ncd\n"""', `password = """${M}"""`],
    ["password = '''\nab'cd'''", `password = '''${M}'''`],
    ['password = """a"""""', `password = """${M}"""`],
    ['password = "a\\"b#c" # d', `password = "${M}" # d`],
    ['password = 2024-01-02 03:04:05', `password = "${M}"`],
    ['"pass\\u0077ord" = "x"', `"pass\\u0077ord" = "${M}"`],
    ["'my secret' = 'x'", `'my secret' = '${M}'`],
    ['\ufeffpassword = "x"', `\ufeffpassword = "${M}"`],
  ],
  'in every place': [
    ['db.password = "x"', `db.password = "${M}"`],
    ['[a]\r\npassword = "x"\r\nb = 1\r\n', `[a]\r\npassword = "${M}"\r\nb = 1\r\n`],
    ['[[a]]\npassword = "x"\n[[a]]\npassword = "y"', `[[a]]\npassword = "${M}"\n[[a]]\npassword = "${M}"`],
    ['a = { u = "v", password = "x", p = 1 }', `a = { u = "v", password = "${M}", p = 1 }`],
    ['a = [{ token = "x" }, { token = "y" }]', `a = [{ token = "${M}" }, { token = "${M}" }]`],
    ['a = { b.token = "x", c = ["y"] }', `a = { b.token = "${M}", c = ["y"] }`],
    ['[credentials]\nuser = "u"\nkey = "k"', `[credentials]\nuser = "${M}"\nkey = "${M}"`],
    [
      '[auth.token]\nvalue = "u"\nttl = "1h"\non = true',
      `[auth.token]\nvalue = "${M}"\nttl = "1h"\non = true`,
    ],
    ['secret = { value = "x", n = 5 }', `secret = { value = "${M}", n = "${M}" }`],
    ['credentials.alice = ["x"]', `credentials.alice = ["${M}"]`],
    ['[api]\nkey = "x"', `[api]\nkey = "${M}"`],
    ['[[tokens]]\nid = "x"\n[http]\nid = "y"', `[[tokens]]\nid = "${M}"\n[http]\nid = "y"`],
    [
      'passwords = [\n  "a", # one\n  # "old",\n  "b",\n]',
      `passwords = [\n  "${M}", # one\n  # "${M}",\n  "${M}",\n]`,
    ],
    ['tokens = [["a"], ["b"]]', `tokens = [["${M}"], ["${M}"]]`],
  ],
  'what stays': [
    ['token-ttl = "1h"', '='],
    ['keyspace = "k"', '='],
    ['password-file = "/run/secrets/db"', '='],
    ['tokenizer = "standard"', '='],
    ['secretary = "bob"', '='],
    ['bypass = "x"', '='],
    ['compass = "north"', '='],
    ['max-tokens = 4096', '='],
    ['[password]\nmin-length = 8\nmax-tries = 3\npolicy = "strict"', '='],
    ['image = "vault/secret:1.2.3-alpine"', '='],
    ['image = "token:1.2.3-alpine"', '='],
    ['fields = ["password", "token"]', '='],
    ['access-key-id = "AKIA"', '='],
    ['public-key = "abc"', '='],
    ['primary_key = "id"', '='],
    ['key = "row"', '='],
    ['monkey = "row"', '='],
    ['require-password = true', '='],
    ['password = ""', '='],
    ["password = ''", '='],
    ['password = """\n"""', '='],
    ['passwords = []', '='],
    ['passwords = [ # none\n]', '='],
    [`password = "${M}"`, '='],
    ['port = 9000\ninterval = "10s"\ndir = "/var/lib/x"\nratio = 0.5\nat = 2024-01-02', '='],
    ['user = "root"\ndb = "x" # root@localhost', '='],
    ['a = "http://localhost:2379/x@y"', '='],
    ['a = "http://[::1]:80/a@b"', '='],
    ['a = "https://example.com/a:b@c"', '='],
    ['a = "ssh://git@example.com:22/x"', '='],
    ['a = "mailto:bob@example.com, 10:30"', '='],
    ['a = "git@github.com:org/repo.git"', '='],
    ['# The password of the user, see the token section: it tells more.', '='],
    ['# password: required', '='],
    ['# token: how long it is valid', '='],
    ['# if token == "x" then', '='],
    ['# max-tokens = 100', '='],
    ['# password-file = "/etc/p"', '='],
    ['# password = ""', '='],
    ['# ----------------\n# [section]\n# port = 80', '='],
    ['password = "1" # at most 1 retry', `password = "${M}" # at most 1 retry`],
    [
      'password = "root" # the rootless, root-dir, root.x',
      `password = "${M}" # the rootless, root-dir, root.x`,
    ],
    ['password = "root"\nuser = "root"', `password = "${M}"\nuser = "root"`],
    ['password = "postgres"\ndb = "postgres"', `password = "${M}"\ndb = "postgres"`],
    ['password = "swordfish" # Default: swordfish', `password = "${M}" # Default: swordfish`],
    ['password = 12345 # Default: 12345', `password = "${M}" # Default: 12345`],
    ['password = "a1 b2" # Default: a1 b2', `password = "${M}" # Default: a1 b2`],
  ],
  'URLs and data source names': [
    ['a = "postgres://u:p@h/db"', `a = "postgres://u:${M}@h/db"`],
    ['a = "redis://:p@h:6379/0"', `a = "redis://:${M}@h:6379/0"`],
    ['a = "redis://:12/3@h"', `a = "redis://:${M}@h"`],
    ['a = "amqp://u:p@ss@h"', `a = "amqp://u:${M}@h"`],
    ['a = "amqp://u:p/s?s#s@h/x"', `a = "amqp://u:${M}@h/x"`],
    ['a = "http://u:p%40s@h"', `a = "http://u:${M}@h"`],
    ['a = "http://u:@h"', '='],
    ['a = "http://a:b@c,http://d:e@f http://g:h@i"', `a = "http://a:${M}@c,http://d:${M}@f http://g:${M}@i"`],
    ['a = ["http://a:b@c", "http://h:80"]', `a = ["http://a:${M}@c", "http://h:80"]`],
    ["a = '''\nx http://u:p\"w@h\n'''", `a = '''\nx http://u:${M}@h\n'''`],
    ['a = "http://u:p\\u0040w@h/\\t"', `a = "http://u:${M}@h/\\t"`],
    ['a = "x" # http://u:p@h', `a = "x" # http://u:${M}@h`],
    ['a = "u:p@ss@tcp(h:3306)/db?x=y"', `a = "u:${M}@tcp(h:3306)/db?x=y"`],
    ['a = "u:p@/db"', `a = "u:${M}@/db"`],
    ['a = "jdbc:oracle:thin:scott/tiger@h:1521"', `a = "jdbc:oracle:thin:scott/${M}@h:1521"`],
    ['a = "jdbc:mysql://h/db?user=u&password=p&ssl=1"', `a = "jdbc:mysql://h/db?user=u&password=${M}&ssl=1"`],
    ['a = "https://h/x?token=abc"', `a = "https://h/x?token=${M}"`],
    ['a = "host=h user=u password=p dbname=d"', `a = "host=h user=u password=${M} dbname=d"`],
    ['a = "host=h password=\'p q\' x=y"', `a = "host=h password='${M}' x=y"`],
    ['a = "Server=h;User Id=u;Password=p;X=1"', `a = "Server=h;User Id=u;Password=${M};X=1"`],
    ['a = \'{"password": "p", "port": 1}\'', `a = '{"password": "${M}", "port": 1}'`],
    ['a = "password=a,user=b"', `a = "password=${M},user=b"`],
    ['a = "--password=x --port=1"', `a = "--password=${M} --port=1"`],
    ['a = ["--password", "x", "--port", "80"]', `a = ["--password", "${M}", "--port", "80"]`],
    ['a = "run --password x --port 80"', `a = "run --password ${M} --port 80"`],
    ['a = "run --token --port 80"', '='],
    ['a = "x" # curl -H "A: Bearer abcdef0123456789"', `a = "x" # curl -H "A: Bearer ${M}"`],
    ['a = "x" # Bearer authentication-is-required', '='],
    ['a = "Basic dTpw"', `a = "${M}"`],
    ['a = "Basic auth"', '='],
    ['a = "AccountName=x;AccountKey=abc==;E=1"', `a = "AccountName=x;AccountKey=${M};E=1"`],
    ['# access_key: AKIA0123, secret_key: wJal9999', `# access_key: ${M}, secret_key: ${M}`],
    ['# Its secret_key: wJalrXUtnFEMI was', `# Its secret_key: ${M} was`],
    ['# password => "x"', `# password => "${M}"`],
    ['a = """\n-----BEGIN RSA PRIVATE KEY-----\nMII\n"""', `a = """${M}"""`],
    ['authorization = "Bearer abcdefghijklmnop"', `authorization = "${M}"`],
  ],
  repetitions: [
    ['## Default: hunter2\npassword = "hunter2"', `## Default: ${M}\npassword = "${M}"`],
    ['password = "hunter2" # was hunter2, or "hunter2".', `password = "${M}" # was ${M}, or "${M}".`],
    ['password = "s3cr3t-value"\nurl = "x|s3cr3t-value|y"', `password = "${M}"\nurl = "x|${M}|y"`],
    ['# password = "s3cr3t-value"\na = "s3cr3t-value"', `# password = "${M}"\na = "${M}"`],
    ['a = "http://u:hunter2@h" # Default: hunter2', `a = "http://u:${M}@h" # Default: ${M}`],
  ],
  'what is commented out': [
    ['# password = "old"', `# password = "${M}"`],
    ['#password="old"', `#password="${M}"`],
    ["## password = 'old' # why", `## password = '${M}' # why`],
    ['#\tdb.password = "old"', `#\tdb.password = "${M}"`],
    ['# password = old', `# password = ${M}`],
    ['# password = old is what it was', `# password = ${M} is what it was`],
    ['# token:abc', `# token:${M}`],
    ['# token: abc', `# token: ${M}`],
    ['# [auth]\n# secret = "x"\n# port = 1', `# [auth]\n# secret = "${M}"\n# port = 1`],
    ['# [credentials]\n# user = "x"', `# [credentials]\n# user = "${M}"`],
    ['[credentials]\n# user = "x"', `[credentials]\n# user = "${M}"`],
    ['# a = { user = "a", password = "b" }', `# a = { user = "a", password = "${M}" }`],
    ['# passwords = ["a", "b"]', `# passwords = ["${M}", "${M}"]`],
    ...['//', ';', '--', '"', "'", '// "', '>>', '|', '*', '/*', '<!--', 'REM', 'dnl', '12:', '%'].map(
      (mark): [string, string] => [
        `# ${mark} ${KEY.join(`\n# ${mark} `)}\n# port = 1\n`,
        `# ${mark} ${M}\n# ${mark} ${M}\n# ${mark} ${M}\n# port = 1\n`,
      ],
    ),
    // Each line has another mark before it.
    [`# 1 ${KEY[0]}\n# 2 ${KEY[1]}\n# 3 ${KEY[2]}`, `# 1 ${M}\n# ${M}\n# ${M}`],
    [`# "${KEY[0]}\\n" +\n# "${KEY[1]}\\n" +\n# "${KEY[2]}"`, `# "${M}\n# "${M}\n# "${M}"`],
    // Without an end.
    [`# // ${KEY[0]}\n# // ${KEY[1]}\n# // port = 1`, `# // ${M}\n# // ${M}\n# // port = 1`],
    [
      `# dnl ${KEY[0]}\n# dnl ${KEY[1]}\n# dnl see the manual`,
      `# dnl ${M}\n# dnl ${M}\n# dnl see the manual`,
    ],
    [`# 1 ${KEY[0]}\n# 2 ${KEY[1].repeat(4)}\n# see the manual`, `# 1 ${M}\n# ${M}\n# see the manual`],
    [
      `#; ${KEY[0]}\n\n#; ${KEY[1]}\n\n#; ${KEY[2]}\n# see the manual`,
      `#; ${M}\n\n#; ${M}\n\n#; ${M}\n# see the manual`,
    ],
    [
      `# ${KEY[0]}\n# // ${KEY[0]}\n# // ${KEY[1]}\n# // ${KEY[2]}\n# a b`,
      `# ${M}\n# // ${M}\n# // ${M}\n# // ${M}\n# a b`,
    ],
    ['# passwords = [\n#   "a",\n#   "b",\n# ]', `# passwords = [\n#   "${M}",\n#   "${M}",\n# ]`],
    ['# password = """\n# abc\n# def"""\n# port = 1', `# password = """\n#${M}\n#${M}"""\n# port = 1`],
    ['a = 1 # password = "old"', `a = 1 # password = "${M}"`],
    ['# password = "unfinished', `# password = "${M}`],
    ['# passwords = ["a", "b"] are old', `# passwords = [${M}] are old`],
    ['# token = { ttl = "1h", value = "x" }', `# token = { ttl = "1h", value = "${M}" }`],
    ['# a = 1 # passwords = ["a"]', `# a = 1 # passwords = [${M}]`],
    ['# url = "http://u:p@h"', `# url = "http://u:${M}@h"`],
    ['# password = "old"\r\n# x\r\n', `# password = "${M}"\r\n# x\r\n`],
  ],
}

describe('redact', () => {
  for (const [title, rows] of Object.entries(TABLE)) {
    describe(title, () => {
      it.each(rows)('%j', (input, output) => {
        const masked = redact(input)
        expect(masked).toBe(output === '=' ? input : output)
        expect(redact(masked)).toBe(masked)
        parse(input, { integersAsBigInt: 'asNeeded' })
        parse(masked, { integersAsBigInt: 'asNeeded' })
      })
    })
  }

  it('throws without the text when it is no TOML', () => {
    for (const text of [
      'password = "hunter2',
      'hunter2',
      'a = [hunter2',
      'a = {b = 1',
      '[hunter2',
      'a = "x" hunter2',
    ]) {
      expect(() => redact(text)).toThrow(/^The text is not valid TOML\.$/)
    }
  })

  // Each of these takes minutes when a search starts again from the beginning.
  const size = 400_000
  const lines = (line: (i: number) => string) => Array.from({ length: 20_000 }, (_, i) => line(i)).join('\n')
  it.each(
    Object.entries({
      'many secrets, many comments': lines(
        (i) => `k${i}.token = "${'a'.repeat(20)}${i}" # ${'a'.repeat(30)}`,
      ),
      'secrets that end alike': `passwords = [${Array.from({ length: 900 }, (_, i) => `"b${'a'.repeat(i)}"`)}]\n#${'a'.repeat(size)}`,
      'a long secret': `password = "${'ab'.repeat(size / 2)}"\n#${'ab'.repeat(size)}`,
      'deep arrays': `a = ${'['.repeat(size)}${']'.repeat(size)}`,
      'deep keys': `${'a.'.repeat(size)}a = 1`,
      'unfinished tables in comments': lines(() => '#a={'),
      'unfinished strings in comments': lines(() => '#a="""'),
      'pairs without end': `#${'token="'.repeat(size / 7)}`,
      'colons without end': `#${'token:'.repeat(size / 6)}`,
      'colons inside a line': `#x ${'token:'.repeat(size / 6)}`,
      'options without end': `a = "${'--token '.repeat(size / 8)}"`,
      'equals inside a line': `#x ${'token= '.repeat(size / 7)}`,
      'URLs without end': `a = "${'http://a:'.repeat(size / 9)}"`,
      'sources without end': `a = "${'a:b@/'.repeat(size / 5)}"`,
      'tokens without end': `a = "${'-eyJ'.repeat(size / 4)}"`,
      'commands without end': `#${'curl -u '.repeat(size / 8)}`,
      'keys without end': `#${'-----BEGIN PRIVATE KEY-----'.repeat(size / 27)}`,
      'many keys': lines(() => '# -----BEGIN PRIVATE KEY-----\n# MII'),
      'hosts without end': `a = "${'a:b@c@'.repeat(size / 6)}"`,
      'placeholders without end': `a = "token=${'%s{'.repeat(size / 3)}"`,
      'objects without end': `a = '${'{"key":'.repeat(size / 7)}'`,
      'lone keys': `a = '${'"key":"'.repeat(size / 7)}'`,
      'lists without end': `a = '${'["--password","'.repeat(size / 15)}'`,
      'statements without end': `a = "${'identified by '.repeat(size / 14)}"`,
      'escapes without end': `a = "${'\\\\'.repeat(size)}"`,
    }),
  )('is done in time with %s', (_, text) => {
    const masked = redact(text)
    expect(redact(masked)).toBe(masked)
  })
})
