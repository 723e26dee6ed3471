import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { detectFormat, LEVELS, type LineFormat, PLAIN, parseLevel } from '../../../src/log/format/detect.ts'
import { parseZone, UTC } from '../../../src/log/time.ts'
import { FIXTURES, linesOf } from './fixtures.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const REFERENCE = Date.UTC(2026, 10, 15, 12)
const detect = (text: string) => detectFormat(bytes(text), undefined, { reference: REFERENCE })

function time(format: LineFormat, line: string, zone = UTC): string | null {
  const all = bytes(line)
  const epoch = format.time(all, 0, all.length, zone)
  return Number.isNaN(epoch) ? null : zone.format(epoch)
}
const level = (format: LineFormat, line: string) =>
  LEVELS[format.level(bytes(line), 0, bytes(line).length)] ?? null

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
])('%s', (_name, line, name, when, word, message) => {
  const format = detect(`${line}\n`)
  test('is found, and tells time and level', () => {
    expect(format.name).toBe(name)
    expect(format.timed).toBe(true)
    if (name !== 'lindb') expect(format.leveled).toBe(word !== null)
    expect(time(format, line)).toBe(when)
    expect(level(format, line)).toBe(word)
  })
  test('is taken apart', () => {
    const fields = format.fields(`${line}\r\n  at stack (a.js:1)\r\n`, UTC)
    expect(fields.time).toBe(when)
    expect(fields.level).toBe(word ?? undefined)
    expect(fields.message).toBe(`${message}\n  at stack (a.js:1)`)
    expect(fields.raw).toBeUndefined()
  })
  test('with a CR it is the same, and a stack trace is a continuation', () => {
    expect(time(format, `${line}\r`)).toBe(when)
    expect(level(format, `${line}\r`)).toBe(word)
    for (const other of [
      '  at stack (a.js:1)',
      'Caused by: java.lang.Error: x',
      'goroutine 1 [running]:',
      '',
      '\r',
      '\t',
    ])
      expect(format.starts(bytes(other), 0, bytes(other).length), other).toBe(false)
  })
})

describe('the level behind', () => {
  const levelOf = (line: string) => {
    const text = bytes(`2026-11-15 02:10:00.123 ${line}`)
    return LEVELS[stamped.level(text, 0, text.length)] ?? null
  }
  const stamped = detect('2026-11-15 02:10:00.123 INFO hi\n')
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
  ])('%s', (_, line, level) => expect(levelOf(line)).toBe(level))
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
  ])('%s', (_, line, message, context, tag?: string) => {
    const fields = detect(`${at}${line}\n`).fields(`${at}${line}\n`, UTC)
    expect(fields.message).toBe(message)
    expect(fields.context).toEqual(context)
    expect(fields.tags).toEqual(tag && [tag])
    expect(fields.level).toBeDefined()
  })
  test('a level before the time is none after it', () => {
    const line = 'WARN  [main] 2026-11-15 02:10:00,123 Daemon.java:12 - warn: disk'
    expect(detect(line).fields(line, UTC).message).toBe('warn: disk')
    const syslog = '<34>1 2026-11-15T02:10:00Z db-4 - - - critical: disk'
    expect(detect(syslog).fields(syslog, UTC).message).toBe('db-4 - - - critical: disk')
  })
})

