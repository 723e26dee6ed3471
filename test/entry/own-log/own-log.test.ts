import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { safeTarget, withAccessLog } from '../../../src/entry/own-log/access.ts'
import { KnownTokens } from '../../../src/entry/own-log/known-tokens.ts'
import { jsonLine, neutral, origin } from '../../../src/entry/own-log/log-line.ts'
import { openOwnLog } from '../../../src/entry/own-log/own-log.ts'

function collector() {
  const texts: string[] = []
  return { texts, write: (text: string) => void texts.push(text), close: () => {} }
}

/** Time, level, source, tags and message, context: the format of the node state API. */
const LINE =
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\t(DEBUG|INFO|WARN|ERROR)\t[^\t]+:\d+\t(\[[^\]]+\] ?)+: [^\t]*(\t\{.*\})?$/

describe('lines', () => {
  it('have the five fields, the module and the local time', async () => {
    const out = collector()
    const log = openOwnLog('debug', out)
    const site = origin('entry/x.ts', 'Server', 'Start')
    const before = Date.now()
    log.info(site, 'hello {name}', { port: 9000 })
    log.warn(site, 'no context')
    log.debug(site, 'd')
    log.error(site, 'e')
    expect(out.texts.join('').split('\n')).toHaveLength(2)
    await turn()
    expect(out.texts).toHaveLength(2)
    const lines = out.texts.join('').split('\n')
    expect(lines.pop()).toBe('')
    for (const line of lines) expect(line).toMatch(LINE)
    const [time, level, source, message, context] = lines[0]!.split('\t')
    const logged = new Date(time!.replace(' ', 'T')).getTime()
    expect(logged).toBeGreaterThanOrEqual(before)
    expect(logged).toBeLessThanOrEqual(Date.now())
    expect([level, message, context]).toEqual(['INFO', '[Server] [Start]: hello {name}', '{"port":9000}'])
    expect(source).toBe('entry/x.ts:1')
    expect(lines.map((line) => line.split('\t')[1])).toEqual(['INFO', 'WARN', 'DEBUG', 'ERROR'])
    log.close()
  })

  it.each([
    ['debug', 4],
    ['info', 3],
    ['warn', 2],
    ['error', 1],
    ['off', 0],
  ] as const)('at level %s there are %i of four', (level, count) => {
    const out = collector()
    const log = openOwnLog(level, out)
    const site = origin('entry/x.ts', 'X')
    for (const word of ['debug', 'info', 'warn', 'error'] as const) log[word](site, word)
    expect((['debug', 'info', 'warn', 'error'] as const).filter((word) => log.writes(word))).toHaveLength(
      count,
    )
    log.close()
    expect(out.texts.join('').split('\n').length - 1).toBe(count)
  })

  it('cannot be forged: newline, tab, escape and direction marks are shown, not obeyed', () => {
    const out = collector()
    const log = openOwnLog('info', out)
    const evil = 'a\r\n2026-01-01 00:00:00.000\tERROR\tx:1\t[X]: forged\u001b[2J\u009b1m\u2028\u202e'
    log.info(origin('entry/x.ts', 'X'), evil, { evil })
    log.close()
    const text = out.texts.join('')
    expect(text.split('\n')).toHaveLength(2)
    expect(text.trimEnd()).toMatch(LINE)
    for (const letter of '\r\u001b\u009b\u2028\u202e') expect(text).not.toContain(letter)
    expect(JSON.parse(text.trimEnd().split('\t').at(-1)!)).toEqual({ evil })
    expect(neutral('plain ü 日本')).toBe('plain ü 日本')
  })

  it('as JSON have the same fields, with the context beside them', () => {
    const out = collector()
    const log = openOwnLog('info', out, jsonLine)
    log.warn(origin('entry/x.ts', 'Server', 'Start'), 'a\u2028b', { port: 9000, level: 'forged' })
    log.close()
    const text = out.texts.join('')
    expect(text).not.toContain('\u2028')
    const { time, ...rest } = JSON.parse(text)
    expect(new Date(time).toISOString()).toBe(time)
    expect(rest).toEqual({
      level: 'warn',
      message: 'a\u2028b',
      tags: ['Server', 'Start'],
      source: 'entry/x.ts:1',
      port: 9000,
    })
  })

  it('name modules that exist', () => {
    const root = resolve(import.meta.dirname, '../../../src')
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.ts$/.test(name),
    )
    const named = files.flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/\borigin\('([^']+)'/g)].map((match) => [
        file,
        match[1],
      ]),
    )
    expect(named.length).toBeGreaterThan(4)
    for (const [file, module] of named) expect(module).toBe(file)
  })

  it('of two logs in one process do not mix', () => {
    const [one, two] = [collector(), collector()]
    const [a, b] = [openOwnLog('info', one), openOwnLog('error', two)]
    const site = origin('entry/x.ts', 'X')
    a.info(site, 'for a')
    b.info(site, 'not written')
    b.error(site, 'for b')
    a.close()
    b.error(site, 'for b again')
    b.close()
    expect(one.texts.join('').match(/for \w+/g)).toEqual(['for a'])
    expect(two.texts.join('').match(/for \w+( again)?/g)).toEqual(['for b', 'for b again'])
  })
})

