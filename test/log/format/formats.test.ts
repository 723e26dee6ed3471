import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nodeWith, recordsOf, type ShownRecord } from '../../support/records.ts'
import { FIXTURES, linesOf } from './fixtures.ts'

const REFERENCE = Date.UTC(2026, 10, 15, 12)
const shown = (text: string | Uint8Array, timezone = 'UTC') =>
  recordsOf(text, { timezone, modified: REFERENCE })
/** The only record of a text. */
async function only(text: string, timezone?: string): Promise<ShownRecord> {
  const records = await shown(text, timezone)
  expect(records).toHaveLength(1)
  return records[0]!
}

const AT = '2026-11-15T02:10:00.123Z'
const WHOLE = '2026-11-15T02:10:00.000Z'
const MICRO = '2026-11-15T02:10:00.123456Z'

describe.each<
  [name: string, line: string, format: string, time: string, level: string | null, message: string]
>([
  [
    'zap',
    '{"level":"info","ts":1794708600.123,"caller":"a/b.go:12","msg":"hi","n":1}',
    'json',
    AT,
    'info',
    'hi',
  ],
  ['zap iso', '{"level":"WARN","ts":"2026-11-15T02:10:00.123Z","msg":"hi"}', 'json', AT, 'warn', 'hi'],
  ['pino', '{"level":50,"time":1794708600123,"pid":1,"msg":"hi"}', 'json', AT, 'error', 'hi'],
  [
    'slog',
    '{"time":"2026-11-15T02:10:00.123Z","level":"DEBUG-4","source":{"file":"b.go","line":1},"msg":"hi"}',
    'json',
    AT,
    'debug',
    'hi',
  ],
  [
    'bunyan',
    '{"name":"x","level":60,"msg":"hi","time":"2026-11-15T02:10:00.123Z","v":0}',
    'json',
    AT,
    'fatal',
    'hi',
  ],
  ['zerolog', '{"level":"error","time":1794708600,"message":"hi"}', 'json', WHOLE, 'error', 'hi'],
  ['blanks behind numbers', '{"level": 50 ,"time": 1794708600123 ,"msg":"hi"}', 'json', AT, 'error', 'hi'],
  [
    'nanoseconds',
    '{"level":"error","time":1794708600123456000,"message":"hi"}',
    'json',
    MICRO,
    'error',
    'hi',
  ],
  [
    'log4j',
    '{"instant":{"epochSecond":1794708600,"nanoOfSecond":123000000},"level":"INFO","message":"hi"}',
    'json',
    AT,
    'info',
    'hi',
  ],
  [
    'MongoDB',
    '{"t":{"$date":"2026-11-15T02:10:00.123+00:00"},"s":"I","c":"NETWORK","id":1,"ctx":"x","msg":"hi"}',
    'json',
    AT,
    'info',
    'hi',
  ],
  [
    'MongoDB debug',
    '{"t":{"$date":"2026-11-15T04:10:00.123+02:00"},"s":"D2","c":"-","id":1,"ctx":"x","msg":"hi"}',
    'json',
    AT,
    'debug',
    'hi',
  ],
  [
    'spaces, nested first',
    '{ "a": {"level":"error","x":[1,{"time":2}]}, "b":"\\"level\\":", "level" : "info", "time" : "2026-11-15T02:10:00.123Z", "msg":"hi" }',
    'json',
    AT,
    'info',
    'hi',
  ],
  ['glog', 'I1115 02:10:00.123456   12345 file.go:123] hi', 'glog', MICRO, 'info', 'hi'],
  ['glog with a year', 'E20261115 02:10:00.123456 12345 file.cc:123] hi', 'glog', MICRO, 'error', 'hi'],
  [
    'CockroachDB',
    'W261115 02:10:00.123456 123 1@server/node.go:12 ⋮ [n1,s2] 34 hi',
    'glog',
    MICRO,
    'warn',
    'hi',
  ],
  ['CockroachDB v1', 'F261115 02:10:00.123456 123 server/node.go:12  [n1] hi', 'glog', MICRO, 'fatal', 'hi'],
  ['logfmt', 'time=2026-11-15T02:10:00.123Z level=warn msg="hi" n=1', 'logfmt', AT, 'warn', 'hi'],
  [
    'logfmt quoted',
    'level=error ts="2026-11-15T02:10:00.123Z" caller=a.go:1 msg=hi',
    'logfmt',
    AT,
    'error',
    'hi',
  ],
  ['InfluxDB', 'ts=2026-11-15T02:10:00.123456Z lvl=info msg="hi" log_id=0x', 'logfmt', MICRO, 'info', 'hi'],
  ['zap console', '2026-11-15T02:10:00.123Z\tinfo\ta/b.go:12\thi\t{"n":1}', 'lindb', AT, 'info', 'hi'],
  ['log4j text', '2026-11-15 02:10:00,123 INFO  hi', 'stamped', AT, 'info', 'hi'],
  ['brackets', '[2026-11-15 02:10:00.123] [WARN] hi', 'stamped', AT, 'warn', 'hi'],
  ['PostgreSQL', '2026-11-15 02:10:00.123 UTC [123] ERROR:  hi', 'postgresql', AT, 'error', 'hi'],
  ['PostgreSQL log', '2026-11-15 03:10:00.123 CET [123] bob@db LOG:  hi', 'postgresql', AT, 'info', 'hi'],
  [
    'MySQL',
    '2026-11-15T02:10:00.123456Z 0 [Warning] [MY-010068] [Server] hi',
    'stamped',
    MICRO,
    'warn',
    'hi',
  ],
  ['Redis', '1234:M 15 Nov 2026 02:10:00.123 * hi', 'stamped', AT, 'info', 'hi'],
  ['Redis warning', '1234:S 15 Nov 2026 02:10:00.123 # hi', 'stamped', AT, 'warn', 'hi'],
  ['Elasticsearch', '[2026-11-15T02:10:00,123][ERROR][o.e.n.Node ] [n1] hi', 'stamped', AT, 'error', 'hi'],
  ['ClickHouse', '2026.11.15 02:10:00.123456 [ 77 ] {} <Debug> Server: hi', 'stamped', MICRO, 'debug', 'hi'],
  ['TiDB', '[2026/11/15 10:10:00.123 +08:00] [INFO] [main.go:12] ["hi"]', 'stamped', AT, 'info', '["hi"]'],
  ['Cassandra', 'WARN  [main] 2026-11-15 02:10:00,123 Daemon.java:12 - hi', 'stamped', AT, 'warn', 'hi'],
  ['Neo4j', '2026-11-15 02:10:00.123+0000 INFO  hi', 'stamped', AT, 'info', 'hi'],
  ['Python', '2026-11-15 02:10:00,123 - app.db - CRITICAL - hi', 'stamped', AT, 'fatal', 'hi'],
  ['Ruby', 'E, [2026-11-15T02:10:00.123456 #12] ERROR -- : hi', 'stamped', MICRO, 'error', 'hi'],
  ['nginx', '2026/11/15 02:10:00 [crit] 12#0: hi', 'stamped', WHOLE, 'fatal', 'hi'],
  ['Go log', '2026/11/15 02:10:00 connection error', 'stamped', WHOLE, null, 'connection error'],
  ['syslog', 'Nov 15 02:10:00 db-4 app[12]: hi', 'stamped', WHOLE, null, 'hi'],
  [
    'syslog, one digit',
    'Nov  5 02:10:00 db-4 app[12]: hi',
    'stamped',
    '2026-11-05T02:10:00.000Z',
    null,
    'hi',
  ],
  ['RFC 5424', '<35>1 2026-11-15T02:10:00.123Z db-4 app 12 - - hi', 'stamped', AT, 'error', 'hi'],
  [
    'access log',
    '10.0.0.1 - - [15/Nov/2026:04:10:00 +0200] "GET / HTTP/1.1" 200 5',
    'access',
    WHOLE,
    'info',
    '"GET / HTTP/1.1" 200 5',
  ],
  ['colours', '\x1b[90m2026-11-15 02:10:00.123\x1b[0m \x1b[31mERROR\x1b[0m hi', 'stamped', AT, 'error', 'hi'],
])('%s', (_name, line, _format, when, word, message) => {
  test('tells time, level and message, and a stack trace goes on with the record', async () => {
    const more = ['  at stack (a.js:1)', 'Caused by: java.lang.Error: x', 'goroutine 1 [running]:', '', '\t']
    const records = await shown(`${line}\r\n${more.join('\r\n')}\r\n${line}\n`)
    expect(records).toHaveLength(2)
    for (const { time, level, raw } of records) {
      expect(time).toBe(when)
      expect(level).toBe(word ?? undefined)
      expect(raw).toBeUndefined()
    }
    expect(records[0]!.message.split('\n').slice(0, 4)).toEqual([message, ...more.slice(0, 3)])
    expect(records[1]!.message).toBe(message)
  })
})