describe('fields', () => {
  test('LinDB, whole', () => {
    const line =
      '2026-11-15 02:10:00.123\tINFO\tbroker/runtime.go:123\t[Broker] [Runtime]: started\t{"port":9000}'
    expect(detect(line).fields(`${line}\n`, parseZone('Europe/Berlin')!)).toEqual({
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
  ])('LinDB tags and messages: %j', (text, tags, message) => {
    const line = `2026-11-15 02:10:00.123\tINFO\ta.go:1\t${text}`
    const fields = detect(line).fields(line, UTC)
    expect(fields.tags).toEqual(tags)
    expect(fields.message).toBe(message)
    expect(fields.context).toBeUndefined()
  })
  test('LinDB with a tab in the message and a context', () => {
    const line = '2026-11-15 02:10:00.123\tINFO\ta.go:1\t[A]: a\tb\t{"x":"y\\tz"}'
    expect(detect(line).fields(line, UTC)).toMatchObject({ message: 'a\tb', context: { x: 'y\tz' } })
  })
  test('LinDB with the context at the end of a message of several lines, or before a stack trace', () => {
    const head = '2026-11-15 02:10:00.123\tERROR\ta.go:1\t[A]: first'
    const format = detect(head)
    expect(format.fields(`${head}\nsecond\t{"x":1}\n`, UTC)).toMatchObject({
      message: 'first\nsecond',
      context: { x: 1 },
    })
    expect(format.fields(`${head}\t{"x":1}\nmain.go:3\n`, UTC)).toMatchObject({
      message: 'first\nmain.go:3',
      context: { x: 1 },
    })
  })
  test('LinDB without a source', () => {
    const line = '2026-11-15 02:10:00.123\tINFO\tmessage only'
    const fields = detect(line).fields(line, UTC)
    expect(fields).toEqual({ time: AT, level: 'info', message: 'message only' })
  })
  test('what does not parse has its raw text', () => {
    const format = detect('2026-11-15 02:10:00.123\tINFO\tx')
    expect(format.fields('slow query: 12ms\n', UTC)).toEqual({
      message: 'slow query: 12ms',
      raw: 'slow query: 12ms',
    })
    expect(PLAIN.fields('\x1b[31mred\x1b[0m\r\n', UTC)).toEqual({ message: 'red', raw: '\x1b[31mred\x1b[0m' })
  })
  test('JSON: the rest is the context, callers and loggers have their places', () => {
    const line =
      '{"level":"info","ts":1794708600.123,"logger":"raft","caller":"a/b.go:12","msg":"hi","n":1,"o":{"p":[2]}}'
    expect(detect(line).fields(line, UTC)).toEqual({
      time: AT,
      level: 'info',
      source: { file: 'a/b.go', line: 12 },
      tags: ['raft'],
      message: 'hi',
      context: { n: 1, o: { p: [2] } },
    })
  })
  test('logfmt: quotes and escapes', () => {
    const line =
      'time=2026-11-15T02:10:00.123Z level=info msg="a \\"b\\"\\n=c" caller=x.go:7 logger=raft n=1 flag'
    expect(detect(line).fields(line, UTC)).toEqual({
      time: AT,
      level: 'info',
      source: { file: 'x.go', line: 7 },
      tags: ['raft'],
      message: 'a "b"\n=c',
      context: { n: '1', flag: '' },
    })
  })
  test('CockroachDB: lines that continue repeat the header', () => {
    const head = 'I261115 02:10:00.123456 123 1@cli/start.go:690 ⋮ [n1] 40'
    const format = detect(`${head} node starting\n${head} +build: x\n${head} |{"a":1}\n`)
    for (const mark of ['+', '=', '|', '!']) {
      const line = `${head} ${mark}more`
      expect(format.starts(bytes(line), 0, bytes(line).length)).toBe(false)
    }
    expect(format.fields(`${head} node starting\n${head} +build: x\n`, UTC)).toEqual({
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
    ['I0230 00:00:00.000000 1 a.go:1] x', null],
  ])('%s', (line, expected) => {
    expect(time(detect('I1115 02:10:00.000000 1 a.go:1] x'), line)).toBe(expected)
  })
})

describe('detectFormat', () => {
  const line = '2026-11-15 02:10:00.123\tINFO\ta.go:1\t[A]: x\n'
  test('stack traces, deviating lines and CRLF do not hide the format', () => {
    expect(detect(`${line}${'  at x\n'.repeat(40)}`).name).toBe('lindb')
    expect(detect(`${line}${line.replaceAll('\t', ' ')}`).name).toBe('lindb')
    expect(detect(line.replace('\n', '\r\n').repeat(3)).name).toBe('lindb')
    expect(detect(`\ufeff${line}`).name).toBe('lindb')
  })
  test('the tail counts too, and may begin inside a line', () => {
    const tail = `cut off line\n${line.repeat(5)}`
    expect(detectFormat(bytes('banner\nof a program\n'), bytes(tail)).name).toBe('lindb')
  })
  test.each([
    'hello\nworld\n',
    'a = 1\nb = 2\n',
    '{"a":1}\n{"b":2}\n',
    '{\n  "a": 1\n}\n',
    'total 12\n-rw-r--r-- 1 root root 5 Nov 15 02:10 x\n',
    '\u0000\u0001\u0002',
    '12345\n67890\n',
    'error\nwarning\n',
  ])('%j is plain', (text) => {
    expect(detect(text)).toBe(PLAIN)
  })
  test('a coincidence in a thousand lines is none', () => {
    expect(detect(`${'words and words\n'.repeat(400)}2026-11-15 02:10:00 INFO x\n`)).toBe(PLAIN)
  })
  test('property: no bytes make any format throw, and what starts a record has fields', () => {
    const samples = FIXTURES.map(linesOf)
    const formats = [
      ...samples,
      line,
      '{"level":"info","ts":1,"msg":"x"}',
      'I1115 02:10:00.123456 1 a.go:1] x',
      'time=2026-11-15T02:10:00Z level=info msg=x',
      '2026-11-15 02:10:00 INFO x',
    ].map(detect)
    const seeds = [...formats.keys()].map((i) =>
      bytes(
        [
          ...samples.map((sample) => sample.slice(0, 300)),
          line,
          '{"level":"info","ts":1.5,"msg":"x","t":{"$date":"x"}}',
          'I261115 02:10:00.123456 1 1@a.go:1 ⋮ [n1] 4 +x',
          'level=info time="2026',
          '<34>1 2026-11-15T02:10:00.5+02:00 [x] ERROR y',
        ][i]!,
      ),
    )
    const mutated = fc
      .tuple(
        fc.constantFrom(...seeds),
        fc.array(fc.tuple(fc.nat(80), fc.nat(255)), { maxLength: 4 }),
        fc.nat(80),
      )
      .map(([seed, changes, cut]) => {
        const copy = seed.slice(0, Math.max(1, cut))
        for (const [at, value] of changes) if (at < copy.length) copy[at] = value
        return copy
      })
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 100 }), mutated), (input) => {
        for (const format of [...formats, PLAIN]) {
          const starts = format.starts(input, 0, input.length)
          const epoch = format.time(input, 0, input.length, UTC)
          const found = format.level(input, 0, input.length)
          expect(found).toBeGreaterThanOrEqual(-1)
          expect(found).toBeLessThan(5)
          // CockroachDB repeats the header, and so the time, on lines that continue.
          if (!starts && !/glog/.test(format.name)) expect(epoch, format.name).toBeNaN()
          const fields = format.fields(new TextDecoder().decode(input), UTC)
          expect(typeof fields.message).toBe('string')
        }
        detectFormat(input, input)
      }),
      { numRuns: 1000 },
    )
  })
})