describe('access log', () => {
  it('writes one line per request with method, target, status and time', async () => {
    const out = collector()
    const log = openOwnLog('info', out)
    const fetch = withAccessLog(async () => new Response('x', { status: 404 }), log)
    const response = await fetch(
      new Request('http://h/api/v1/log/view?file=a%0Ab&size=5', { method: 'HEAD' }),
      {},
    )
    expect(response.status).toBe(404)
    log.close()
    expect(out.texts.join('')).toMatch(
      /\tINFO\tentry\/own-log\/access\.ts:1\t\[Server\] \[Request\]: HEAD \/api\/v1\/log\/view\?file=a%0Ab&size=5 404\t\{"ms":[\d.]+\}\n$/,
    )
  })

  it('is not even there when requests are not logged', () => {
    const log = openOwnLog('warn', collector())
    const fetch = () => new Response()
    expect(withAccessLog(fetch, log)).toBe(fetch)
    log.close()
  })

  it.each([
    ['http://h/a?token=abc&x=1', null, '/a?token=***&x=1'],
    ['http://h/a?x=1&access_token=abc', null, '/a?x=1&access_token=***'],
    ['http://h/a?Password=abc#f', null, '/a?Password=***#f'],
    ['http://h/s3cr3t/x?q=s3cr3t', 's3cr3t', '/***/x?q=***'],
    ['http://h/?q=a%2Fb', 'a/b', '/?q=***'],
    ['http://h', null, '/'],
    ['http://h/api/v1/log/view?file=keyspace.log', null, '/api/v1/log/view?file=keyspace.log'],
    ['http://h/?tok%65n=abc', null, '/?tok%65n=***'],
    ['http://h/%733cr3t?q=s%33cr3%74', 's3cr3t', '/***?q=***'],
    ['http://h/?q=%25733cr3t&x=%2525733cr3t', 's3cr3t', '/?q=***&x=***'],
    ['http://h/?q=s3cr3ts3cr3%74s3cr3t', 's3cr3t', '/?q=*********'],
    ['http://h/?q=a%2fb&r=a%2Fb&s=%61/%62', 'a/b', '/?q=***&r=***&s=***'],
    ['http://h/?q=%e2%28%zz%', 's3cr3t', '/?q=%e2%28%zz%'],
    [`http://h/${'x'.repeat(5000)}`, null, `/${'x'.repeat(1023)}…`],
  ])('the target of %s with token %s', (url, token, target) => {
    expect(safeTarget(url, new KnownTokens(token, null))).toBe(target)
  })

  it('stay cheap when they are hostile', () => {
    // It took eight seconds when each `?` was followed to the end; the runner's limit catches that.
    for (let i = 0; i < 20; i++)
      expect(safeTarget(`http://h/${'?'.repeat(15_000)}=`, null)).toHaveLength(1025)
    expect(safeTarget(`http://h/?a?token=s3cret${'?'.repeat(15_000)}`, null)).toBe('/?a?token=***')
  })
})
