import { expect, it } from 'vitest'
import { memoryStore } from '../../../../src/store/memory.ts'
import { createApp } from '../../../support/app.ts'

// Secrets as logs have them, each in a record of its own: none may be in the file that is handed on.
const LINDB = [
  (s: string) => `ERROR\ta.go:1\t[A]: request Cookie: session=${s}; theme=dark`,
  (s: string) => `ERROR\ta.go:1\t[A]: posted\t{"body":"{\\"password\\":\\"${s}\\"}"}`,
  (s: string) => `ERROR\ta.go:1\t[A]: posted\t{"body":"{\\"user\\":{\\"password\\":\\"${s}\\"}}"}`,
  (s: string) => `ERROR\ta.go:1\t[A]: started\t{"env":[{"name":"DB_PASSWORD","value":"${s}"}]}`,
  (s: string) => `ERROR\ta.go:1\t[A]: started\t{"argv":["serve","--password","${s}"]}`,
  (s: string) => `ERROR\ta.go:1\t[A]: started\t{"argv":["curl","-u","bob:${s}","http://x"]}`,
  (s: string) => `ERROR\ta.go:1\t[A]: started\t{"encryption":{"key":"${s}"}}`,
  (s: string) => `ERROR\ta.go:1\t[A]: started\t{"jwt":{"key":"${s}"}}`,
  (s: string) => `ERROR\ta.go:1\t[A]: started\t{"encryption.key":"${s}"}`,
  (s: string) => `ERROR\ta.go:1\t[A]: started\t{"jwt.key":"${s}"}`,
  (s: string) => `ERROR\ta.go:1\t[A]: got\t{"headers":{"cookie":"sid=${s}"}}`,
  (s: string) => `ERROR\ta.go:1\t[A]: got\t{"headers":{"cookie":"${s}"}}`,
  (s: string) => `ERROR\ta.go:1\t[A]: got\t{"headers":{"authorization":"${s}"}}`,
  (s: string) => `ERROR\ta.go:1\t[A]: got\t{"headers":{"set-cookie":["sid=${s}"]}}`,
  (s: string) => `ERROR\ta.go:1\t[A]: got Authorization: ${s}`,
  (s: string) => `ERROR\ta.go:1\t[A]: got authorization=${s}`,
  (s: string) => `ERROR\ta.go:1\t[A]: CREATE USER 'bob'@'%' IDENTIFIED BY '${s}'`,
  (s: string) => `ERROR\ta.go:1\t[A]: CREATE USER bob IDENTIFIED WITH mysql_native_password BY '${s}'`,
  (s: string) => `ERROR\ta.go:1\t[A]: ALTER USER bob WITH PASSWORD '${s}'`,
  (s: string) => `ERROR\ta.go:1\t[A]: ALTER ROLE bob PASSWORD '${s}' VALID UNTIL 'x'`,
  (s: string) => `ERROR\ta.go:1\t[A]: SET PASSWORD FOR bob = PASSWORD('${s}')`,
  (s: string) => `ERROR\ta.go:1\t[A]: SET PASSWORD = '${s}'`,
  (s: string) => `ERROR\ta.go:1\t[A]: ALTER LOGIN sa WITH PASSWORD = N'${s}'`,
  (s: string) => `ERROR\ta.go:1\t[A]: stmt\t{"sql":"ALTER USER bob WITH ENCRYPTED PASSWORD '${s}'"}`,
  (s: string) => `ERROR\ta.go:1\t[A]: CREATE USER bob IDENTIFIED BY "${s}"`,
  (s: string) => `ERROR\ta.go:1\t[A]: CREATE USER bob IDENTIFIED BY VALUES '${s}'`,
  (s: string) => `ERROR\ta.go:1\t[A]: CREATE USER bob IDENTIFIED BY ${s}`,
  (s: string) => `ERROR\ta.go:1\t[A]: dump\t{"env":{"PGPASSWORD":"${s}"}}`,
  (s: string) => `ERROR\ta.go:1\t[A]: dump\t{"params":[{"key":"apiToken","value":"${s}"}]}`,
  (s: string) => `ERROR\ta.go:1\t[A]: dump\t{"headers":[["Authorization","${s}"]]}`,
  (s: string) => `ERROR\ta.go:1\t[A]: dump\t{"headers":[{"name":"Authorization","value":"${s}"}]}`,
  (s: string) => `ERROR\ta.go:1\t[A]: dump\t{"cmd":"redis-cli -a ${s}"}`,
  (s: string) => `ERROR\ta.go:1\t[A]: dump\t{"argv":["redis-cli","-a","${s}"]}`,
  (s: string) => `ERROR\ta.go:1\t[A]: dump\t{"argv":["mysql","-p${s}"]}`,
  (s: string) => `ERROR\ta.go:1\t[A]: dump\t{"argv":["serve","--password=${s}"]}`,
  (s: string) => `ERROR\ta.go:1\t[A]: dump\t{"credentials":{"user":"x","value":"${s}"}}`,
  (s: string) => `ERROR\ta.go:1\t[A]: dump\t{"secret":["${s}"]}`,
  (s: string) => `ERROR\ta.go:1\t[A]: dump\t{"data":"password=${s}\\nuser=x"}`,
  (s: string) => `ERROR\ta.go:1\t[A]: dump password="a\\"${s}"`,
  (s: string) => `ERROR\ta.go:1\t[A]: dump {"password":"a\\"${s}"}`,
  (s: string) => `ERROR\ta.go:1\t[A]: env DB_PASSWORD=${s} started`,
  (s: string) => `ERROR\ta.go:1\t[A]: http header X-Api-Key: ${s}`,
  (s: string) => `ERROR\ta.go:1\t[A]: headers map[Authorization:[${s}] Accept:[*/*]]`,
  (s: string) => `ERROR\ta.go:1\t[A]: headers map[Cookie:[sid=${s}]]`,
  (s: string) => `ERROR\ta.go:1\t[A]: struct {User:bob Password:${s} Port:1}`,
  (s: string) => `ERROR\ta.go:1\t[A]: body {\\"password\\":\\"${s}\\"}`,
  (s: string) => `ERROR\ta.go:1\t[A]: cmd ["curl","-u","bob:${s}"]`,
  (s: string) => `ERROR\ta.go:1\t[A]: cmd ['--password', '${s}']`,
  (s: string) => `ERROR\ta.go:1\t[A]: env [{name:"DB_PASSWORD",value:"${s}"}]`,
  (s: string) => `ERROR\ta.go:1\t[A]: env [{"name":"DB_PASSWORD","value":"${s}"}]`,
  (s: string) => `ERROR\ta.go:1\t[A]: encryption.key=${s}`,
  (s: string) => `ERROR\ta.go:1\t[A]: encryption.key: ${s}`,
  (s: string) => `ERROR\ta.go:1\t[A]: {"encryption":{"key":"${s}"}}`,
  (s: string) => `ERROR\ta.go:1\t[A]: jwt.key="${s}"`,
  (s: string) => `ERROR\ta.go:1\t[A]: > Authorization: Digest username="x", response="${s}"`,
  (s: string) => `ERROR\ta.go:1\t[A]: Proxy-Authorization: ${s}`,
  (s: string) => `ERROR\ta.go:1\t[A]: got\t{"req":{"headers":{"Proxy-Authorization":"NTLM ${s}"}}}`,
]
const JSON_LINES = [
  (s: string) => ({ msg: 'x', cookie: `sid=${s}` }),
  (s: string) => ({ msg: `Cookie: session=${s}; a=b`, session: s }),
  (s: string) => ({ msg: 'login', 'request.headers.authorization': s }),
  (s: string) => ({ msg: 'login', body: JSON.stringify({ user: 'x', password: s }) }),
  (s: string) => ({ msg: JSON.stringify({ user: 'x', password: s }) }),
  (s: string) => ({ msg: 'login', body: JSON.stringify({ inner: JSON.stringify({ password: s }) }) }),
  (s: string) => ({ msg: 'x', jwt: { key: s } }),
  (s: string) => ({ msg: 'x', jwt: { signing: { key: s } } }),
  (s: string) => ({ msg: 'x', err: { stack: `Error: bad password '${s}'\n at x` } }),
  (s: string) => ({ msg: 'query', statement: `CREATE ROLE x LOGIN PASSWORD '${s}'` }),
]
const LOGFMT = [
  (s: string) => `msg="Cookie: session=${s}; a=b" session=${s}`,
  (s: string) => `msg=x cookie="sid=${s}"`,
  (s: string) => `msg=x authorization=${s}`,
  (s: string) => `msg=x encryption.key=${s}`,
  (s: string) => `msg=x body="{\\"password\\":\\"${s}\\"}"`,
]