describe('the level behind', () => {
  const context = `[${Array.from({ length: 12 }, (_, i) => `key${i}=some words here`).join(' ')}]`
  test.each([
    ['a context of many words', `${context} ERROR a.B - no`, 'error'],
    ['a context of many words, twice', `[main] ${context} ${context} WARN a.B - no`, 'warn'],
    ['a thread that is named after it', '[handler-ERROR-1] INFO a.B - ok', 'info'],
    ['a thread in the same brackets', '[Server thread/WARN]: no', 'warn'],
    ['spaces in brackets', '[ ERROR ] no', 'error'],
    ['a colour in brackets', '[\x1b[31merror\x1b[0m] no', 'error'],
    ['numbers', '[1] (2) 3 <Error> no', 'error'],
    ['JSON that holds one', 'got {"status":"ERROR"} from b', null],
    ['a bracket that stays open', '[main ERROR no', 'error'],
    ['a sentence', 'the last try of the error handler was all right', null],
  ])('%s', async (_, line, level) => {
    const at = '2026-11-15 02:10:00.123'
    const records = await shown(`${at} INFO hi\n${at} ${line}\n`)
    expect(records[1]!.level ?? null).toBe(level)
  })
})

describe('what precedes a message', () => {
  const at = '2026-11-15 02:10:00.123'
  test.each([
    ['MariaDB', ' 3 [Warning] Aborted connection', 'Aborted connection', { thread: '3' }],
    ['MariaDB InnoDB', ' 0 [Note] InnoDB: Using liburing', 'InnoDB: Using liburing', { thread: '0' }],
    [
      'MariaDB, who was refused',
      " 5 [Warning] Access denied for user 'nobody'@'db-4' (using password: YES)",
      "Access denied for user 'nobody'@'db-4' (using password: YES)",
      { thread: '5', user: 'nobody', client: 'db-4' },
    ],
    [
      'MariaDB, who was cut off',
      " 8 [Warning] Aborted connection 8 to db: 'shop' user: 'app' host: '10.0.0.7' (Got timeout)",
      "Aborted connection 8 to db: 'shop' user: 'app' host: '10.0.0.7' (Got timeout)",
      { thread: '8', db: 'shop', user: 'app', client: '10.0.0.7' },
    ],
    [
      'PgBouncer',
      ' UTC [1234] LOG C-0x1: shop/app@10.0.0.7:5123 login',
      'C-0x1: shop/app@10.0.0.7:5123 login',
      { pid: 1234, db: 'shop', user: 'app', client: '10.0.0.7' },
    ],
    [
      'logback',
      ' [pool-1-thread-2] ERROR com.example.App - no',
      'no',
      { thread: 'pool-1-thread-2' },
      'com.example.App',
    ],
    ['Log4j', ' ERROR [main] com.example.App - no', 'no', { thread: 'main' }, 'com.example.App'],
    ['Log4j without a thread', ' ERROR com.example.App - no', 'no', undefined, 'com.example.App'],
    ['Hadoop', ' INFO namenode.NameNode: ready', 'ready', undefined, 'namenode.NameNode'],
    [
      'ZooKeeper',
      ' [myid:1] - INFO  [main:Peer@136] - ready',
      'ready',
      { node: '1', thread: 'main' },
      'Peer',
    ],
    ['Kafka', ' INFO [Server id=0] up (kafka.Server)', '[Server id=0] up', { id: '0' }, 'kafka.Server'],
    ['Python', ' - app.db - WARNING - slow', 'slow', undefined, 'app.db'],
    ['gunicorn', ' +0000 [7] [INFO] Listening', 'Listening', { pid: 7 }],
    ['Neo4j', ' INFO  [o.n.Database] ready', 'ready', undefined, 'o.n.Database'],
    ['Consul', ' [INFO]  agent: ready: yes', 'ready: yes', undefined, 'agent'],
    ['a message that begins like a logger', ' [ERROR] failed: no disk', 'failed: no disk', undefined],
    ['a message with a dash', ' ERROR [main] Started - not', 'Started - not', { thread: 'main' }],
    ['a message with colons', ' ERROR task panicked: write', 'task panicked: write', undefined],
    [
      'a long context',
      ` [${'key=value '.repeat(30)}] WARN slow`,
      'slow',
      { prefix: `[${'key=value '.repeat(30)}]` },
    ],
    ['Loguru', ' | INFO     | app:main:7 - ready', 'ready', undefined, 'app'],
    ['Spring', '  INFO 1 --- [main] c.e.App : ready', 'ready', { pid: 1, thread: 'main' }, 'c.e.App'],
    [
      'Spring Boot 3',
      '  INFO 1 --- [shop] [  nio-8080-exec-1] [] c.e.App : ready',
      'ready',
      { pid: 1, app: 'shop', thread: 'nio-8080-exec-1' },
      'c.e.App',
    ],
    ['a level alone', ' INFO', '', undefined],
    ['a level with a colon', ' warning: slow', 'slow', undefined],
    ['a sentence', ' Error handling request', 'Error handling request', undefined],
    ['a level in a sentence', ' replica sent ERROR reply', 'replica sent ERROR reply', undefined],
    [
      'a level in brackets behind words',
      ' the state [ERROR] was left',
      'the state [ERROR] was left',
      undefined,
    ],
  ])('%s', async (_, line, message, context, tag?: string) => {
    const fields = await only(`${at}${line}\n`)
    expect(fields.message).toBe(message)
    expect(fields.context).toEqual(context)
    expect(fields.tags).toEqual(tag && [tag])
    expect(fields.level).toBeDefined()
  })
  test('a level before the time is none after it', async () => {
    const line = 'WARN  [main] 2026-11-15 02:10:00,123 Daemon.java:12 - warn: disk'
    expect((await only(line)).message).toBe('warn: disk')
    const syslog = '<34>1 2026-11-15T02:10:00Z db-4 - - - critical: disk'
    expect((await only(syslog)).message).toBe('db-4 - - - critical: disk')
  })
})