test('no line takes more than linear time', () => {
  const heads = [
    ...FIXTURES.map((fixture) => linesOf(fixture).split('\n').at(-2)!),
    '2026-11-15 02:10:00.123\tINFO\ta.go:1\t[A]: x',
    '{"level":"info","ts":1,"msg":"x"}',
    'I1115 02:10:00.123456 1 a.go:1] x',
    'time=2026-11-15T02:10:00Z level=info msg=x',
    '2026-11-15 02:10:00 INFO x',
  ]
  for (const head of heads) {
    const format = detect(head)
    for (const part of [
      '@',
      ' ',
      '- ',
      '[',
      '[a] ',
      '"',
      'a=',
      '\x1b[',
      '\\',
      '\t',
      ':',
      '1:',
      '\t{',
      '{"a":',
      '\r',
    ])
      for (const start of [head, head.slice(0, 24), head.slice(0, 19)]) {
        const line = start + part.repeat(20_000)
        const all = bytes(line)
        // A pattern that goes back and forth would take minutes here, and the runner's limit ends it.
        const read = [format.starts(all, 0, all.length), format.time(all, 0, all.length, UTC)]
        const level = format.level(all, 0, all.length)
        const { message } = format.fields(line, UTC)
        expect([...read.map((value) => typeof value), typeof level, typeof message]).toEqual([
          'boolean',
          'number',
          'number',
          'string',
        ])
      }
  }
})

test('parseLevel', () => {
  expect(
    [
      'TRACE',
      'debug',
      'Notice',
      'INFO',
      'WARNING',
      'wrn',
      'ERR',
      'Severe',
      'CRITICAL',
      'panic',
      'DPANIC',
      'emerg',
      'ALERT',
    ].map(parseLevel),
  ).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 4])
  expect(['', 'i', 'x', 'constructor', '__proto__', '3'].map(parseLevel)).toEqual([
    null,
    null,
    null,
    null,
    null,
    null,
  ])
})