const START = Date.UTC(2026, 10, 16, 3)
const secretOf = (kind: string, i: number) => `zq${kind}${i}x7Kq`
const at = (i: number) => new Date(START + i * 10).toISOString()

const LOGS = {
  'lindb.log': LINDB.map(
    (make, i) => `${at(i).replace('T', ' ').slice(0, 23)}\t${make(secretOf('lindb', i))}\n`,
  ).join(''),
  'json.log': JSON_LINES.map(
    (make, i) => `${JSON.stringify({ time: at(i), level: 'error', ...make(secretOf('json', i)) })}\n`,
  ).join(''),
  'logfmt.log': LOGFMT.map((make, i) => `time=${at(i)} level=error ${make(secretOf('logfmt', i))}\n`).join(
    '',
  ),
}

it('the incident file shows no secret of a log', async () => {
  const app = createApp({ logs: memoryStore(LOGS), config: '' })
  const response = await app.request(
    '/api/v1/log/incident?file=*.log&since=2026-11-16T03:00:00Z&until=2026-11-16T03:01:00Z',
  )
  const html = await response.text()
  expect(response.status).toBe(200)
  expect(html.split('********').length).toBeGreaterThan(LINDB.length)
  for (const [kind, cases] of Object.entries({ lindb: LINDB, json: JSON_LINES, logfmt: LOGFMT }))
    for (const [i, make] of cases.entries()) {
      const secret = secretOf(kind, i)
      expect(html.includes(secret), JSON.stringify(make(secret))).toBe(false)
    }
})