describe('fields', () => {
  test('LinDB, whole', async () => {
    const line =
      '2026-11-15 02:10:00.123\tINFO\tbroker/runtime.go:123\t[Broker] [Runtime]: started\t{"port":9000}'
    expect(await only(line, 'Europe/Berlin')).toEqual({
      time: '2026-11-15T02:10:00.123+01:00',
      level: 'info',
      source: { file: 'broker/runtime.go', line: 123 },
      tags: ['Broker', 'Runtime'],
      message: 'started',
      context: { port: 9000 },
    })
  })
  test.each([
    ['[Broker][Runtime]: m', ['Broker', 'Runtime'], 'm'],
    ['[ Broker] [Runtime]: m', ['Broker', 'Runtime'], 'm'],
    ['[Broker]:m', ['Broker'], 'm'],
    ['no tags: m', undefined, 'no tags: m'],
    ['[Broker] m', undefined, '[Broker] m'],
    ['[A]: tab\tin message', ['A'], 'tab\tin message'],
    ['[A]: tab\t{not json}', ['A'], 'tab\t{not json}'],
    ['[A]: \x1b[31mred\x1b[0m', ['A'], 'red'],
  ])('LinDB tags and messages: %j', async (text, tags, message) => {
    const line = `2026-11-15 02:10:00.123\tINFO\ta.go:1\t${text}`
    const fields = await only(line)
    expect(fields.tags).toEqual(tags)
    expect(fields.message).toBe(message)
    expect(fields.context).toBeUndefined()
  })
  test('LinDB with a tab in the message and a context', async () => {
    const line = '2026-11-15 02:10:00.123\tINFO\ta.go:1\t[A]: a\tb\t{"x":"y\\tz"}'
    expect(await only(line)).toMatchObject({ message: 'a\tb', context: { x: 'y\tz' } })
  })
  test('LinDB with the context at the end of a message of several lines, or before a stack trace', async () => {
    const head = '2026-11-15 02:10:00.123\tERROR\ta.go:1\t[A]: first'
    expect(await only(`${head}\nsecond\t{"x":1}\n`)).toMatchObject({
      message: 'first\nsecond',
      context: { x: 1 },
    })
    expect(await only(`${head}\t{"x":1}\nmain.go:3\n`)).toMatchObject({
      message: 'first\nmain.go:3',
      context: { x: 1 },
    })
  })
  test('LinDB without a source', async () => {
    const line = '2026-11-15 02:10:00.123\tINFO\tmessage only'
    const fields = await only(line)
    expect(fields).toEqual({ time: AT, level: 'info', message: 'message only' })
  })
  test('what does not parse has its raw text', async () => {
    // Before the first line that begins a record, a line is one by itself.
    const [first] = await shown(`slow query: 12ms\n${'2026-11-15 02:10:00.123\tINFO\tx\n'.repeat(3)}`)
    expect(first).toEqual({ message: 'slow query: 12ms', raw: 'slow query: 12ms' })
    expect(await only('\x1b[31mred\x1b[0m\r\n')).toEqual({ message: 'red', raw: '\x1b[31mred\x1b[0m' })
  })
  test('JSON: the rest is the context, callers and loggers have their places', async () => {
    const line =
      '{"level":"info","ts":1794708600.123,"logger":"raft","caller":"a/b.go:12","msg":"hi","n":1,"o":{"p":[2]}}'
    expect(await only(line)).toEqual({
      time: AT,
      level: 'info',
      source: { file: 'a/b.go', line: 12 },
      tags: ['raft'],
      message: 'hi',
      context: { n: 1, o: { p: [2] } },
    })
  })
  test('logfmt: quotes and escapes', async () => {
    const line =
      'time=2026-11-15T02:10:00.123Z level=info msg="a \\"b\\"\\n=c" caller=x.go:7 logger=raft n=1 flag'
    expect(await only(line)).toEqual({
      time: AT,
      level: 'info',
      source: { file: 'x.go', line: 7 },
      tags: ['raft'],
      message: 'a "b"\n=c',
      context: { n: '1', flag: '' },
    })
  })
  test('CockroachDB: lines that continue repeat the header', async () => {
    const head = 'I261115 02:10:00.123456 123 1@cli/start.go:690 ⋮ [n1] 40'
    const marks = ['+', '=', '|', '!'].map((mark) => `${head} ${mark}more\n`).join('')
    expect(await shown(`${head} node starting\n${marks}${head} done\n`)).toHaveLength(2)
    expect(await only(`${head} node starting\n${head} +build: x\n`)).toEqual({
      time: MICRO,
      level: 'info',
      source: { file: 'cli/start.go', line: 690 },
      tags: ['n1'],
      message: 'node starting\nbuild: x',
      context: { thread: '123', counter: 40 },
    })
  })
})

