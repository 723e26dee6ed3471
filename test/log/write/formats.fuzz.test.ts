import fc from 'fast-check'
import { expect, test } from 'vitest'
import { detectFormat } from '../../../src/log/format/detect.ts'
import { agrees, MESSAGES, often, REFERENCE } from './agree.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

const LEVELS = [
  'INFO',
  'WARN',
  'ERROR',
  'DEBUG',
  'info',
  'Warning',
  'Note',
  'System',
  'FOO',
  'LOG',
  'FATAL',
  '',
]
const STAMPS = [
  '2026-11-15 02:10:00.123',
  '2026-11-15 02:10:59,999',
  '2026-11-15T02:11:07.001234Z',
  '2026-11-15T02:11:07.9999996+01:00',
  '2026-11-15 02:10:00 UTC',
  '2026-11-15 02:10:00.123 CET',
  '2026-10-25 02:30:00',
  '2026-03-29 02:30:59.999',
  '2026-11-15 02:10:60',
  '2026-02-30 00:00:00',
  '1850-01-01 00:00:00',
  'Nov 15 02:10:00',
  'Nov  5 02:10:00.5',
  'Feb 29 00:00:00',
  '[2026-11-15 02:10:00,123]',
  '<34>Nov 15 02:10:00',
  '<34>1 2026-11-15T02:10:00Z',
  '1234:M 15 Nov 2026 02:10:00.123',
  'INFO  [main] 2026-11-15 02:10:00,123',
]
const HEADS = [
  '%L  [worker-1] org.example.Executor - ',
  '[main] %L  com.example.App - ',
  '%L  com.example.App - ',
  '%L [7] ',
  '[7] %L ',
  '17 [%L] [MY-010116] [Server] ',
  '17 [%L] ',
  '007 [%L] ',
  '[ 77 ] {q-1} <%L> executeQuery: ',
  '[%L] 13#13: *1 ',
  '%L 1 --- [app] [           main] c.e.App                : ',
  '[myid:1] - %L  [main:QuorumPeerConfig@136] - ',
  '[%L ][o.e.n.Node               ] [node-1] ',
  '[%L] [main.go:012] ["x"] ',
  '[%L] [main.go:12] ["x"] ',
  '| %L     | app.main:run:7 - ',
  '- app.db - %L - ',
  '%L:app.db:',
  'app.db %L ',
  'db-4 broker[12]: ',
  'db-4 broker[12]: %L ',
  'db-4 kernel: ',
  'db-4 postgres 12 - - ',
  'db-4 postgres 12 ID [a b="c"] ',
  '* ',
  '# ',
  'CassandraDaemon.java:650 - ',
  '[1234] %L ',
  '%L ',
  '%L: ',
  ': ',
  '',
  '12 some text [x] %L - ',
  '[1000] app@shop %L:  ',
  '[1000]: [3-1] user=app,db=shop,app=my app,client=10.0.0.7 %L:  ',
  'duration=3 %L:  ',
  '10.0.0.7(5123) [unknown]@[unknown] %L:  ',
  '%L:  ',
]
const text = (parts: readonly string[]) => often(...parts)
const stamped = fc
  .tuple(text(STAMPS), text(HEADS), text(LEVELS), text(MESSAGES))
  .map(([stamp, head, level, message]) => `${stamp} ${head.replace('%L', level)}${message}`)

const VALUES = [
  '"x"',
  '""',
  '"a \\"b\\" \\\\ \\n"',
  '"\\u00e9"',
  '"\\/"',
  '"é"',
  '1',
  '-1',
  '0',
  '-0',
  '1.5',
  '1.50',
  '1e3',
  '0.0000001',
  '0.000001',
  '123456789012345',
  '1234567890123456',
  '12345678901.123456',
  '01',
  'true',
  'false',
  'null',
  'tru',
  '{}',
  '[]',
  '{"a":1, "b":[1.0]}',
  '[ 1 ]',
  '{"2":1,"1":2}',
  '"a.go:12"',
  '"a.go:012"',
  '"a:b\\n:3"',
  '"C:\\\\a.go:7"',
  '"2026-11-15T02:10:00Z"',
  '1794708600123',
  '1794708600.5',
  '"info"',
  '"nope"',
  '30',
  '50',
  '{"level":"warn"}',
  '{"level":"warn","logger":"a.b"}',
  '{"x":1,"level":"nope","logger":7,"origin":{"file":"a.go"}}',
  '{"message":"inner","level":50,"msg":[104,105]}',
  '{"stringValue":"inner","name":"scope"}',
  '{"level":"error","level":"info"}',
  '{"SourceContext":"Shop.Cart", "message":""}',
  '{"1":2,"level":"info"}',
  '{ }',
  '"-"',
  'x',
]
const KEYS = [
  'level',
  'ts',
  'time',
  'msg',
  'message',
  'logger',
  'caller',
  'source',
  'ms',
  'node',
  'name',
  'severity',
  'log',
  'log.level',
  'jsonPayload',
  'fields',
  'body',
  'scope',
  'Properties',
  'a b',
  '1',
  '__proto__',
  'é',
  'x"y',
  '@mt',
  '@t',
  'component',
  'status',
  'event',
  'constructor',
  't',
  'C',
  'N',
]
const json = fc
  .tuple(
    fc.boolean(),
    fc.array(fc.tuple(text(KEYS), text(VALUES)), { maxLength: 6 }),
    text(['', '', '', ' ', '\t']),
    text(['', '', '', ' ', '\r', 'x', ',']),
  )
  .map(([usual, members, space, after]) => {
    const head = usual ? ['"level":"info"', '"ts":"2026-11-15T02:10:00.123Z"', '"msg":"hello \\"you\\""'] : []
    const more = members.map(([key, value]) => `"${key}":${space}${value}`)
    return `{${[...head, ...more].join(`,${space}`)}}${after}`
  })