it('what is no secret stays readable', async () => {
  const lines = [
    'authorization: denied for bob',
    'Cookie: missing',
    'the password was changed',
    'PASSWORD EXPIRED for bob',
    'started {"env":[{"name":"PORT","value":"8080"}],"argv":["serve","--port","9000","--name","a b"]}',
    'identified by its name, key: row-17, fields ["password","token"]',
    'cache {Key:row-17 Hits:4}',
  ]
  const log = lines.map((line, i) => `${at(i).replace('T', ' ').slice(0, 23)}\tERROR\ta.go:1\t[A]: ${line}\n`)
  const app = createApp({ logs: memoryStore({ 'a.log': log.join('') }), config: '' })
  const html = await (
    await app.request('/api/v1/log/incident?file=a.log&since=2026-11-16T03:00:00Z&until=2026-11-16T03:01:00Z')
  ).text()
  const shown = html.replaceAll('&quot;', '"')
  for (const line of lines) expect(shown.includes(line), line).toBe(true)
})

it('a configuration shows no secret of SQL and the like', async () => {
  const config = [
    'init = "CREATE USER bob IDENTIFIED BY \'zqSql1x\'"',
    'setup = "ALTER ROLE bob WITH PASSWORD \'zqSql2x\'"',
    "# ALTER USER bob IDENTIFIED BY 'zqSql3x'",
    'body = \'{"encryption":{"key":"zqSql4x"},"env":[{"name":"DB_PASSWORD","value":"zqSql5x"}]}\'',
    'command = \'["curl","-u","bob:zqSql6x"]\'',
    'redis = "requirepass zqSql7x"',
  ].join('\n')
  const app = createApp({ logs: memoryStore({}), config })
  const { config: shown } = (await (await app.request('/api/v1/config')).json()) as { config: string }
  expect(shown).not.toContain('zqSql')
  expect(shown).toContain("IDENTIFIED BY '********'")
})

it('the incident file is readable: numbers in one piece, stack traces as they were written', async () => {
  const log = `${at(0).replace('T', ' ').slice(0, 23)}\tERROR\ta.go:1\t[A]: boom\n\tat com.example.Foo(Foo.java:17)\n`
  const json = JSON.stringify({
    time: at(1),
    level: 'error',
    msg: 'x',
    err: { stack: 'Error: y\n\tat z (a.js:1)' },
  })
  const app = createApp({ logs: memoryStore({ 'a.log': log, 'b.log': `${json}\n` }), config: '' })
  const html = await (
    await app.request('/api/v1/log/incident?file=*.log&since=2026-11-16T03:00:00Z&until=2026-11-16T03:01:00Z')
  ).text()
  expect(html).toContain('boom\n    at com.example.Foo(Foo.java:17)')
  expect(html).toContain('stack: Error: y\n    at z (a.js:1)')
  expect(html).not.toContain('\\t')
  expect(html).toContain('.n{white-space:nowrap')
})