describe('days without a year', () => {
  test.each([
    ['I1115 12:00:00.000000 1 a.go:1] x', '2026-11-15T12:00:00.000Z'],
    ['I1116 11:00:00.000000 1 a.go:1] x', '2026-11-16T11:00:00.000Z'],
    ['I1117 13:00:00.000000 1 a.go:1] x', '2025-11-17T13:00:00.000Z'],
    ['I1231 23:59:59.000000 1 a.go:1] x', '2025-12-31T23:59:59.000Z'],
    ['I0101 00:00:00.000000 1 a.go:1] x', '2026-01-01T00:00:00.000Z'],
    ['I0229 00:00:00.000000 1 a.go:1] x', '2024-02-29T00:00:00.000Z'],
  ])('%s', async (line, expected) => {
    expect((await only(`${line}\n`)).time).toBe(expected)
  })
})

describe('which format a log has', () => {
  const line = '2026-11-15 02:10:00.123\tINFO\ta.go:1\t[A]: x\n'
  test('stack traces, deviating lines and CRLF do not hide it', async () => {
    const marked = { time: AT, level: 'info', tags: ['A'], source: { file: 'a.go', line: 1 } }
    for (const [text, count] of [
      [`${line}${'  at x\n'.repeat(40)}`, 1],
      [line.replace('\n', '\r\n').repeat(3), 3],
      [`\ufeff${line}`, 1],
    ] as const) {
      const records = await shown(text)
      expect(records).toHaveLength(count)
      for (const record of records) expect(record).toMatchObject(marked)
    }
  })
  test.each([
    '',
    '\n\n\n',
    'hello\nworld\n',
    '\u0000\u0001\u0002',
    '12345\n67890\n',
    'error\nwarning\n',
    // A coincidence in a thousand lines is none.
    `${'words and words\n'.repeat(400)}2026-11-15 02:10:00 INFO x\n`,
  ])('%j is plain: each line is a record, and there is nothing to filter by', async (text) => {
    const records = await shown(text)
    expect(records).toHaveLength((text.match(/[^\n]*\n|[^\n]+$/g) ?? []).length)
    for (const record of records) expect([record.time, record.level]).toEqual([undefined, undefined])
    const filtered = await nodeWith(text).request('/api/v1/log/view?file=a.log&level=error')
    expect(filtered.status).toBe(text === '' ? 200 : 400)
  })
  test('no bytes are too strange for any format: every line is in some record', async () => {
    const samples = FIXTURES.map((fixture) => linesOf(fixture).slice(0, 300))
    const changes = fc.array(fc.tuple(fc.nat(300), fc.nat(255)), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...samples), changes, fc.uint8Array(), async (sample, edits, junk) => {
        const text = new TextEncoder().encode(`${sample}\n`)
        for (const [at, value] of edits) if (at < text.length) text[at] = value
        const all = Buffer.concat([text, junk, new TextEncoder().encode(`\n${sample}`)])
        if (all[0] === 0x1f || all[0] === 0x28 || all[0] === 0x50) return
        for (const { message } of await shown(all)) expect(typeof message).toBe('string')
        const answer = await nodeWith(all).request('/api/v1/log/view?file=a.log')
        expect(Buffer.from(await answer.arrayBuffer())).toEqual(all)
      }),
      { numRuns: 200 },
    )
  })
})

test('words for levels', async () => {
  const WORDS = {
    debug: ['TRACE', 'debug'],
    info: ['Notice', 'INFO'],
    warn: ['WARNING', 'wrn'],
    error: ['ERR', 'Severe'],
    fatal: ['CRITICAL', 'panic', 'DPANIC', 'emerg', 'ALERT'],
  }
  const words = Object.entries(WORDS).flatMap(([level, all]) => all.map((word) => [level, word] as const))
  const line = ([, word]: readonly [string, string]) =>
    `${JSON.stringify({ time: AT, level: word, msg: word })}\n`
  const records = await shown(line(['info', 'info']).repeat(9) + words.map(line).join(''))
  expect(records.slice(9).map(({ level, message }) => [level, message])).toEqual(words)
})