const logfmt = fc
  .tuple(
    fc.boolean(),
    fc.array(
      fc.tuple(
        text(KEYS),
        text([...VALUES, 'bare', 'a=b', 'a"b', '', 'x\\y', '"un closed', '"tab\t"', 'a.go:7']),
      ),
      {
        maxLength: 7,
      },
    ),
    text([' ', ' ', ' ', '  ']),
    text(['', '', ' ', ' word', ' =']),
  )
  .map(([usual, pairs, space, after]) => {
    const head = usual ? ['ts=2026-11-15T02:10:00.123Z', 'level=info', 'msg="hello \\"you\\""'] : []
    return [...head, ...pairs.map(([key, value]) => `${key}=${value}`)].join(space) + after
  })

const access = fc
  .tuple(
    text([
      '10.0.0.1',
      '::1',
      '[::1]:80',
      'host.example',
      '10.0.0.1:5',
      'www.example.org:443 10.0.0.1',
      '-',
      'a  b',
      'a\tb',
    ]),
    text(['- -', '- frank', '- John Doe', 'id user', '-  -', '-']),
    text([
      '15/Nov/2026:03:10:00 +0100',
      '15/Nov/2026:03:10:60 +0000',
      '31/Feb/2026:03:10:00 +0000',
      '15/nov/2026:03:10:00 +0000',
      '15/Xxx/2026:03:10:00 +0000',
      '1a/Nov/2026:03:10:00 +0000',
      '15/Nov/2026:03:10:00.5',
      '15/Nov/2026:03:10:00',
      '15/Nov/2026:03:10:00 -0730',
    ]),
    text([
      'GET /a HTTP/1.1',
      'GET /a?x=1&y=2 HTTP/2.0',
      'GET /?- HTTP/1.1',
      'GET /a? HTTP/1.0',
      'GET /a b HTTP/1.1',
      'OPTIONS * HTTP/1.1',
      'GET http://h/x?y HTTP/1.1',
      '-',
      '',
      'G / HTTP/1.1',
      'GET /a',
      'GET /a HTTP/2',
      'M-SEARCH /x HTTP/1.1',
      'GET /"x HTTP/1.1',
      'GET /\\"x HTTP/1.1',
      ' GET / HTTP/1.1',
      'GET / rt=0.5 HTTP/1.1',
      '\\x16\\x03',
      'GET /é HTTP/1.1',
      'GET ?a HTTP/1.1',
      'get / HTTP/1.1',
    ]),
    text([
      '200 1234',
      '404 -',
      '503 0',
      '099 1',
      '200 01',
      '- 5',
      '200',
      '2000 1',
      '200 1234567890123456',
      '200 5x',
    ]),
    text([
      '',
      ' "-" "Mozilla/5.0 (X11)"',
      ' "http://h:80/" "curl/7.1"',
      ' "" ""',
      ' "1.5" "x"',
      ' "-" "0.25"',
      ' "-" "x" 0.123',
      ' "-" "x" 77',
      ' "-" "x" "10.0.0.2:80"',
      ' "h.example:80" "x"',
      ' "unix:/s" "x"',
      ' "[::1]:80" "x"',
      ' "localhost:80" "x"',
      ' "a=h.x:8" "x"',
      ' "[unknown]" "[unknown]"',
      ' " x" "y "',
      ' "a\\"b" "c"',
      ' "-" "k=v q=1"',
      ' "-" "a rt=0.5"',
      ' "-"',
      ' x',
      ' ',
      ' 12 "r" "a"',
      ' "r" "a" ',
      ' "a, k=v" "b"',
    ]),
  )
  .map(
    ([client, user, time, request, status, more]) =>
      `${client} ${user} [${time}] "${request}" ${status}${more}`,
  )

const FORMATS: [name: string, sample: string, line: fc.Arbitrary<string>][] = [
  ['stamped', '2026-11-15 02:10:00.123 INFO  [main] org.example.App - started', stamped],
  ['syslog', 'Nov 15 02:10:00 db-4 broker[12]: started', stamped],
  ['postgresql', '2026-11-15 02:10:00.123 UTC [12] app@shop LOG:  started', stamped],
  ['mysql', '2026-11-15T02:10:00.123456Z 0 [System] [MY-010116] [Server] started', stamped],
  ['json', '{"level":"info","ts":"2026-11-15T02:10:00.123Z","msg":"started"}', json],
  ['logfmt', 'ts=2026-11-15T02:10:00.123Z level=info msg=started', logfmt],
  ['access', '10.0.0.1 - - [15/Nov/2026:03:10:00 +0100] "GET /a HTTP/1.1" 200 12 "-" "x"', access],
]
const WRAPPERS: [name: string, wrap: (line: string) => string][] = [
  ['plain', (line) => line],
  ['cri', (line) => `2026-11-15T02:10:00.123456789Z stdout F ${line}`],
  [
    'docker',
    (line) =>
      `{"log":${JSON.stringify(`${line}\n`)},"stream":"stdout","time":"2026-11-15T02:10:00.123456789Z"}`,
  ],
]
for (const [name, sample, own] of FORMATS)
  for (const [wrapper, wrap] of WRAPPERS)
    test(`property: ${name}, ${wrapper}: bytes to bytes as by way of fields, whatever the bytes`, () => {
      const format = detectFormat(bytes(`${wrap(sample)}\n${wrap(sample)}`), undefined, {
        reference: REFERENCE,
      })
      expect(format.plan).toBeDefined()
      agrees({ format, line: own, wrap }, 300)
    })
